package record

import (
	"slices"

	"laconic/compact"
)

// Conversation is one recorded conversation.
type Conversation struct {
	// ID is the recorded name, or the file and line.
	ID string
	// File is the name of the file, as the caller gave it.
	File string
	// Model is the name of the model, or "".
	Model string
	// Messages are all messages, the answers included.
	Messages []compact.Message
	// Tools, Functions and Format are the raw JSON of these fields; nil where
	// absent.
	Tools, Functions, Format []byte
	// Rules are what the API of the recording demands of a list.
	Rules compact.Rules
	// Sent are the lengths of requests that were recorded as such, in the order
	// in which they were sent.
	Sent []int
}

// RequestPoints returns the lengths of all requests of a conversation, ascending:
// the prefixes that end after a whole round and before an assistant message, the
// requests recorded as such, and the whole list if it waits for an answer.
func (r *Conversation) RequestPoints() []int {
	msgs := r.Messages
	points := slices.Clone(r.Sent)
	for k := 1; k < len(msgs); k++ {
		calling := msgs[k-1].Role == compact.Assistant && len(msgs[k-1].Calls) > 0
		if msgs[k].Role == compact.Assistant && !calling && !msgs[k].Joined && !msgs[k].Empty() {
			points = append(points, k)
		}
	}
	if n := len(msgs); n > 0 && msgs[n-1].Role != compact.Assistant {
		points = append(points, n)
	}
	slices.Sort(points)
	return slices.Compact(points)
}
