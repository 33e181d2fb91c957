package digest

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"laconic/compact/agent"
	"laconic/compact/quote"
)

// text returns the chosen pieces in their order, between the head and the foot of
// the part; "" if there are none.
func (p *part) text() string {
	var on []*piece
	tells := map[int]bool{} // of which events
	for i := range p.pieces {
		if q := &p.pieces[i]; q.on || q.class == steps && !p.at(q.event).told {
			on = append(on, q)
			tells[q.event] = true
		}
	}
	if !slices.ContainsFunc(on, func(q *piece) bool { return q.on }) {
		return ""
	}
	marks := max(0, p.room-smallRoom) / markShare
	for i := len(p.events) - 1; i > 0 && marks > 0; i-- { // else a question seems to have had no answer
		if e := p.events[i]; e.class == answers && !e.told && !tells[i] && tells[i-1] && p.events[i-1].class == userWords {
			on = append(on, &piece{class: answers, event: i, need: -1, on: true, text: "…"})
			marks--
		}
	}
	slices.SortStableFunc(on, func(a, b *piece) int { return a.event - b.event })
	end := &piece{class: classes, event: -1}
	names := max(0, p.room-smallRoom) / namesShare
	w := writer{part: p, last: end, left: names, forReads: names / readsShare, read: map[string]bool{}}
	if p.written == 0 {
		fmt.Fprintf(&w.b, firstHead, p.messages)
	} else {
		fmt.Fprintf(&w.b, "\n[Record of %d more]\n", p.messages-p.written)
	}
	if p.root != "" {
		w.b.WriteString("files below " + quote.Line(quote.OneLine(p.root, mostPath)) + " are named from there, with ./ or in output as given\n")
	}
	for i, q := range on {
		if q.on {
			w.piece(q, i+1 < len(on) && on[i+1].event == q.event)
		} else if q.event < len(p.events) {
			w.skip(p.events[q.event], p.late(q.event))
		}
	}
	w.leave(end)
	w.b.WriteString(foot)
	return w.b.String()
}

// at returns an event; what comes after the last one says nothing.
func (p *part) at(i int) *event {
	if i < len(p.events) {
		return p.events[i]
	}
	return &event{Action: &agent.Action{}, origin: p.upTo}
}

// writer writes pieces as lines of the record. Only lines of the record's own
// begin at the margin.
type writer struct {
	*part
	b        strings.Builder
	last     *piece          // that was written
	skipped  int             // steps that were not chosen, since then
	failed   int             // of these
	attached int             // that were named
	names    []string        // of these steps
	named    int             // steps that have these names
	left     int             // bytes for names of edits, failures and actions
	forReads int             // bytes for names of files that were read
	read     map[string]bool // files that a label or such a name has
}

// leave writes what is left out between the last piece and the next one: lines, and steps.
func (w *writer) leave(next *piece) {
	last, from, gap := w.last, 0, false
	if last.body != nil && last.body == next.body && last.span[1] < next.span[0] && next.class > steps && next.class != data {
		if text := last.body.quoted(last.span[1], next.span[0]); len(text) < shortGap {
			w.quote(text, "")
			return
		}
	}
	switch {
	case last.body != nil && last.body == next.body:
		from = last.span[1]
	case last.body != nil:
		gap = last.event == next.event && last.class == next.class ||
			last.class != steps && last.body.says(last.span[1], len(last.body.lines))
		fallthrough
	case next.class < rules: // what somebody says may begin anywhere
		from = next.span[0]
	}
	gap = gap || next.body != nil && (next.body.says(from, next.span[0]) || next.class == data && from < next.span[0])
	if mark := " …"; gap && !strings.HasSuffix(w.b.String(), "\n"+mark+"\n") {
		if next.class == sources && w.at(next.event).result.First > 0 {
			mark += " line " + strconv.Itoa(w.at(next.event).result.First+int(next.body.lines[next.span[0]].number))
		}
		w.b.WriteString(mark + "\n")
	}
	switch names := strings.Join(w.names, "; "); {
	case w.skipped == 1 && names != "":
		w.b.WriteString(names + "\n")
	case w.skipped > 0:
		more := "… " + quote.Count(w.skipped, "more step")
		if w.failed > 0 {
			more += " (" + strconv.Itoa(w.failed) + " failed)"
		}
		if names != "" && w.named < w.skipped {
			names += "; …"
		}
		w.b.WriteString(quote.Joined(more, ": ", names) + "\n")
	}
	w.skipped, w.failed, w.named, w.names = 0, 0, 0, nil
}

