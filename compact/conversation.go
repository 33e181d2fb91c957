package compact

import (
	"cmp"
	"math"
	"slices"
)

// A Conversation is what the model will read: the messages, and the cost in
// tokens of everything else in the request (tools, functions, response_format,
// framing).
type Conversation struct {
	Messages []Message
	Fixed    int
	// Unbind is the index in the client's list before which messages have lost
	// their bound thinking, because an earlier request took it out; 0: none.
	Unbind int
	// History is how many messages of the client's list are the conversation
	// itself, where those after them ask something about it; 0: all. The
	// history is folded as if it were alone, and the others follow it as they
	// came.
	History int
	// Rules are those of the API; the zero value is the chat API.
	Rules Rules
	// Rates are how the upstream turned out to count while the conversation
	// grew, the shortest length first. A rate decides nothing before its length,
	// so no epoch moves when one is added.
	Rates []Rate
}

// Rules are what the APIs of upstreams demand of a list, as far as they differ. The
// zero value is the chat API.
type Rules struct {
	// LongestID is the length of the longest id that the API takes; 0: 40.
	LongestID int
	// OnceInList is set if a call's id may be used once in a list, and not once in a
	// message.
	OnceInList bool
	// PlainIDs is set if ids are letters of ASCII, digits, _ and -.
	PlainIDs bool
	// MostMessages is the default limit on the number of messages; 0:
	// DefaultMaxMessages, below 0: none.
	MostMessages int
}

// messages returns the limit on the number of messages where none is set.
func (r Rules) messages() int {
	if r.MostMessages < 0 {
		return math.MaxInt32
	}
	return cmp.Or(r.MostMessages, DefaultMaxMessages)
}

// A Rate corrects a counter from one length of the client's list on: a request
// costs Percent of what the counter says, and Extra tokens more.
type Rate struct {
	From    int // messages of the client's list
	Percent int // above 0
	Extra   int // may be negative
}

// rateAt returns the last of some rates that holds for a list of n messages.
func rateAt(rates []Rate, n int) Rate {
	for _, r := range slices.Backward(rates) {
		if r.From <= n {
			return r
		}
	}
	return Rate{Percent: 100}
}

// Of returns what so many tokens of the counter cost.
func (r Rate) Of(tokens int) int { return int(int64(tokens)*int64(r.Percent)/100) + r.Extra }

// DefaultMaxMessages is the default limit on the number of messages. Azure and
// OpenAI refuse longer lists whatever they cost.
const DefaultMaxMessages = 2048

// Task returns the indices of the first and the last of the user messages that tell
// the task, or -1: the first user message, and those after it up to an answer. Agents
// put rules and an environment before what the user asks. A sealed message is what
// package history made of a record, and nobody's task.
func Task(msgs []Message) (first, last int) {
	first, last = -1, -1
	for i := range msgs {
		switch m := &msgs[i]; {
		case first < 0 && m.Role == User:
			first, last = i, i
		case first < 0 || m.Role.Instruction():
		case m.Role == User && m.Seal == 0:
			last = i
		default:
			return first, last
		}
	}
	return first, last
}

// task is where a list tells the task, in indices, or -1. Messages of the run
// before from may leave.
type task struct{ first, from, last int }
