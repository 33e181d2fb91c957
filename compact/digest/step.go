package digest

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
)

// step adds a call: what was done, how it ended, and the lines of its result that
// decide.
func (p *part) step(i int, e *event, times int) {
	w := p.weights[i]
	most, score := min(labelChars, max(leastLabel, p.room/6)), float32(1.5)
	switch {
	case e.outcome.verdict == refused: // however long ago: the user still does not want it
		score, w = 14, 1
	case p.tasks[e.tool] == e, e.kind == other && e.mayAct(): // what is to do, or what somebody was told, stands in the label
		most, score = max(most, min(toldChars, p.room/8)), 10
	case e.kind == runs && !e.shows && e.inLabel() && len(withDigits.FindAllString(e.result.text, 2)) > 1: // what was measured
		score = 7
	case e.kind == tracks:
		score = 0.1
	case e.outcome.verdict == failed, e.kind == runs && !e.shows:
		score = 4
	}
	name, ended := e.name(most, p.root), e.ended()
	if e.kind == reads && e.path != "" && p.files.later(e) != nil {
		if name += ", before its last change"; e.inLabel() {
			ended = "" // it says what no longer is
		}
	}
	if e.waits {
		name += " (it went on)"
	}
	if e.again && !e.inLabel() { // what is told already is not told again
		ended += " (the same output as in an earlier run)"
	}
	if times > 1 {
		ended += " (" + strconv.Itoa(times) + " ×)"
	}
	head := p.add(piece{class: steps, event: i, text: name + ended, score: score * w, need: -1})
	if next := p.at(i + 1); next != nil && next.waits && next.action == e.action {
		p.pieces[head].score = -1 // it comes with others alone
	}
	if e.outcome.verdict == refused {
		return
	}
	switch e.kind {
	case tracks, edits:
	case asks:
		p.asked(i, e, head)
	case plans, reports:
		p.says(piece{class: answers, event: i, order: 1, need: head}, e.text, 1.6, p.room/4)
	case sends:
		p.says(piece{class: findings, event: i, order: 1, need: head}, e.result.text, 0.9, p.room/5)
	case reads:
		p.source(i, e, head)
	default:
		p.printed(i, e, head)
	}
}

// label returns the line of a step: what was done, and how it ended.
func (e *event) label(n int) string { return e.name(n, "") + e.ended() }

// ended returns how a step ended, as its label says it.
func (e *event) ended() string {
	verdict, says, text, exit := e.outcome.verdict, e.outcome.says, strings.TrimSpace(e.result.text), ""
	if e.result.coded {
		exit = "exit " + strconv.Itoa(e.result.code)
	}
	if verdict == failed && e.result.code == 0 {
		exit = "failed"
	}
	switch from, n := e.result.first, countLines(e.result.text); {
	case verdict == refused && says != "":
		return e.hint() + ` → refused by the user, who said: "` + says + `"`
	case verdict == refused:
		return e.hint() + " → refused by the user"
	case verdict == unknown && !e.answered: // the result stays
		return e.hint()
	case verdict == failed:
		return " → " + joined(exit, ": ", says)
	case e.kind == edits && verdict == passed:
		return e.hint() + " → " + cmp.Or(says, "done")
	case e.kind == edits:
		return " → " + says
	case e.kind == asks, e.kind == reports && text == "": // the user's words are told
		return ""
	case text == "":
		return " → " + joined(exit, ", ", "no output")
	case e.inLabel():
		return " → " + OneLine(strings.ReplaceAll(text, "\n", lineMark), shortResult+32)
	case verdict == passed && exit+says != "":
		return " → " + joined(exit, ": ", says)
	case e.kind == reads && (e.result.object != unknown || e.result.rows > 0): // its lines are ours
		return " (JSON)"
	case e.kind == reads && from > 1:
		return " (lines " + strconv.Itoa(from) + "–" + strconv.Itoa(from+n-1) + ")"
	case e.kind == reads && e.values.member("limit viewrange endline") != "":
		return " (" + count(n, "line") + " of it)"
	case e.kind == reads:
		return " (" + count(n, "line") + ")"
	}
	return " →"
}

// countLines returns how many lines a text has.
func countLines(text string) int { return strings.Count(strings.TrimRight(text, "\n"), "\n") + 1 }

// led returns a text after a mark, if there is a text.
func led(mark, text string) string {
	if text == "" {
		return ""
	}
	return mark + text
}

// hint returns what an edit touches: how many lines, and the first that are new.
func (e *event) hint() string {
	added, gone, all, whole := 0, 0, "", false
	for k := range e.changes {
		fresh, n := difference(e.changes[k].old, e.changes[k].new)
		added, gone, whole = added+len(fresh), gone+n, whole || e.changes[k].how == written
		for _, l := range fresh {
			if l = strings.TrimSpace(l); len(all) < shortResult && !isComment(l) {
				all = joined(all, lineMark, l)
			}
		}
	}
	size := "+" + strconv.Itoa(added) + " −" + strconv.Itoa(gone)
	switch {
	case added+gone == 0:
		return ""
	case whole: // nobody knows what was there
		size = count(added, "line")
	}
	return " (" + size + led(": ", OneLine(all, shortResult)) + ")"
}

// inLabel reports whether a result is so short that the label has it: a line, or a few that a
// search found.
func (e *event) inLabel() bool {
	text := strings.TrimSpace(e.result.text)
	return len(text) <= shortResult && (strings.IndexByte(text, '\n') < 0 || e.kind == searches && strings.Count(text, "\n") < 4)
}

// asked adds what the user was asked, with the options, and what the user
// answered.
func (p *part) asked(i int, e *event, head int) {
	var texts []string
	e.values.each(func(text string) { texts = append(texts, text) })
	question := len(p.pieces)
	p.says(piece{class: answers, event: i, order: 1, need: head}, strings.Join(texts, "\n"), 4, max(1200, p.room/6))
	if question == len(p.pieces) {
		question = head
	}
	if text := strings.Join(strings.Fields(e.result.text), " "); text != "" {
		p.add(piece{class: userWords, event: i, order: isAnswer, text: cutAt(text, 1200), score: 25, need: question})
	}
}

// lists finds commands that only name files.
var lists = regexp.MustCompile(`^(?:ls|find|tree|fd)\b`)
