package digest

import (
	"strconv"
	"strings"

	"laconic/compact/agent"
	"laconic/compact/quote"
)

// step adds a call: what was done, how it ended, and the lines of its result that
// decide.
func (p *part) step(i int, e *event) {
	w := p.weights[i]
	most, score := min(labelChars, max(leastLabel, p.room/6)), float32(1.5)
	switch {
	case e.outcome.Verdict == agent.Refused: // however long ago: the user still does not want it
		score, w = 14, 1
	case p.tasks[e.Tool] == e, e.Kind == agent.Other && e.MayAct(): // what is to do, or what somebody was told, stands in the label
		most, score = max(most, min(agent.ToldChars, p.room/8)), 10
	case e.Kind == agent.Runs && !e.Shows && e.inLabel() && len(withDigits.FindAllString(e.result.Text, 2)) > 1, // what was measured
		agent.IsCommit(e.outcome.Says):
		score = 7
	case e.Kind == agent.Tracks:
		score = 0.1
	case e.outcome.Verdict == agent.Failed, e.Kind == agent.Runs && !e.Shows:
		score = 4
	}
	name, ended := e.Name(most, p.root), e.ended()
	if e.Kind == agent.Reads && e.Path != "" && p.files.later(e) != nil {
		if name += ", before its last change"; e.inLabel() {
			ended = "" // it says what no longer is
		}
	}
	if e.waits {
		name += " (it went on)"
	}
	if e.again && !e.inLabel() && e.times == 1 { // what is told already is not told again
		ended += " (the same output as before)"
	}
	head := p.add(piece{class: steps, event: i, text: name + ended + e.row(), score: score * w, need: -1})
	n := i + 1
	for ; n < len(p.events) && (p.events[n].class == answers || p.events[n].class == prose); n++ { // what the agent says meanwhile
	}
	if next := p.at(n); e.told || next.waits && next.Action == e.Action {
		p.pieces[head].score = -1 // it comes with others alone
	}
	switch {
	case e.outcome.Verdict == agent.Refused, e.Kind == agent.Tracks, e.Kind == agent.Edits:
	case e.Kind == agent.Asks:
		p.asked(i, e, head)
	case e.Kind == agent.Plans, e.Kind == agent.Reports:
		p.says(piece{class: answers, event: i, need: head}, e.Text, 1.6, p.room/4)
	case e.Kind == agent.Sends:
		p.says(piece{class: findings, event: i, need: head}, e.result.Text, 0.9, p.room/5)
	case e.Kind == agent.Reads:
		p.source(i, e, head)
	default:
		p.printed(i, e, head)
	}
}

// row returns how often a step came in a row.
func (e *event) row() string {
	if e.times < 2 {
		return ""
	}
	return " (" + strconv.Itoa(e.times) + " ×)"
}

// ended returns how a step ended, as its label says it.
func (e *event) ended() string {
	verdict, says, text, exit := e.outcome.Verdict, e.outcome.Says, strings.TrimSpace(e.result.Text), ""
	if e.result.Coded {
		exit = "exit " + strconv.Itoa(e.result.Code)
	}
	if verdict == agent.Failed && e.result.Code == 0 {
		exit = "failed"
	}
	switch from, n := e.result.First, strings.Count(strings.TrimRight(e.result.Text, "\n"), "\n")+1; {
	case verdict == agent.Refused && says != "":
		return e.hint() + ` → refused by the user, who said: "` + says + `"`
	case verdict == agent.Refused:
		return e.hint() + " → refused by the user"
	case e.missing:
		return e.hint() + " → no result"
	case verdict == agent.Unknown && !e.answered: // the result stays
		return e.hint()
	case verdict == agent.Failed && says+text == "":
		return " → " + exit + ", no output"
	case verdict == agent.Failed:
		return " → " + quote.Joined(exit, ": ", says)
	case e.Kind == agent.Edits && verdict == agent.Passed:
		return e.hint() + " → done"
	case e.Kind == agent.Edits:
		return " → " + says
	case e.Kind == agent.Asks, (e.Kind == agent.Plans || e.Kind == agent.Reports) && (text == "" || text == "Done"): // the user's words are told
		return ""
	case e.result.Running != "":
		return " → still running " + e.result.Running
	case text == "":
		return " → " + quote.Joined(exit, ", ", "no output")
	case e.inLabel():
		return " → " + quote.OneLine(strings.ReplaceAll(text, "\n", quote.LineMark), 2*shortResult+32)
	case verdict == agent.Passed && exit+says != "":
		return " → " + quote.Joined(exit, ": ", says)
	case e.Kind == agent.Reads && e.result.Made:
		return " (JSON)"
	case e.Kind == agent.Reads && from > 1 && e.Command == "":
		return " (lines " + strconv.Itoa(from) + "–" + strconv.Itoa(from+n-1) + ")"
	case e.Kind == agent.Reads && (e.result.Part || e.Values.Member("limit viewrange endline linerange") != ""):
		return " (" + quote.Count(n, "line") + " of it)"
	case e.Kind == agent.Reads:
		return " (" + quote.Count(n, "line") + ")"
	}
	return " →"
}

// hint returns what an edit touches: how many lines, and the first that are new.
func (e *event) hint() string {
	var added, gone []string
	all, whole, each := "", false, ""
	for k := range e.Changes {
		fresh, old := difference(e.Changes[k].Old, e.Changes[k].New)
		if e.Changes[k].All && len(e.Changes) == 1 {
			each = " at each place"
		}
		added, gone, whole = append(added, fresh...), append(gone, old...), whole || e.Changes[k].How == agent.Written || e.Changes[k].How == agent.Changed
	}
	lines, first, mark := added, "", ""
	if len(added) == 0 {
		lines, first = gone, "without "
	}
	for _, l := range lines {
		if l = strings.TrimSpace(l); l != "" && len(all) < shortResult && !agent.IsComment(l) {
			all = quote.Joined(all, quote.LineMark, l)
		} else if all == "" && l != "" {
			mark = "… "
		}
	}
	if all == "" { // it only imports or explains
		all, mark = strings.TrimSpace(strings.Join(lines, quote.LineMark)), ""
	}
	if all != "" {
		all = first + mark + all
	}
	size := "+" + strconv.Itoa(len(added)) + " −" + strconv.Itoa(len(gone)) + each
	switch {
	case len(added)+len(gone) == 0:
		return ""
	case whole: // nobody knows what was there
		size = quote.Count(len(added), "line")
	}
	return " (" + quote.Joined(size, ": ", quote.OneLine(all, shortResult)) + ")"
}

// inLabel reports whether a result is so short that the label has it: a line, or a few that a
// search found.
func (e *event) inLabel() bool {
	text := strings.TrimSpace(e.result.Text)
	if e.Kind == agent.Searches {
		return len(text) <= 2*shortResult && strings.Count(text, "\n") < 4
	}
	return len(text) <= shortResult && strings.IndexByte(text, '\n') < 0 && e.result.Running == ""
}

// asked adds what the user was asked, with the options, and what the user
// answered.
func (p *part) asked(i int, e *event, head int) {
	var texts []string
	e.Values.Each(func(text string) { texts = append(texts, text) })
	question := len(p.pieces)
	p.says(piece{class: answers, event: i, need: head}, strings.Join(texts, "\n"), 4, max(1200, p.room/6))
	if question == len(p.pieces) {
		question = head
	}
	if text := strings.Join(strings.Fields(e.result.Text), " "); text != "" {
		p.add(piece{class: userWords, event: i, text: quote.Cut(text, 1200), score: 25, need: question})
	}
}
