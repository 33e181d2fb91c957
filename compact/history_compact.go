package compact

import (
	"context"
	"slices"
)

// CompactIfNeeded brings the history under its budget where the policy finds it
// due, and repairs its pairs where they are broken. Where nothing was due it
// gives nil, and the history is as it was. Otherwise the report says what was
// done; its outcome is Over where the history is still above the budget.
//
// A last round whose calls wait for their results stays as it is: nothing but
// results stands behind the last assistant message with calls, so its tools may
// still be at work. What stands before it is compacted all the same.
//
// The only error is ErrNotEnoughHistory: it is above the budget, nothing could
// be done, and no result is waited for. A summarizer that fails leaves a history
// under its budget all the same, so that is told by Report.SummaryFailed. ctx is
// handed to the summarizer.
func (h *History) CompactIfNeeded(ctx context.Context) (*Report, error) {
	if h.record.own && h.pinned[h.record.at] {
		h.record = record{at: -1} // a message like any other from now on
	}
	end := h.closed()
	waiting, pinned := h.msgs[end:], h.pinned[end:]
	run, pins, from := h.loose(end)
	p := *h.o.Policy
	p.Pins.Messages = pins
	in, b := Conversation{Messages: run, Fixed: h.o.Fixed}, h.o.Budget
	if len(waiting) > 0 {
		// It costs what it costs, as tools do.
		in.Fixed += CostAll(h.o.Counter, waiting)
		b.Step, b.Messages = 1, max(1, b.Messages-len(waiting))
	}
	s := Summarized(ctx, in, &p, h.o.Counter, b, h.o.Summarize)
	r := s.Report
	switch {
	case r.Outcome == Untouched:
		return nil, nil
	case r.NotEnough && r.Repairs == 0 && len(waiting) > 0:
		return nil, nil
	case r.NotEnough && r.Repairs == 0:
		return nil, ErrNotEnoughHistory
	}
	r.Before, r.MessagesBefore, r.Fixed = h.EstimatedTokens(), len(h.msgs), h.o.Fixed
	h.take(s.Messages, run, from)
	h.msgs, h.pinned = append(h.msgs, waiting...), append(h.pinned, pinned...)
	h.number(0)
	// The text is there now: what it costs counts, not what it was allowed.
	r.MessagesAfter = len(h.msgs)
	r.Sent(h.EstimatedTokens(), h.o.Budget)
	return &r, nil
}

// closed is where the last round begins if its calls wait for results, else the
// end of the history.
func (h *History) closed() int {
	at := len(h.msgs)
	for at > 0 && h.msgs[at-1].Role.Result() {
		at--
	}
	for at > 0 && len(h.msgs[at-1].Calls) > 0 {
		at--
	}
	_, edits := Repair(h.msgs[at:], RepairAnswer)
	if slices.ContainsFunc(edits, func(e Edit) bool { return e.Op == OpAnswer }) {
		return at
	}
	return len(h.msgs)
}
