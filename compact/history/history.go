// Package history is for programs that hold a conversation themselves, rather
// than send it through the proxy. A [History] stays legal and within its
// budget however long it becomes: a pinned message keeps its bytes, a call
// stays with its results, and a round whose tools are still at work is left
// alone.
//
//	h := history.New(history.Options{Budget: compact.Budget{Tokens: 24_000}})
//	h.Append(messages...)
//	report, err := h.CompactIfNeeded(ctx) // before each request
//	send(h.Messages())
//
// [Exchanges], [ExchangesStrict] and [Join] take a list apart and put it
// together again without breaking a pair. [Summarize] compacts a list once,
// with a text that the caller writes.
package history

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"laconic/compact"
	"laconic/compact/policy"
)

// ErrNotEnough is returned for a history that is above its budget and has
// nothing that may leave or be shortened. The history is unchanged.
var ErrNotEnough = errors.New("history: above the budget, with nothing that may be dropped")

// Options configure a [History]. Only Budget is required.
type Options struct {
	// Budget is what the history may cost, Fixed included. For a plain number
	// of tokens: Budget{Tokens: n}.
	Budget compact.Budget
	// Policy compacts. Its pins apply beside those of the history, except
	// Pins.Messages, which is ignored because indices move. The default is the
	// policy window.
	Policy *compact.Policy
	// Counter counts as the model does. The default is the policy's own
	// counter, or else BytesPerToken(3.5).
	Counter compact.Counter
	// Fixed is the cost of everything beside the messages, mainly tools, in
	// tokens.
	Fixed int
	// Summarize writes the text for what leaves. If it is nil or fails, the
	// policy's digest is used, if the policy makes one; a failure is noted
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
	record int              // index of the message with the record, which stands for what left earlier, or -1
	host   *compact.Message // that message without the record at its end; nil: it is the record alone
}

// New returns an empty history.
func New(o Options) *History {
	if o.Policy == nil {
		o.Policy, _ = policy.New("window", nil) // whose defaults are no error
	}
	if o.Budget.Messages <= 0 {
		o.Budget.Messages = compact.DefaultMaxMessages
	}
	o.Counter = counterFor(o.Policy, o.Counter)
	return &History{o: o, record: -1}
}

// Restore returns a history with the results of [History.Messages] and
// [History.Pinned]; the error says that they differ in length. A text that stood
// for earlier messages is an ordinary part of its message from then on.
func Restore(o Options, msgs []compact.Message, pinned []bool) (*History, error) {
	if len(msgs) != len(pinned) {
		return nil, fmt.Errorf("history: %d messages cannot be restored with %d pins", len(msgs), len(pinned))
	}
	h := New(o)
	h.Append(msgs...)
	copy(h.pinned, pinned)
	return h, nil
}

// Append adds messages at the end, unpinned. The Origin of each becomes its
// index in the history.
func (h *History) Append(msgs ...compact.Message) {
	h.msgs = append(h.msgs, msgs...)
	h.pinned = append(h.pinned, make([]bool, len(msgs))...)
	number(h.msgs)
}

// number sets Origin and clears Edited.
func number(msgs []compact.Message) {
	for i := range msgs {
		msgs[i].Origin, msgs[i].Edited = i, false
	}
}

// Messages returns the history as it is to be sent. The slice is valid until
// the next call that changes the history, and must not be changed.
func (h *History) Messages() []compact.Message { return slices.Clip(h.msgs) }

// Pinned returns, for each message of Messages, whether it is pinned.
func (h *History) Pinned() []bool { return slices.Clone(h.pinned) }

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

// PinAt pins message i, and panics if there is none. A call and its results stay
// together as they are while one of them is pinned, even if Pinned shows only
// that one.
func (h *History) PinAt(i int) { h.pinned[i] = true }

// UnpinAt removes the pin of message i and of no other. It panics if there is
// no message i.
func (h *History) UnpinAt(i int) { h.pinned[i] = false }

// PinWithExchange pins all messages of the exchange that message i belongs to.
// It panics if there is no message i.
func (h *History) PinWithExchange(i int) {
	h.PinAt(i)
	for _, e := range Exchanges(h.Messages()) {
		if end := e.At + len(e.Messages); e.At <= i && i < end {
			for k := e.At; k < end; k++ {
				h.PinAt(k)
			}
		}
	}
}

// EstimatedTokens returns what the history costs by its counter, Fixed
// included.
func (h *History) EstimatedTokens() int {
	return h.o.Fixed + compact.CostAll(h.o.Counter, h.Messages())
}

// CompactIfNeeded compacts the history if its policy finds that due, and
// repairs broken pairs. If neither was needed it returns nil, and the history
// is as it was. Otherwise the report says what was done; its outcome is Over if
// the history is still above the budget.
//
// A last round whose calls wait for results is left as it is, because its tools
// may still be at work. What comes before that round is compacted all the same.
//
// The error is [ErrNotEnough] if the history is above its budget, nothing could be
// done, and no result is awaited. A summarizer that fails is no error, unless
// SummaryRequired is set: the history is compacted without it, and
// Report.SummaryFailed says why. ctx is passed to the summarizer.
func (h *History) CompactIfNeeded(ctx context.Context) (*Report, error) {
	if h.record >= 0 && h.host == nil && h.pinned[h.record] {
		h.record = -1 // a message like any other from now on
	}
	end := h.closed()
	waiting, pinned := h.msgs[end:], h.pinned[end:]
	d := h.detached(end)
	p := *h.o.Policy
	p.Pins.Messages = nil
	for i, pinned := range d.pinned {
		if pinned {
			p.Pins.Messages = append(p.Pins.Messages, i)
		}
	}
	in, b := compact.Conversation{Messages: d.msgs, Fixed: h.o.Fixed}, h.o.Budget
	if len(waiting) > 0 {
		// The waiting round is charged like tools.
		in.Fixed += compact.CostAll(h.o.Counter, waiting)
		b.Step, b.Messages = 1, max(1, b.Messages-len(waiting))
	}
	msgs, r := Summarize(ctx, in, &p, h.o.Counter, b, h.o.Summarize)
	switch {
	case r.Outcome == compact.Untouched:
		return nil, nil
	case r.SummaryFailed != nil && h.o.SummaryRequired:
		return nil, r.SummaryFailed
	case r.NotEnough && r.Repairs == 0 && len(waiting) > 0:
		return nil, nil
	case r.NotEnough && r.Repairs == 0:
		return nil, ErrNotEnough
	}
	r.Before, r.MessagesBefore, r.Fixed = h.EstimatedTokens(), len(h.Messages()), h.o.Fixed
	h.replace(d, msgs)
	h.msgs, h.pinned = append(h.msgs, waiting...), append(h.pinned, pinned...)
	number(h.msgs)
	// The text is written by now: count its cost instead of its slot's size.
	r.MessagesAfter = len(h.Messages())
	r.Sent(h.EstimatedTokens(), h.o.Budget)
	return &r, nil
}

// closed returns the index at which the last round begins if its calls wait
// for results, or else the length of the history.
func (h *History) closed() int {
	at := len(h.msgs)
	for at > 0 && h.msgs[at-1].Role.Result() {
		at--
	}
	for at > 0 && len(h.msgs[at-1].Calls) > 0 {
		at--
	}
	_, edits := compact.Repair(h.msgs[at:], compact.RepairAnswer)
	if slices.ContainsFunc(edits, func(e compact.Edit) bool { return e.Op == compact.OpAnswer }) {
		return at
	}
	return len(h.msgs)
}
