package history

import (
	"slices"
	"strings"

	"laconic/compact"
)

// record says where the text is that stands for what left earlier: it is the
// last part of a user message, or a message of its own. The next compaction
// may remove the text like the messages it stands for, and replaces it by one
// made from it. A pinned record is an ordinary message.
type record struct {
	at    int // index of its message, or -1
	own   bool
	shape compact.Shape // of the message's content without the text
}

var noRecord = record{at: -1}

// detached returns the history before end with its record as a message of its
// own, which may leave but not be shortened, and the indices of the pins in
// it. The record gets the role of a user, whom it quotes, unless it would be
// the first or the newest user message, which must stay. from maps each message
// of run to its index in the history, -1 for the record.
func (h *History) detached(end int) (run []compact.Message, pins, from []int) {
	after := h.recordAfter(end)
	role := compact.Assistant
	if after >= 0 && h.hasUser(0, after+1) && h.hasUser(after+1, end) {
		role = compact.User
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
		if i == after {
			parts := h.msgs[h.record.at].Parts
			run = append(run, compact.Message{Role: role, Shape: compact.String, Parts: parts[len(parts)-1:], Seal: compact.SealText | compact.SealArguments})
			from = append(from, -1)
		}
	}
	for i := range run {
		run[i].Origin, run[i].Edited = i, false
	}
	return run, pins, from
}

// recordAfter returns the index of the message that the detached record
// follows, or -1 without a record. A fold removes what follows the first user
// message, so a record before that moves behind it.
func (h *History) recordAfter(end int) int {
	at := h.record.at
	if at < 0 || !h.record.own || h.o.Policy.PerRequest != nil || h.hasUser(0, at) {
		return at
	}
	for i := at + 1; i < end; i++ {
		if h.msgs[i].Role == compact.User {
			return i
		}
	}
	return at
}

// hasUser reports whether one of the messages [i, end) is a user message other
// than the record.
func (h *History) hasUser(i, end int) bool {
	for ; i < end; i++ {
		if h.msgs[i].Role == compact.User && !(h.record.own && i == h.record.at) {
			return true
		}
	}
	return false
}

// replace makes out, which is the compacted run, the history, and finds the
// record in it.
func (h *History) replace(out, run []compact.Message, from []int) {
	was := *h
	h.msgs, h.pinned, h.record = nil, nil, noRecord
	older := ""               // the text of the record, if that did not leave
	place, hosted := 0, false // where the record was; whether the message it followed is still there
	for _, m := range out {
		pin, here := false, len(h.msgs)
		switch {
		case m.Origin == compact.Added && !m.Role.Result():
			h.record = record{at: here, own: true}
		case m.Origin == compact.Added: // an answer that repair added
			if place == here {
				place++
			}
		case from[m.Origin] < 0:
			older = m.Parts[0].Text.String()
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
	case older == "":
	case h.record.at >= 0:
		h.prepend(older)
	case hosted:
		h.record = record{at: place - 1, shape: h.msgs[place-1].Shape}
		h.write("\n\n" + strings.TrimSpace(older))
	default:
		own := compact.Message{Role: compact.User, Shape: compact.String}
		if was.record.own {
			own.Role = was.msgs[was.record.at].Role
		}
		h.record = record{at: place, own: true}
		h.msgs, h.pinned = slices.Insert(h.msgs, place, own), slices.Insert(h.pinned, place, false)
		h.write(strings.TrimSpace(older))
	}
}

// prepend puts the text of an older record before that of the record.
func (h *History) prepend(older string) {
	m := &h.msgs[h.record.at]
	n := len(m.Parts) - 1
	newer := m.Parts[n].Text.String()
	blank := newer[:len(newer)-len(strings.TrimLeft(newer, "\n"))]
	m.Parts = m.Parts[:n:n]
	h.write(blank + strings.TrimSpace(older) + "\n\n" + strings.TrimSpace(newer))
}

// write appends the text of the record to its message.
func (h *History) write(text string) {
	m := &h.msgs[h.record.at]
	m.Parts = append(slices.Clip(m.Parts), compact.Part{Kind: compact.KindText, Text: compact.Plain(text)})
	if m.Shape != compact.Array {
		m.Shape = compact.String
	}
}
