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
	detailed, said := map[int32]bool{}, false
	for i := range p.pieces {
		q := &p.pieces[i]
		if q.on || q.class == steps && int(q.event) >= p.old {
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
	w := writer{part: p, event: -1, left: max(0, p.room-smallRoom) / namesShare, paths: map[string]string{}}
	w.b.WriteString(p.head)
	for _, q := range on {
		if e := p.at(q.event); q.on {
			w.piece(q, detailed[q.event])
		} else if e != nil {
			w.skip(e, w.late(q.event))
		}
	}
	if w.rest {
		w.b.WriteString(gap)
	}
	w.flush()
	w.b.WriteString(foot)
	return w.b.String()
}

// at returns an event; nil: what comes after the last one.
func (p *part) at(i int32) *event {
	if int(i) < len(p.events) {
		return p.events[i]
	}
	return nil
}

// writer writes pieces as lines of the record. Only lines of the record's own
// begin at the margin.
type writer struct {
	*part
	b       strings.Builder
	label   string            // of the last step, if it has no lines of its own
	times   int               // how often it comes in a row
	skipped int               // steps that were not chosen
	names   []string          // of these steps
	left    int               // bytes for names of edits, failures and actions
	paths   map[string]string // that were told whole, by their last parts; "": two were
	event   int32
	class   purpose
	region  int32 // of a file that was changed
	rest    bool  // what was written last goes on
	last    int32 // the number of the last line that was written of a body
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
	if e := w.at(w.event); e != nil {
		w.label = w.short(w.label, e.path)
	} else {
		for _, f := range w.changed {
			w.label = w.short(w.label, f.path)
		}
	}
	w.b.WriteString(w.label + "\n")
	w.label, w.times = "", 0
}

// short returns a text with a path in it cut to its last part, if the path was told whole
// and no other path with that last part was.
func (w *writer) short(text, path string) string {
	dir, at := strings.LastIndexByte(path, '/'), strings.Index(" "+text, " "+path)
	if dir < leastFolder || at < 0 || strings.IndexAny(text[at+len(path):]+" ", " ,:") != 0 {
		return text
	}
	switch was, ok := w.paths[path[dir:]]; {
	case !ok:
		w.paths[path[dir:]] = path
	case was == path:
		return text[:at] + "…" + text[at+dir:]
	default:
		w.paths[path[dir:]] = ""
	}
	return text
}

// leastFolder is the length of folders that are left out.
const leastFolder = 16

// gap stands for lines that are left out.
const gap = "  …\n"

// piece writes a piece. detailed is set if other pieces of its event follow.
func (w *writer) piece(q *piece, detailed bool) {
	text, inFile := q.text, q.class == code && q.need >= 0
	same := w.event == q.event && w.class == q.class
	if w.rest && !same {
		w.b.WriteString(gap)
	}
	w.rest = q.body != nil && (q.class == userWords || q.class >= rules) && strings.TrimSpace(q.body.between(q.span[1], len(q.body.lines))) != ""
	if q.class == steps {
		text = w.late(q.event) + text
		if !detailed { // nothing of it is told
			text = strings.TrimSuffix(text, " →")
		}
		if text != w.label || w.skipped > 0 {
			w.flush()
		}
		w.label = text
		w.times += max(1, q.times)
		w.event, w.class, w.last = q.event, q.class, 0
		return
	}
	w.flush()
	if inFile {
		if q.order>>20 != w.region || q.lines[0] > w.last+1 {
			w.b.WriteString(gap)
		}
		w.region, w.last = q.order>>20, q.lines[0]-1
	}
	label := ""
	if !same {
		w.last = 0
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
	if q.class == code && q.need < 0 {
		w.b.WriteString("as of here, " + w.short(bar(quoted(text)), w.changed[int(q.event)-len(w.events)-1].path) + "\n")
		w.event, w.class, w.last, w.region = q.event, q.class, 0, 0
		return
	}
	if q.lines[0] > 0 {
		if far := q.lines[0] > w.last+2; far && (w.last > 0 || q.class >= rules) || (q.class == prints || q.class == data) && q.lines[0] > w.last+1 {
			w.b.WriteString(gap)
		}
		w.last = q.lines[1]
	}
	w.event, w.class = q.event, q.class
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

// answered is the label of the words of a user who was asked by a call.
const answered = "the user answered: "

// late returns the mark of what was said or done before steps of the parts before.
func (p *part) late(event int32) string {
	if e := p.at(event); e != nil && int(event) >= p.old && p.begun && e.origin < p.upTo {
		return "(earlier) "
	}
	return ""
}

// isAnswer is the order of the words of a user who was asked by a call: after all else of an
// event.
const isAnswer = 1 << 30

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
	if e.path != "" { // which is told whole
		text = e.name(labelChars)
	}
	if e.outcome.verdict == refused {
		text += e.ended()
	} else {
		text += strings.TrimSuffix(cutAt(e.ended(), shortEnd), " →") // nothing of it is told
	}
	must := e.outcome.verdict == refused || e.outcome.verdict == failed && e.kind == other && w.room > smallRoom
	if w.left -= len(text); w.left >= 0 || must {
		w.names = append(w.names, w.short(late+text, e.path))
	}
}

// Names of edits, failures and actions take together one in namesShare bytes of the room above
// smallRoom: in a small part the words of users need it.
const (
	namesShare = 6
	smallRoom  = 4000
)

// shortEnd is the length of ends that are told of steps that are only named.
const shortEnd = 160
