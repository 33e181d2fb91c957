package history

import (
	"context"
	"slices"

	"laconic/compact"
)

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
	if h.record.own && h.pinned[h.record.at] {
		h.record = noRecord // a message like any other from now on
	}
	end := h.closed()
	waiting, pinned := h.msgs[end:], h.pinned[end:]
	run, pins, from := h.detached(end)
	p := *h.o.Policy
	p.Pins.Messages = pins
	in, b := compact.Conversation{Messages: run, Fixed: h.o.Fixed}, h.o.Budget
	if len(waiting) > 0 {
		// The waiting round is charged like tools.
		in.Fixed += compact.CostAll(h.o.Counter, waiting)
		b.Step, b.Messages = 1, max(1, b.Messages-len(waiting))
	}
	s := Summarize(ctx, in, &p, h.o.Counter, b, h.o.Summarize)
	r := s.Report
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
	r.Before, r.MessagesBefore, r.Fixed = h.EstimatedTokens(), len(h.msgs), h.o.Fixed
	h.replace(s.Messages, run, from)
	h.msgs, h.pinned = append(h.msgs, waiting...), append(h.pinned, pinned...)
	h.number(0)
	// The text is written by now: count its cost instead of its slot's size.
	r.MessagesAfter = len(h.msgs)
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
