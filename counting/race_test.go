//go:build race

package counting

const raced = true
