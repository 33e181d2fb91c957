package compact

import "slices"

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
// be done, and no result is waited for. What a summarizer fails at is no error.
func (h *History) CompactIfNeeded() (*Report, error) {
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
	s := Summarized(in, &p, h.o.Counter, b, h.o.Summarize)
	r := s.Report
	switch {
	case r.Outcome == Untouched:
		return nil, nil
	case r.NotEnough() && r.Repairs == 0 && len(waiting) > 0:
		return nil, nil
	case r.NotEnough() && r.Repairs == 0:
		return nil, ErrNotEnoughHistory
	}
	r.Before, r.MessagesBefore, r.Fixed = h.EstimatedTokens(), len(h.msgs), h.o.Fixed
	h.take(s.Messages, run, from)
	h.msgs, h.pinned = append(h.msgs, waiting...), append(h.pinned, pinned...)
	h.number(0)
	// The text is there now: what it costs counts, not what it was allowed.
	r.After, r.MessagesAfter = h.EstimatedTokens(), len(h.msgs)
	if b := h.o.Budget; r.Outcome == Over && r.After <= b.Tokens && r.MessagesAfter <= b.Messages {
		r.Outcome = Compacted
	}
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

// loose is the history up to end with its record as a message of its own, which may leave
// but not be shortened: what there is to compact. The record speaks as a user,
// for it quotes users, but never as the newest one, who has to stay. from tells
// for every message of the run which of the history it is, -1 for the record.
func (h *History) loose(end int) (run []Message, pins, from []int) {
	speaks := Assistant
	if slices.ContainsFunc(h.msgs[h.record.at+1:], func(m Message) bool { return m.Role == User }) {
		speaks = User
	}
	for i := range end {
		m := h.msgs[i]
		if h.pinned[i] {
			pins = append(pins, len(run))
		}
		if i != h.record.at {
			run, from = append(run, m), append(from, i)
			continue
		}
		rest := Message{Role: speaks, Shape: String, Parts: m.Parts, Sealed: true}
		if n := len(m.Parts) - 1; !h.record.own {
			rest.Parts = m.Parts[n:]
			m.Parts, m.Shape = m.Parts[:n:n], h.record.shape
			run, from = append(run, m), append(from, i)
		}
		run, from = append(run, rest), append(from, -1)
	}
	for i := range run {
		run[i].Origin, run[i].Edited = i, false
	}
	return run, pins, from
}

// take makes what came out of a compaction of run the history, and finds the
// record in it.
func (h *History) take(out, run []Message, from []int) {
	was, before, pinned := h.record, h.msgs, h.pinned
	h.msgs, h.pinned, h.record = nil, nil, record{at: -1}
	for _, m := range out {
		pin, here := false, len(h.msgs)
		switch {
		case m.Origin == Added && !m.Role.Result():
			h.record = record{at: here, own: true}
		case m.Origin == Added: // an answer that repair added
		case from[m.Origin] >= 0:
			pin = pinned[from[m.Origin]]
			if added := len(m.Parts) > len(run[m.Origin].Parts); added {
				h.record = record{at: here, shape: run[m.Origin].Shape}
			}
		case !was.own && here > 0 && h.msgs[here-1].Origin == m.Origin-1:
			h.rejoin(m.Parts[0])
			continue
		default:
			m.Role, m.Sealed = User, false
			if was.own {
				m.Role = before[was.at].Role
			}
			if h.record.at < 0 {
				h.record = record{at: here, own: true}
			}
		}
		h.msgs, h.pinned = append(h.msgs, m), append(h.pinned, pin)
	}
}

// rejoin puts a record that did not leave back behind the text of the message
// it came from, which is the last one, and behind a newer record there.
func (h *History) rejoin(old Part) {
	at := len(h.msgs) - 1
	m := &h.msgs[at]
	if h.record.at == at {
		newer := m.Parts[len(m.Parts)-1].Text.String()
		m.Parts = m.Parts[:len(m.Parts)-1]
		old.Text = Plain(old.Text.String() + newer)
	} else {
		h.record = record{at: at, shape: m.Shape}
	}
	m.Parts = append(slices.Clip(m.Parts), old)
	if m.Shape != Array {
		m.Shape = String
	}
}
