package history

import (
	"slices"
	"strings"

	"laconic/compact"
)

// detached returns a history to be compacted: what is before end, in which the record
// may leave but not be shortened. A fold removes what follows the first user message, so
// a record before that moves behind it. The record gets the role of a user, whom it
// quotes, unless it would be the first or the newest user message, which must stay.
func (h *History) detached(end int) History {
	d := History{msgs: slices.Clone(h.msgs[:end]), pinned: slices.Clone(h.pinned[:end]), record: h.record, host: h.host}
	user := func(m compact.Message) bool { return m.Role == compact.User }
	if at := h.record; at >= 0 {
		record := d.msgs[at]
		if h.host != nil {
			record = compact.Message{Shape: compact.String, Parts: record.Parts[len(h.host.Parts):]}
			d.msgs[at] = *h.host
			at++
		} else {
			d.msgs, d.pinned = slices.Delete(d.msgs, at, at+1), slices.Delete(d.pinned, at, at+1)
		}
		if first := slices.IndexFunc(d.msgs, user); first >= at && h.o.Policy.PerRequest == nil {
			at, d.host = first+1, &d.msgs[first]
		}
		record.Role, record.Seal = compact.Assistant, compact.SealText|compact.SealArguments
		if slices.ContainsFunc(d.msgs[:at], user) && slices.ContainsFunc(d.msgs[at:], user) {
			record.Role = compact.User
		}
		d.msgs, d.pinned, d.record = slices.Insert(d.msgs, at, record), slices.Insert(d.pinned, at, false), at
	}
	number(d.msgs)
	return d
}

// replace makes out, which is d compacted, the history, and finds the record in it.
// If the old record did not leave, the new one follows it in one text.
func (h *History) replace(d History, out []compact.Message) {
	next, older, hosted := History{o: h.o, record: -1}, -1, false
	add := func(m compact.Message, pinned bool) {
		next.msgs, next.pinned = append(next.msgs, m), append(next.pinned, pinned)
	}
	for _, m := range out {
		switch i := m.Origin; {
		case i == compact.Added:
			if !m.Role.Result() { // else repair added an answer
				next.record = len(next.msgs)
			}
			add(m, false)
		case i == d.record:
			older = len(next.msgs)
			add(m, false)
		case len(m.Parts) > len(d.msgs[i].Parts):
			add(d.msgs[i], d.pinned[i])
			next.record, hosted = len(next.msgs), true
			add(compact.Message{Role: compact.User, Shape: compact.String, Parts: m.Parts[len(d.msgs[i].Parts):]}, false)
		default:
			add(m, d.pinned[i])
		}
	}
	switch {
	case older >= 0 && next.record >= 0:
		newer := &next.msgs[next.record]
		write(newer, hosted, slices.Concat(next.msgs[older].Parts, newer.Parts))
		next.msgs, next.pinned = slices.Delete(next.msgs, older, older+1), slices.Delete(next.pinned, older, older+1)
		if older < next.record {
			next.record--
		}
	case older >= 0:
		next.record, hosted = older, d.host != nil && older > 0 && next.msgs[older-1].Origin == d.record-1
		m := &next.msgs[older]
		m.Role, m.Seal = h.msgs[h.record].Role, 0
		write(m, hosted, m.Parts)
	}
	if hosted {
		next.record--
		m, at := &next.msgs[next.record], next.record+1
		host := *m
		next.host = &host
		if m.Parts = slices.Concat(m.Parts, next.msgs[at].Parts); m.Shape != compact.Array {
			m.Shape = compact.String
		}
		next.msgs, next.pinned = slices.Delete(next.msgs, at, at+1), slices.Delete(next.pinned, at, at+1)
	}
	*h = next
}

// write sets the text of a record, which follows that of its host or is one of its
// own.
func write(m *compact.Message, hosted bool, parts []compact.Part) {
	text := ""
	for _, p := range parts {
		text += "\n\n" + strings.TrimSpace(p.Text.String())
	}
	if !hosted {
		text = strings.TrimSpace(text)
	}
	m.Parts = []compact.Part{{Kind: compact.KindText, Text: compact.Plain(text)}}
}
