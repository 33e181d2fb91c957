package compact

import (
	"errors"
	"fmt"
	"slices"
)

// ErrNotEnoughHistory says that a history is above its budget and nothing in it
// may leave or be shortened. The history is unchanged.
var ErrNotEnoughHistory = errors.New("compact: the history is above its budget and holds nothing that may be dropped")

// LengthError says that a history cannot be restored: its messages and the mask
// of its pins are not of one length.
type LengthError struct{ Messages, Pins int }

// Error gives both lengths.
func (e *LengthError) Error() string {
	return fmt.Sprintf("compact: %d messages cannot be restored with %d pins", e.Messages, e.Pins)
}

// IndexError is what the pin methods of a History panic with, a *IndexError:
// there is no message of that index.
type IndexError struct {
	Method        string
	Index, Length int
}

// Error names the method.
func (e *IndexError) Error() string {
	return fmt.Sprintf("compact: %s(%d) of a history of %d messages", e.Method, e.Index, e.Length)
}

// HistoryOptions say under what a History is held. Only Budget is needed.
type HistoryOptions struct {
	// Budget is what the history may cost, Fixed included. For a plain number
	// of tokens: Budget{Tokens: n}.
	Budget Budget
	// Policy compacts. Its own pins hold beside those of the history, but for
	// Pins.Messages, which is ignored: indices move. nil: Truncate(DefaultTruncate).
	Policy *Policy
	// Counter counts as the model does; nil: as the policy does, else
	// BytesPerToken(3.5).
	Counter Counter
	// Fixed is what stands beside the messages, tools above all, in tokens.
	Fixed int
	// Summarize writes the text for what leaves; nil: the policy's digest
	// stands there, if it makes one. A failure degrades to that, and shows in
	// the Report.
	Summarize Summarizer
}

// History is a conversation that a program holds itself: it appends messages,
// pins what must survive, and calls CompactIfNeeded before each request, or
// after every message: what waits for results stays untouched. It
// owns its list; Parts and Calls of messages are shared and never changed. Not
// safe for concurrent use.
type History struct {
	o      HistoryOptions
	msgs   []Message
	pinned []bool
	// record is what stands in it for what left earlier.
	record record
}

// NewHistory begins an empty history.
func NewHistory(o HistoryOptions) *History {
	if o.Policy == nil {
		o.Policy = Truncate(DefaultTruncate)
	}
	o.Budget = o.Budget.whole()
	o.Counter = o.Policy.counterFor(o.Counter)
	return &History{o: o, record: record{at: -1}}
}

// RestoreHistory resumes a history from what Messages and Pinned gave. The two
// lists must have the same length, else the error is a *LengthError. A text
// that stood for earlier messages is an ordinary part of its message from then
// on.
func RestoreHistory(o HistoryOptions, msgs []Message, pinned []bool) (*History, error) {
	if len(msgs) != len(pinned) {
		return nil, &LengthError{len(msgs), len(pinned)}
	}
	h := NewHistory(o)
	h.Append(msgs...)
	copy(h.pinned, pinned)
	return h, nil
}

// Append puts messages at the end, in order, unpinned. Their Origin becomes
// their index in the history.
func (h *History) Append(msgs ...Message) {
	n := len(h.msgs)
	h.msgs = append(h.msgs, msgs...)
	h.pinned = append(h.pinned, make([]bool, len(msgs))...)
	h.number(n)
}

// number makes the messages from index n on the history's own: nobody edited
// them.
func (h *History) number(n int) {
	for i := n; i < len(h.msgs); i++ {
		h.msgs[i].Origin, h.msgs[i].Edited = i, false
	}
}

// Messages is the history as it is to be sent. Indices are those of Pinned and
// of the pin methods. The slice is valid until the next call that changes the
// history, and must not be changed.
func (h *History) Messages() []Message { return slices.Clip(h.msgs) }

// Pinned tells per message of Messages whether it is pinned. It is a copy.
func (h *History) Pinned() []bool { return slices.Clone(h.pinned) }

// IsPinned tells whether message i is pinned; false also where there is no
// message i.
func (h *History) IsPinned(i int) bool { return i >= 0 && i < len(h.pinned) && h.pinned[i] }

// PinLast pins the newest message; in an empty history it does nothing. A
// pinned message survives every compaction with its bytes; its index may
// change. A text that stands for earlier messages is pinned with its message
// where that is a message of its own, and then stays for good; where it follows
// a user message's text it is replaced as ever. A pinned result without its
// call leaves all the same: no upstream takes it.
func (h *History) PinLast() {
	if n := len(h.pinned); n > 0 {
		h.pinned[n-1] = true
	}
}

// PinAt pins message i. It panics where there is no message i. A pinned call
// never loses its results, nor a pinned result its call: both stay as they are
// for as long as one is pinned, also if only one shows in Pinned.
func (h *History) PinAt(i int) {
	h.check("PinAt", i)
	h.pinned[i] = true
}

// UnpinAt takes the pin from message i, and from that message alone. It panics
// where there is no message i.
func (h *History) UnpinAt(i int) {
	h.check("UnpinAt", i)
	h.pinned[i] = false
}

// PinWithExchange pins message i and what cannot leave without it: with a call
// all results of its message, with a result the message that called and all its
// other results. A message without calls is pinned alone. It panics where there
// is no message i.
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

// EstimatedTokens is what the history costs by its counter, Fixed included. It
// is as exact as the counter is.
func (h *History) EstimatedTokens() int { return h.o.Fixed + CostAll(h.o.Counter, h.msgs) }
