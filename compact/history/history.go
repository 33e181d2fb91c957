package history

import (
	"errors"
	"fmt"
	"slices"

	"laconic/compact"
	"laconic/compact/policy"
)

// ErrNotEnough is returned for a history that is above its budget and has
// nothing that may leave or be shortened. The history is unchanged.
var ErrNotEnough = errors.New("history: above the budget, with nothing that may be dropped")

// A LengthError is returned by [Restore] if the messages and the mask of pins
// differ in length.
type LengthError struct{ Messages, Pins int }

// Error returns a message with both lengths.
func (e *LengthError) Error() string {
	return fmt.Sprintf("history: %d messages cannot be restored with %d pins", e.Messages, e.Pins)
}

// An IndexError is the value with which the pin methods of a [History] panic
// if there is no message with the index.
type IndexError struct {
	Method        string
	Index, Length int
}

// Error returns a message with the method and the index.
func (e *IndexError) Error() string {
	return fmt.Sprintf("history: %s(%d) of a history of %d messages", e.Method, e.Index, e.Length)
}

// Options configure a [History]. Only Budget is required.
type Options struct {
	// Budget is what the history may cost, Fixed included. For a plain number
	// of tokens: Budget{Tokens: n}.
	Budget compact.Budget
	// Policy compacts. Its pins apply beside those of the history, except
	// Pins.Messages, which is ignored because indices move. The default is
	// policy.Window(policy.DefaultWindow).
	Policy *compact.Policy
	// Counter counts as the model does. The default is the policy's own
	// counter, or else BytesPerToken(3.5).
	Counter compact.Counter
	// Fixed is the cost of everything beside the messages, mainly tools, in
	// tokens.
	Fixed int
	// Summarize writes the text for what leaves. If it is nil or fails, the
	// policy's digest is used, if the policy makes one; a failure is recorded
	// in the Report.
	Summarize Summarizer
	// SummaryRequired makes a failure of Summarize an error of CompactIfNeeded, a
	// *SummarizationError, and leaves the history as it was.
	SummaryRequired bool
}

// A History is a conversation held by a program. The program appends messages,
// pins what must survive, and calls [History.CompactIfNeeded] before each
// request, or after every message.
//
// A History owns its list. It never changes the Parts and Calls of a message,
// which the caller may share. It is not safe for concurrent use.
type History struct {
	o      Options
	msgs   []compact.Message
	pinned []bool
	record record // the text for what left earlier
}

// New returns an empty history.
func New(o Options) *History {
	if o.Policy == nil {
		o.Policy = policy.Window(policy.DefaultWindow)
	}
	if o.Budget.Messages <= 0 {
		o.Budget.Messages = compact.DefaultMaxMessages
	}
	o.Counter = counterFor(o.Policy, o.Counter)
	return &History{o: o, record: noRecord}
}

// counterFor returns c or its default under p.
func counterFor(p *compact.Policy, c compact.Counter) compact.Counter {
	switch {
	case c != nil:
		return c
	case p.Counter != nil:
		return p.Counter
	}
	return estimator
}

var estimator = compact.BytesPerToken(3.5)

// Estimate returns about what messages cost, in tokens, at 3.5 bytes a token.
func Estimate(msgs []compact.Message) int { return compact.CostAll(estimator, msgs) }

// Restore returns a history with the results of [History.Messages] and
// [History.Pinned]. If they differ in length, the error is a *LengthError. A
// text that stood for earlier messages is an ordinary part of its message from
// then on.
func Restore(o Options, msgs []compact.Message, pinned []bool) (*History, error) {
	if len(msgs) != len(pinned) {
		return nil, &LengthError{len(msgs), len(pinned)}
	}
	h := New(o)
	h.Append(msgs...)
	copy(h.pinned, pinned)
	return h, nil
}

// Append adds messages at the end, unpinned. The Origin of each becomes its
// index in the history.
func (h *History) Append(msgs ...compact.Message) {
	n := len(h.msgs)
	h.msgs = append(h.msgs, msgs...)
	h.pinned = append(h.pinned, make([]bool, len(msgs))...)
	h.number(n)
}

// number sets Origin and clears Edited of the messages from index n on.
func (h *History) number(n int) {
	for i := n; i < len(h.msgs); i++ {
		h.msgs[i].Origin, h.msgs[i].Edited = i, false
	}
}

// Messages returns the history as it is to be sent. The slice is valid until
// the next call that changes the history, and must not be changed.
func (h *History) Messages() []compact.Message { return slices.Clip(h.msgs) }

// Pinned returns, for each message of Messages, whether it is pinned.
func (h *History) Pinned() []bool { return slices.Clone(h.pinned) }

// IsPinned reports whether message i exists and is pinned.
func (h *History) IsPinned(i int) bool { return i >= 0 && i < len(h.pinned) && h.pinned[i] }

// PinLast pins the newest message; in an empty history it does nothing.
//
// A pinned message survives every compaction with its bytes, though its index
// may change. A text for earlier messages that is a message of its own can be
// pinned like any other, and then stays for good; one that follows a user
// message's text is replaced at the next compaction even if that message is
// pinned. A pinned result without its call leaves, because no upstream accepts
// it.
func (h *History) PinLast() {
	if n := len(h.pinned); n > 0 {
		h.pinned[n-1] = true
	}
}

// PinAt pins message i. It panics if there is no message i. A call and its
// results stay together as they are while one of them is pinned, even if
// Pinned shows only that one.
func (h *History) PinAt(i int) {
	h.check("PinAt", i)
	h.pinned[i] = true
}

// UnpinAt removes the pin of message i and of no other. It panics if there is
// no message i.
func (h *History) UnpinAt(i int) {
	h.check("UnpinAt", i)
	h.pinned[i] = false
}

// PinWithExchange pins all messages of the exchange that message i belongs to.
// It panics if there is no message i.
func (h *History) PinWithExchange(i int) {
	h.check("PinWithExchange", i)
	for _, e := range Exchanges(h.msgs) {
		if i < e.at+len(e.msgs) {
			for k := range e.msgs {
				h.pinned[e.at+k] = true
			}
			return
		}
	}
}

func (h *History) check(method string, i int) {
	if i < 0 || i >= len(h.msgs) {
		panic(&IndexError{method, i, len(h.msgs)})
	}
}

// EstimatedTokens returns what the history costs by its counter, Fixed
// included.
func (h *History) EstimatedTokens() int { return h.o.Fixed + compact.CostAll(h.o.Counter, h.msgs) }
