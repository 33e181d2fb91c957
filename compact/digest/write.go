package digest

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

func itoa(n int) string { return strconv.Itoa(n) }

// text returns the chosen pieces in their order, between the head and the foot of
// the part; "" if there are none.
func (p *part) text() string {
	var on []*piece
	detailed, said := map[int]bool{}, false
	for i := range p.pieces {
		q := &p.pieces[i]
		if q.on || q.class == steps && q.event >= p.old {
			on = append(on, q)
		}
		said = said || q.on
		detailed[q.event] = detailed[q.event] || q.on && q.class != steps
	}
	if !said {
		return ""
	}
	slices.SortStableFunc(on, func(a, b *piece) int {
		return cmp.Or(cmp.Compare(a.event, b.event), cmp.Compare(a.order, b.order))
	})
	w := writer{part: p, event: -1, left: max(0, p.room-smallRoom) / namesShare}
	w.b.WriteString(p.head)
	for _, q := range on {
		if e := p.at(q.event); q.on {
			w.piece(q, detailed[q.event])
		} else if e != nil {
			w.skip(e, w.late(q.event))
		}
	}
	w.leave(nil, false)
	w.flush()
	w.b.WriteString(foot)
	return w.b.String()
}

// at returns an event; nil: what comes after the last one.
func (p *part) at(i int) *event {
	if i < len(p.events) {
		return p.events[i]
	}
	return nil
}

// writer writes pieces as lines of the record. Only lines of the record's own
// begin at the margin.
type writer struct {
	*part
	b       strings.Builder
	label   string   // of the last step, if it has no lines of its own
	times   int      // how often it comes in a row
	skipped int      // steps that were not chosen
	names   []string // of these steps
	left    int      // bytes for names of edits, failures and actions
	event   int
	class   purpose
	body    *body // of which lines were written last
	next    int   // the line behind these
}

// flush writes the last step, and how many were skipped.
func (w *writer) flush() {
	w.writeStep()
	switch names := strings.Join(w.names, "; "); {
	case w.skipped == 1 && names != "":
		w.b.WriteString(names + "\n")
	case w.skipped > 0:
		w.b.WriteString("… " + count(w.skipped, "more step") + led(": ", names) + "\n")
	}
	w.skipped, w.names = 0, nil
}

// writeStep writes the last step.
func (w *writer) writeStep() {
	if w.label == "" {
		return
	}
	if w.times > 1 {
		w.label += " (" + itoa(w.times) + " ×)"
	}
	w.b.WriteString(w.label + "\n")
	w.label, w.times = "", 0
}

// leave ends the body of which lines were written, if the next lines are of another: same if
// that is of the same file.
func (w *writer) leave(next *body, same bool) {
	if w.body == next {
		return
	}
	if w.body != nil && (same || (w.class == userWords || w.class >= rules) && strings.TrimSpace(w.body.between(w.next, len(w.body.lines))) != "") {
		w.gap()
	}
	w.body, w.next = nil, 0
}

// gap writes the mark of lines that are left out.
func (w *writer) gap() {
	if mark := "  …\n"; !strings.HasSuffix(w.b.String(), mark) {
		w.b.WriteString(mark)
	}
}

// piece writes a piece. detailed is set if other pieces of its event follow.
func (w *writer) piece(q *piece, detailed bool) {
	same := w.event == q.event && w.class == q.class
	if q.class == steps {
		text := w.late(q.event) + q.text
		if !detailed { // nothing of it is told
			text = strings.TrimSuffix(text, " →")
		}
		w.leave(nil, false)
		if text != w.label || w.skipped > 0 {
			w.flush()
		}
		w.label = text
		w.times += max(1, q.times)
		w.event, w.class = q.event, q.class
		return
	}
	w.leave(q.body, same)
	w.flush()
	if q.class == code && q.need < 0 {
		w.b.WriteString("as of here, " + bar(quoted(q.text)) + "\n")
		w.event, w.class = q.event, q.class
		return
	}
	if q.body != nil {
		if w.body == nil && q.class < rules {
			w.next = q.span[0]
		}
		if strings.TrimSpace(q.body.between(w.next, q.span[0])) != "" || q.class == data && q.span[0] > w.next {
			w.gap()
		}
		w.body, w.next = q.body, q.span[1]
	}
	w.event, w.class = q.event, q.class
	label := ""
	if !same {
		switch {
		case q.class == userWords && q.order == isAnswer:
			label = answered
		case q.class == userWords:
			label = "user: "
			if e := w.at(q.event); e != nil && e.who != "" {
				label = "user (" + bar(OneLine(e.who, 64)) + "): "
			}
		case (q.class == answers || q.class == prose) && q.need < 0:
			label = "agent: "
		}
		if label != "" {
			label += w.late(q.event)
		}
	}
	for line := range strings.SplitSeq(q.text, "\n") {
		if strings.TrimSpace(line) == "" {
			continue
		}
		if label != "" {
			line = strings.TrimLeft(line, " \t")
		} else {
			w.b.WriteString("  ")
		}
		w.b.WriteString(label)
		label = ""
		w.b.WriteString(bar(quoted(line)))
		w.b.WriteByte('\n')
	}
}

// late returns the mark of what was said or done before steps of the parts before.
func (p *part) late(event int) string {
	if e := p.at(event); e != nil && event >= p.old && p.begun && e.origin < p.upTo {
		return "(earlier) "
	}
	return ""
}

// skip counts a step of which nothing else is told. The record names edits, failures and
// actions, in a few words with their end, as far as their share of the room goes, and
// what the user refused. Where the room is not small, no action that failed is left out.
func (w *writer) skip(e *event, late string) {
	w.writeStep()
	w.skipped++
	if e.kind != edits && e.outcome.verdict < failed && (e.kind != other || !e.mayAct()) {
		return
	}
	text := e.name(nameChars)
	if e.outcome.verdict == refused {
		text += e.ended()
	} else {
		text += strings.TrimSuffix(cutAt(e.ended(), shortEnd), " →") // nothing of it is told
	}
	must := e.outcome.verdict == refused || e.outcome.verdict == failed && e.kind == other && w.room > smallRoom
	if w.left -= len(text); w.left >= 0 || must {
		w.names = append(w.names, late+text)
	}
}
