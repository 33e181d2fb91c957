package overflow

import (
	"regexp"
	"slices"
)

// Thinking is what is wrong with the thinking in a history.
type Thinking int

const (
	ThinkingAccepted Thinking = iota // nothing, as far as an answer says
	ThinkingMisbound                 // some was written for another history
	ThinkingMissing                  // some is missing
)

// Thinking returns what the answer says is wrong with the thinking in the history.
func (s Said) Thinking() Thinking {
	switch {
	case s.oneOf(thinkingMisbound):
		return ThinkingMisbound
	case s.oneOf(thinkingMissing):
		return ThinkingMissing
	}
	return ThinkingAccepted
}

// thinkingMisbound matches the sentences by which thinking is refused that was
// written for another history.
var thinkingMisbound = expression(
	`(?i)(?:bound to a different conversation|` +
		"invalid [`'\"]?signature[`'\"]? in [`'\"]?thinking[`'\"]? block)",
)

// thinkingMissing matches the sentences by which a history is refused that lacks
// thinking.
var thinkingMissing = expression(
	"(?i)(?:expected [`'\"]?thinking[`'\"]? or [`'\"]?redacted_thinking|" +
		"must start with a thinking block)",
)

// oneOf reports whether the answer is an error with a sentence that an expression
// matches.
func (s Said) oneOf(expr func() *regexp.Regexp) bool {
	return s.ofHistory() && slices.ContainsFunc(s.sentences, func(said sentence) bool { return expr().MatchString(said.text) })
}

// ofHistory reports whether the answer has a status that refuses a history.
func (s Said) ofHistory() bool {
	switch s.status {
	case 200, 400, 422, 500:
		return true
	}
	return false
}
