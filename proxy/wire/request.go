package wire

import (
	"math"

	"laconic/compact"
)

// MaxElements is how many messages, parts and calls a body may have together.
// Decoded, each takes about 200 bytes of memory however few it has in the
// body, so this bounds what a small body can cost to 50 MB. OpenAI takes 2,048
// messages, Anthropic 100,000.
const MaxElements = 250_000

// Request is one decoded body.
type Request struct {
	// Body is the client's bytes. They must not change any more: texts of the
	// conversation, and the raw fields below, are views into them.
	Body []byte
	// Model is the model's name; "" when missing or not a string. It is a copy
	// and may outlive the body.
	Model string
	// Stream tells whether the client asked for a stream.
	Stream bool
	// Conversation is what was read. Its messages must not be written to,
	// because Encode compares with them. Fixed is 0: who has a counter fills
	// it.
	Conversation compact.Conversation
	// MaxTokens is the longest answer that the client asked for, in tokens:
	// the larger of max_completion_tokens and max_tokens, at most
	// math.MaxInt32; 0 when neither is given as a whole number.
	MaxTokens int
	// Tools, Functions and ResponseFormat are the raw JSON of these fields;
	// nil when absent or null.
	Tools, Functions, ResponseFormat []byte

	messages span // the array, brackets included
	marks    []messageMark
	parts    []partMark // of all messages, in order
	calls    []callMark // of all messages, in order
	thoughts []span     // the members with bound thinking, key included, of all messages, in order
}

// messageMark says where the pieces of one message stand in the body.
type messageMark struct {
	whole    span
	content  span // the value
	toolCall span // the member tool_calls, key included
	legacy   span // the member function_call, key included
	answers  span // the value of tool_call_id
	name     span // the value of name

	firstPart, firstCall, firstThought uint32 // index in Request.parts, calls and thoughts
}

// partMark says where a part stands.
type partMark struct {
	whole span
	text  span // the string that holds the part's text, quotes included
}

// callMark says where a call stands: an element of tool_calls, or the value of
// function_call.
type callMark struct {
	whole     span
	id        span // the value
	arguments span // the value: a string, or what stood in its place
}

// partsOf gives the marks of a message's parts.
func (r *Request) partsOf(i int) []partMark {
	end := uint32(len(r.parts))
	if i+1 < len(r.marks) {
		end = r.marks[i+1].firstPart
	}
	return r.parts[r.marks[i].firstPart:end]
}

// callsOf gives the marks of a message's calls.
func (r *Request) callsOf(i int) []callMark {
	end := uint32(len(r.calls))
	if i+1 < len(r.marks) {
		end = r.marks[i+1].firstCall
	}
	return r.calls[r.marks[i].firstCall:end]
}

// thoughtsOf gives the members that hold a message's bound thinking.
func (r *Request) thoughtsOf(i int) []span {
	end := uint32(len(r.thoughts))
	if i+1 < len(r.marks) {
		end = r.marks[i+1].firstThought
	}
	return r.thoughts[r.marks[i].firstThought:end]
}

// attach gives every message its parts and calls, out of two slices that all
// share. No message can grow into its neighbour's.
func (r *Request) attach(parts []compact.Part, calls []compact.Call) {
	p, c := len(parts), len(calls)
	for i := len(r.marks) - 1; i >= 0; i-- {
		m, k := &r.Conversation.Messages[i], &r.marks[i]
		if from := int(k.firstPart); from < p {
			m.Parts = parts[from:p:p]
			p = from
		}
		if from := int(k.firstCall); from < c {
			m.Calls = calls[from:c:c]
			c = from
		}
	}
}

// roomier is s with space for one more. How much more follows from how far in
// the body its elements reach, so that a long list takes a few allocations and
// little more than it needs.
func roomier[T any](s []T, at, end int) []T {
	if len(s) < cap(s) {
		return s
	}
	expected := float64(len(s)) * float64(end) / math.Max(float64(at), 1) * 1.05
	grown := make([]T, len(s), max(8, min(max(int(expected), 2*len(s)), 4*len(s))))
	copy(grown, s)
	return grown
}
