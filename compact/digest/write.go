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
	for i := range p.pieces {
		if p.pieces[i].on || p.pieces[i].class == steps {
			on = append(on, &p.pieces[i])
		}
	}
	slices.SortStableFunc(on, func(a, b *piece) int {
		return cmp.Or(cmp.Compare(a.event, b.event), cmp.Compare(a.order, b.order))
	})
	w := writer{event: -1, read: map[string]bool{}, most: p.room/25 - 80}
	w.b.WriteString(p.head)
	detailed := map[int32]bool{}
	for _, q := range on {
		if q.on && q.class != steps {
			detailed[q.event] = true
		}
	}
	said, named := false, map[string]string{}
	for _, q := range on {
		if !q.on {
			if int(q.event) < len(p.events) {
				w.skip(p.events[q.event], q.brief)
			}
			continue
		}
		said = true
		text := q.text
		if q.class == steps || q.class == code && q.need < 0 {
			text = p.briefly(text, int(q.event), named)
		}
		w.piece(q, text, detailed[q.event])
	}
	if w.flush(); !said {
		return ""
	}
	w.b.WriteString(foot)
	return w.b.String()
}

// briefly returns the label of an event, or of the files after the last one, with
// the names of files alone where their paths were named before. named has the path
// that each name stands for.
func (p *part) briefly(label string, event int, named map[string]string) string {
	name := func(path string) {
		short := base(path)
		if at := strings.Index(label, path); len(path) < len(short)+longFolder || at < 0 || strings.IndexByte(short, '.') < 0 {
			return
		} else if was := named[short]; was == path {
			label = label[:at] + short + label[at+len(path):]
		} else if was == "" {
			named[short] = path
		}
	}
	if event >= len(p.events) {
		for _, f := range p.changed[:min(len(p.changed), mostFiles)] {
			name(f.path)
		}
		return label
	}
	e := p.events[event]
	name(e.path)
	for i := range e.changes {
		if e.changes[i].path != e.path {
			name(e.changes[i].path)
		}
	}
	return label
}

// longFolder is the length of folders that are named once.
const longFolder = 12

// writer writes pieces as lines of the record. Only lines of the record's own
// begin at the margin.
type writer struct {
	b       strings.Builder
	label   string          // of the last step, if it has no lines of its own
	times   int             // how often it comes in a row
	skipped int             // steps that were not chosen
	names   string          // of these steps
	most    int             // the length of the names
	verb    string          // of the last of them
	read    map[string]bool // the names of files that were named
	event   int32
	class   purpose
	last    int32 // the number of the last line that was written of a body
}

// flush writes the last step, and how many were skipped.
func (w *writer) flush() {
	if w.label != "" {
		if w.times > 1 {
			w.label += " (" + itoa(w.times) + " ×)"
		}
		w.b.WriteString(w.label + "\n")
	}
	switch {
	case w.skipped == 1:
		w.b.WriteString("… 1 more step" + w.names + "\n")
	case w.skipped > 1:
		w.b.WriteString("… " + itoa(w.skipped) + " more steps" + w.names + "\n")
	}
	w.label, w.times, w.skipped, w.names, w.verb = "", 0, 0, "", ""
}

// skip notes that a step was not chosen. The record names it, in a few words, and
// says how it ended or the line of its result that matters most.
func (w *writer) skip(e *event, brief string) {
	w.skipped++
	verb, name := e.name()
	most := w.most
	switch ended := e.ended(); {
	case e.outcome.verdict == refused:
		name, most = name+ended, 3*most
	case e.kind == edits, e.kind != tracks && (e.outcome.says != "" || e.inLabel() && e.result.text != ""):
		name, most = name+cutAt(ended, shortEnd), 3*most
	case e.kind == searches && brief != "":
		name, most = name+" → "+OneLine(brief, shortEnd), 3*most
	}
	switch {
	case name == "" || len(w.names) > most || strings.Contains(w.names, " "+name) || w.read[name]:
		return
	case w.names == "":
		w.names = ": " + verb + name
	case verb == w.verb:
		w.names += ", " + name
	default:
		w.names += "; " + verb + name
	}
	if w.verb = verb; e.kind == reads {
		w.read[name] = true
	}
}

// shortEnd is the length of ends that are told of steps that are only named.
const shortEnd = 60

// piece writes a piece. detailed is set if other pieces of its event follow.
func (w *writer) piece(q *piece, text string, detailed bool) {
	if q.class == steps {
		if !detailed && q.brief != "" {
			switch {
			case strings.HasSuffix(text, "→"):
				text += " " + q.brief
			case strings.HasSuffix(text, " lines)"), strings.HasSuffix(text, " line)"), strings.HasSuffix(text, " → exit 0"):
				text += ": " + q.brief
			}
		}
		if text != w.label || w.skipped > 0 {
			w.flush()
		}
		w.label = text
		w.times++
		w.event, w.class, w.last = q.event, q.class, 0
		return
	}
	w.flush()
	same := w.event == q.event && w.class == q.class
	label := ""
	if !same {
		w.last = 0
		switch {
		case q.class == userWords && q.order == isAnswer:
			label = answered
		case q.class == userWords:
			label = "user: "
		case (q.class == answers || q.class == prose) && q.need < 0:
			label = "agent: "
		}
	}
	if q.class == code && q.need < 0 {
		w.b.WriteString("as of here, " + bar(quoted(text)) + "\n")
		w.event, w.class, w.last = q.event, q.class, 0
		return
	}
	if q.lines[0] > 0 {
		if gap := q.lines[0] > w.last+2; gap && w.last > 0 {
			w.b.WriteString("  …\n")
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

// isAnswer is the order of the words of a user who was asked by a call.
const isAnswer = 1 << 30
