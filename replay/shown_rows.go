package replay

import (
	"slices"
	"strings"

	"laconic/compact"
)

// alignment puts the messages of a request beside those that the client sent,
// and remembers what became of each, so that a request lists only what is new.
type alignment struct {
	v     *conversation
	fates []fate          // of the client's messages, in the last request with rows
	added map[string]bool // the messages that the client did not send, in that request
	own   *compact.Message
}

// fate is what became of a message.
type fate struct {
	Fate
	sent   *compact.Message // what was sent instead; nil if it was removed
	listed int              // number of the last request that lists the message; 0: none
}

// rows returns the rows of request n.
func (a *alignment) rows(plan *compact.Plan, in compact.Conversation, now *request, n int) []ShownRow {
	reasons := reasonsOf(plan, in)
	fates := append(slices.Clone(a.fates), make([]fate, len(in.Messages)-len(a.fates))...)
	sent := make([]bool, len(in.Messages))
	for i := range now.msgs {
		if o := now.msgs[i].Origin; o >= 0 {
			sent[o] = true
		}
	}
	var rows []ShownRow
	next := 0 // the client's messages before it have their rows
	removedUpTo := func(end int) {
		for ; next < end; next++ {
			if !sent[next] {
				row := ShownRow{Fate: Removed, From: next, To: next + 1, Full: a.v.costs[next], Edits: leaving(reasons[next])}
				rows = joined(rows, fates[next].became(row, nil, n))
			}
		}
	}
	added, own := map[string]bool{}, a.own
	a.own = nil
	for i := range now.msgs {
		m := &now.msgs[i]
		o := m.Origin
		if o < 0 {
			rows = joined(rows, a.addition(plan, m, now.costs[i], next, added, own))
			continue
		}
		moved := slices.ContainsFunc(reasons[o], func(e compact.Edit) bool { return e.Op == compact.OpMove })
		if !moved {
			removedUpTo(o)
			next = max(next, o+1)
		}
		row := ShownRow{From: o, To: o + 1, Full: a.v.costs[o], Tokens: now.costs[i]}
		if moved || !m.Equal(&a.v.Messages[o]) {
			row.Fate, row.Edits = Edited, reasons[o]
			row.Sent = edited(m, &a.v.Messages[o], fates[o].sent, row.Tokens)
		}
		rows = joined(rows, fates[o].became(row, m, n))
	}
	removedUpTo(len(in.Messages))
	a.fates, a.added = fates, added
	return rows
}

// became enters what became of a message in request n, and returns its row: a
// known one if the request before did the same, and the message was listed.
func (f *fate) became(row ShownRow, sent *compact.Message, n int) ShownRow {
	known := f.listed > 0 && f.Fate == row.Fate && (row.Fate != Edited || f.sent.Equal(sent))
	f.Fate, f.sent = row.Fate, sent
	if !known {
		f.listed = n
		return row
	}
	switch row.Fate {
	case Removed:
		row.Gone = 1
	case Edited:
		row.Changed = 1
	}
	row.Fate, row.Since, row.Edits, row.Sent = Known, f.listed, nil, nil
	return row
}

// joined appends a row, to the last one if both say the same.
func joined(rows []ShownRow, row ShownRow) []ShownRow {
	if len(rows) == 0 {
		return append(rows, row)
	}
	last := &rows[len(rows)-1]
	same := last.Fate == row.Fate && (row.Fate == Known || row.Fate == Unchanged || row.Fate == Removed && slices.Equal(last.Edits, row.Edits))
	if !same || row.From != last.To {
		return append(rows, row)
	}
	last.To, last.Full, last.Tokens = row.To, last.Full+row.Full, last.Tokens+row.Tokens
	last.Gone, last.Changed, last.Since = last.Gone+row.Gone, last.Changed+row.Changed, max(last.Since, row.Since)
	return rows
}

// addition returns the row of a message that the client did not send, before its
// message next. own is the record in the request before, if it was a message of
// its own.
func (a *alignment) addition(plan *compact.Plan, m *compact.Message, tokens, next int, added map[string]bool, own *compact.Message) ShownRow {
	row := ShownRow{Fate: Added, From: next, To: next, Tokens: tokens}
	record := plan.Slot != nil && plan.Slot.At < 0 && m.Answers == ""
	if record {
		a.own = m
	}
	key := strings.Join(append([]string{m.RoleName(), m.Answers}, textsOf(m)...), "\x00")
	if added[key] = true; a.added[key] {
		row.Fate, row.Changed = Known, 1
		return row
	}
	row.Sent = shownMessage(m, tokens, "")
	if record {
		row.Sent.record(0, own)
		return row
	}
	for _, e := range plan.Edits {
		if e.Op == compact.OpQuote || e.Op == compact.OpAnswer && e.ID == m.Answers {
			row.Edits = []compact.Edit{e}
		}
	}
	return row
}

// edited returns what is sent instead of an original. before is what was sent in
// the request before, or nil.
func edited(m, original, before *compact.Message, tokens int) *ShownMessage {
	s, from := shownMessage(m, tokens, ""), shownMessage(original, 0, "")
	for i := range s.Pieces {
		s.Pieces[i].Same = i < len(from.Pieces) && s.Pieces[i] == from.Pieces[i]
	}
	if m.Role == compact.User && len(m.Parts) > len(original.Parts) {
		s.record(len(from.Pieces), before)
	}
	return s
}

// record marks the pieces from one on as those of the record. before is the
// message in the request before, or nil.
func (s *ShownMessage) record(from int, before *compact.Message) {
	var old []Piece
	if before != nil {
		old = shownMessage(before, 0, "").Pieces
	}
	for i := from; i < len(s.Pieces); i++ {
		p := &s.Pieces[i]
		if p.Record = true; i < len(old) {
			p.Known = commonPrefix(old[i].Text, p.Text)
		}
	}
}

// reasonsOf returns the edits of each of the client's messages, by its index.
func reasonsOf(plan *compact.Plan, in compact.Conversation) map[int][]compact.Edit {
	reasons := map[int][]compact.Edit{}
	var repaired []compact.Message
	for _, e := range plan.Edits {
		switch e.Op {
		case compact.OpAnswer: // of an added message
		case compact.OpRemove:
			if repaired == nil {
				repaired, _ = compact.Repair(in.Messages, plan.Repair)
			}
			for i := e.At; i < min(e.End, len(repaired)); i++ {
				o := repaired[i].Origin
				reasons[o] = append(reasons[o], e)
			}
		default:
			reasons[e.Origin] = append(reasons[e.Origin], e)
		}
	}
	return reasons
}

// leaving returns the edits that take a message away.
func leaving(edits []compact.Edit) []compact.Edit {
	var all []compact.Edit
	for _, e := range edits {
		switch e.Op {
		case compact.OpRemove, compact.OpDropMessage, compact.OpDropResult, compact.OpQuote:
			all = append(all, e)
		}
	}
	return all
}
