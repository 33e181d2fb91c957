package overflow

import "regexp"

// Thinking is what is wrong with the thinking in a history.
type Thinking int

const (
	ThinkingAccepted Thinking = iota // nothing, as far as an answer says
	ThinkingMisbound                 // some was written for another history
	ThinkingMissing                  // some is missing
)

// thinking matches the sentences by which a history is refused for its thinking.
var thinking = []struct {
	is    Thinking
	match func() *regexp.Regexp
}{
	{ThinkingMisbound, expression("(?i)bound to a different conversation|invalid [`'\"]?signature[`'\"]? in [`'\"]?thinking[`'\"]? block")},
	{ThinkingMissing, expression("(?i)expected [`'\"]?thinking[`'\"]? or [`'\"]?redacted_thinking|must start with a thinking block")},
}

// Thinking returns what the answer says is wrong with the thinking in the history.
func (s Said) Thinking() Thinking {
	for _, row := range thinking {
		for i := range s.sentences {
			if row.match().MatchString(s.sentences[i].text) {
				return row.is
			}
		}
	}
	return ThinkingAccepted
}
