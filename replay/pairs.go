package replay

import (
	"slices"

	"laconic/compact"
	"laconic/compact/history"
)

// legalPairs reports whether a strict upstream takes the pairs of a request:
// every call is answered exactly once, directly after its message, and every
// result answers one of the calls directly before it. The check is that of
// package history, which shares nothing with the repair.
func legalPairs(msgs []compact.Message) bool {
	_, err := history.ExchangesStrict(msgs)
	return err == nil && !slices.ContainsFunc(msgs, func(m compact.Message) bool { return m.EmptyCalls }) // OpenAI refuses "tool_calls": []
}
