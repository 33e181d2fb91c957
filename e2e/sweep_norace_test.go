//go:build !race

package e2e

// raced tells that the race detector slows everything down some tenfold.
const raced = false