// piece writes a piece. detailed is set if other pieces of its event follow.
func (w *writer) piece(q *piece, detailed bool) {
	w.leave(q)
	last, label := w.last, ""
	w.last = q
	switch {
	case q.class == steps:
		e := w.at(q.event)
		w.read[e.Path] = w.read[e.Path] || e.outcome.Verdict < agent.Failed
		text := w.late(q.event) + w.short(e, q.text)
		switch {
		case detailed:
		case unsaid.MatchString(text):
			if counts := e.result.Counts(); counts != "" {
				text = strings.TrimSuffix(text, " →") + " → " + counts
			}
			text += " …"
		case onlyCounts.MatchString(text):
			text += " …"
		}
		w.b.WriteString(text + "\n")
		return
	case last.event == q.event && last.class == q.class:
	case q.class == userWords && w.at(q.event).class == steps:
		label = "the user answered: " + w.late(q.event)
	case q.class == userWords:
		label = "user: "
		if e := w.at(q.event); e.who != "" {
			label = "user (" + quote.Line(quote.OneLine(e.who, 64)) + "): "
		}
		label += w.late(q.event)
	case (q.class == answers || q.class == prose) && q.need < 0:
		label = "agent: " + w.late(q.event)
	}
	w.quote(q.text, label)
}

// short returns the label of a step without the first lines of a file that it wrote, where the
// record has lines of that.
func (w *writer) short(e *event, label string) string {
	head, ok := w.wrote[e]
	if !ok || !w.pieces[head].on {
		return label
	}
	before, rest, found := strings.Cut(label, " lines: ")
	end := strings.LastIndex(rest, ") → ")
	if !found || end < 0 {
		return label
	}
	return before + " lines" + rest[end:]
}

// quote writes the lines of a text that is quoted, the first behind a label. Blank lines stay in code,
// whose lines somebody may count.
func (w *writer) quote(text, label string) {
	for line := range strings.SplitSeq(text, "\n") {
		if strings.TrimSpace(line) == "" {
			if label == "" && (w.last.class == code || w.last.class == sources) {
				w.b.WriteString("\n")
			}
			continue
		}
		if label != "" {
			line = strings.TrimLeft(line, " \t")
		} else {
			w.b.WriteString(" ")
		}
		w.b.WriteString(label + quote.Line(line) + "\n")
		label = ""
	}
}

// unsaid finds that a label says nothing of a result, which is there. Where nothing else is told
// of that, the label ends with a mark.
var unsaid = regexp.MustCompile(` →(?: exit -?\d+| failed)?(?: \(\d+ ×\))?$`)

// onlyCounts finds that a label says no more of a result than its lines.
var onlyCounts = regexp.MustCompile(` \((?:lines \d+–\d+|\d+ lines?(?: of it)?)\)$`)

// late returns the mark of what was said or done before steps of the parts before, or of a step of
// which these tell.
func (p *part) late(event int) string {
	switch e := p.at(event); {
	case e.told:
		return "(more of an earlier step) "
	case e.origin < p.upTo, e.origin == p.upTo && e.class == steps && p.written > 0:
		return "(earlier) "
	}
	return ""
}

// skip counts a step of which nothing else is told. The record names edits, failures and actions,
// in a few words, and files that were read, as far as their shares of the room go, and what the
// user refused or first attached. Where the room is not small, no action that failed is left out.
func (w *writer) skip(e *event, late string) {
	w.skipped += e.times
	if e.outcome.Verdict == agent.Failed {
		w.failed += e.times
	}
	attached := e.Tool == "" && e.Path != "" && w.attached < mostAttached && w.room > leastNamed
	if attached {
		w.attached++
	}
	found := e.inLabel() && e.result.Counts() != "" // or not, or how many
	if e.Kind == agent.Reads && e.Tool != "" && e.Path != "" && e.outcome.Verdict < agent.Failed && !w.read[e.Path] && w.forReads > 0 {
		name := e.Name(agent.NameChars, w.root) + " …"
		if end := e.ended(); len(name) <= w.forReads && !strings.Contains(name, "; ") && onlyCounts.MatchString(end) && !strings.Contains(end, " (1 line") {
			w.forReads -= len(name)
			w.read[e.Path] = true
			w.names, w.named = append(w.names, late+name), w.named+e.times
			return
		}
	}
	if e.Kind != agent.Edits && e.outcome.Verdict < agent.Failed && (e.Kind != agent.Other || !e.MayAct() && !found) && !attached {
		return
	}
	end := e.ended()
	if e.outcome.Verdict != agent.Refused {
		end = quote.Cut(end, shortEnd)
	}
	if first, _, _ := strings.Cut(strings.TrimSpace(e.result.Text), "\n"); unsaid.MatchString(end) { // such as the number of what was made
		first, _, _ = strings.Cut(first, "; ") // which stands between steps
		end += " " + quote.OneLine(first, shortResult) + " …"
	}
	text := w.short(e, e.Name(agent.NameChars, w.root)+end+e.row())
	must := attached || e.outcome.Verdict == agent.Refused || e.outcome.Verdict == agent.Failed && e.Kind == agent.Other && w.room > smallRoom
	if must || len(text) <= w.left {
		w.left -= len(text)
		w.names, w.named = append(w.names, late+text), w.named+e.times
	}
}
