//go:build !race

package bpe

const poolsForget = false
