//go:build !race

package tokenize

const poolsForget = false
