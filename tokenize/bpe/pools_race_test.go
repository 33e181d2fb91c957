//go:build race

package bpe

// Under the race detector sync.Pool forgets at random, so that allocations cannot be counted.
const poolsForget = true
