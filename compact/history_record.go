package compact

import (
	"slices"
	"strings"
)

// record is the text that stands for what left earlier: the last part of a
// user message, or a message of its own. At the next compaction it may leave
// like the messages it stands for, and what replaces it is made from it; not if
// it is pinned: then it is a record no more.
type record struct {
	at    int // index of its message, or -1
	own   bool
	shape Shape // what the message's content was like without it
}

// loose is the history up to end with its record as a message of its own,
// which may leave but not be shortened: what there is to compact. The record
// speaks as a user, for it quotes users, but never as the first or the newest
// one, who have to stay. from tells for every message of the run which of the
// history it is, -1 for the record.
func (h *History) loose(end int) (run []Message, pins, from []int) {
	behind := h.behind(end)
	speaks := Assistant
	if behind >= 0 && h.asks(0, behind+1) && h.asks(behind+1, end) {
		speaks = User
	}
	for i := range end {
		m := h.msgs[i]
		if h.pinned[i] {
			pins = append(pins, len(run))
		}
		switch {
		case i != h.record.at:
			run, from = append(run, m), append(from, i)
		case !h.record.own:
			n := len(m.Parts) - 1
			m.Parts, m.Shape = m.Parts[:n:n], h.record.shape
			run, from = append(run, m), append(from, i)
		}
		if i == behind {
			old := h.msgs[h.record.at].Parts
			run, from = append(run, Message{Role: speaks, Shape: String, Parts: old[len(old)-1:], Sealed: true}), append(from, -1)
		}
	}
	for i := range run {
		run[i].Origin, run[i].Edited = i, false
	}
	return run, pins, from
}

// behind is the message of the history behind which the record stands in what
// there is to compact: where it is, or behind the first user message, where a
// fold takes away what is old. -1 where there is no record.
func (h *History) behind(end int) int {
	at := h.record.at
	if at < 0 || !h.record.own || h.o.Policy.Once || h.asks(0, at) {
		return at
	}
	for i := at + 1; i < end; i++ {
		if h.msgs[i].Role == User {
			return i
		}
	}
	return at
}

// asks tells whether a user speaks in the messages [i, end), the record apart.
func (h *History) asks(i, end int) bool {
	for ; i < end; i++ {
		if h.msgs[i].Role == User && !(h.record.own && i == h.record.at) {
			return true
		}
	}
	return false
}

// take makes what came out of a compaction of run the history, and finds the
// record in it.
func (h *History) take(out, run []Message, from []int) {
	was := *h
	h.msgs, h.pinned, h.record = nil, nil, record{at: -1}
	stayed := ""              // what the record says that did not leave
	place, hosted := 0, false // where it stood; whether what it followed is still there
	for _, m := range out {
		pin, here := false, len(h.msgs)
		switch {
		case m.Origin == Added && !m.Role.Result():
			h.record = record{at: here, own: true}
		case m.Origin == Added: // an answer that repair added
			if place == here {
				place++
			}
		case from[m.Origin] < 0:
			stayed = m.Parts[0].Text.String()
			continue
		default:
			i := from[m.Origin]
			pin = was.pinned[i]
			if added := len(m.Parts) > len(run[m.Origin].Parts); added {
				h.record = record{at: here, shape: run[m.Origin].Shape}
			}
			if i <= was.record.at {
				place, hosted = here+1, i == was.record.at
			}
		}
		h.msgs, h.pinned = append(h.msgs, m), append(h.pinned, pin)
	}
	switch {
	case stayed == "":
	case h.record.at >= 0:
		h.join(stayed)
	case hosted:
		h.record = record{at: place - 1, shape: h.msgs[place-1].Shape}
		h.write("\n\n" + strings.TrimSpace(stayed))
	default:
		own := Message{Role: User, Shape: String}
		if was.record.own {
			own.Role = was.msgs[was.record.at].Role
		}
		h.record = record{at: place, own: true}
		h.msgs, h.pinned = slices.Insert(h.msgs, place, own), slices.Insert(h.pinned, place, false)
		h.write(strings.TrimSpace(stayed))
	}
}

// join puts a record that did not leave before what the newer one says.
func (h *History) join(older string) {
	m := &h.msgs[h.record.at]
	n := len(m.Parts) - 1
	newer := m.Parts[n].Text.String()
	blank := newer[:len(newer)-len(strings.TrimLeft(newer, "\n"))]
	m.Parts = m.Parts[:n:n]
	h.write(blank + strings.TrimSpace(older) + "\n\n" + strings.TrimSpace(newer))
}

// write puts the text of the record behind what its message says.
func (h *History) write(text string) {
	m := &h.msgs[h.record.at]
	m.Parts = append(slices.Clip(m.Parts), Part{Kind: KindText, Text: Plain(text)})
	if m.Shape != Array {
		m.Shape = String
	}
}
