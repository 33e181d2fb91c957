//go:build !race

package counting

const raced = false
