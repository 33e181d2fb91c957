package demo

import (
	"fmt"
	"strings"
	"time"

	"laconic/demo/strict"
	"laconic/number"
)

// print writes one line. Errors are ignored: the result of Run does not depend on
// the terminal.
func (s *show) print(line string) { _, _ = fmt.Fprintln(s.o.Out, strings.TrimRight(line, " ")) }

// paragraph writes a text in lines of at most 100 columns.
func (s *show) paragraph(color, text string) {
	for _, line := range wrap(text, min(s.look.width, 100)-2) {
		s.print(s.look.paint(color, " "+line))
	}
}

// intro writes the introduction, the legend and the table's header.
func (s *show) intro() {
	l := &s.look
	n, _ := s.story.requests(s.o.Turns)
	limit := ""
	if most := s.o.Upstream.Limit(); most >= 0 {
		limit = fmt.Sprintf(" and every prompt above %s tokens; the proxy is set to keep them under %s", number.Of(most), number.Of(s.o.Budget))
	}
	s.paragraph(plain, fmt.Sprintf("A coding agent works on a small Go service; the story takes %s. Like every client of the chat API "+
		"it sends its whole history each time. The upstream refuses broken tool pairs%s. Everything runs on this machine.",
		number.Count(n, "request"), limit))
	s.print("")
	line, used := "", 0
	for _, e := range []struct{ color, mark, text string }{
		{green, "█", "sent upstream"},
		{faint, "░", "more that the client sent"},
		{yellow, "│", "budget"},
		{magenta, "◆", "epoch: older messages shortened"},
		{cyan, "+", "pairs repaired"},
	} {
		n := len([]rune(e.mark+e.text)) + 4
		if used+n > l.width {
			s.print(" " + line)
			line, used = "", 0
		}
		line, used = line+l.paint(e.color, e.mark)+" "+e.text+"   ", used+n
	}
	s.print(" " + line)
	s.print("")
	head := l.row(fmt.Sprintf("%*s", numberWide, "#"), fit("the agent", l.what), fit("size of history", l.bar),
		fit("tokens → sent", tokensWide), fit("", marksWide), fit("the proxy", outcomeWide), fit("(without)", bareWide))
	s.print(l.paint(bold, strings.TrimRight(head, " ")))
}

// says writes what the user types.
func (s *show) says(text string) {
	text = strings.Join(strings.Fields(text), " ")
	s.print(s.look.paint(bold, "    › "+fit(text, s.look.width-7)))
}

// note writes an explanation.
func (s *show) note(format string, args ...any) { s.noteIn(faint, fmt.Sprintf(format, args...)) }

func (s *show) noteIn(color, text string) {
	mark := "    · "
	for _, line := range wrap(text, s.look.width-7) {
		s.print(s.look.paint(color, mark+line))
		mark = "      "
	}
}

// draw writes the line of a request.
func (s *show) draw(t *turn) {
	l := &s.look
	if !l.stretched && t.own != nil { // the proxy may count more carefully than the upstream
		l.scale = max(l.scale*t.client/t.own.PromptTokens(), t.budget*5/4)
		l.stretched = true
	}
	s.explain(t)
	marks := []string{" ", " "}
	if t.epoch {
		marks[0] = l.paint(magenta, "◆")
	}
	if t.repaired() {
		marks[1] = l.paint(cyan, "+")
	}
	outcome, color := t.word()
	bare, bareColor := t.bareWord()
	s.print(l.row(fmt.Sprintf("%*d", numberWide, t.number), fit(t.what, l.what), l.barOf(t.client, t.sent, t.budget),
		fmt.Sprintf("%5s → %-5s", short(t.client), short(t.sent)), marks[0]+marks[1],
		l.paint(color, fit(outcome, outcomeWide)), l.paint(bareColor, fit("("+bare+")", bareWide))))
	if t.refused != nil {
		s.explainError(t.refused.Error())
	}
}

// explainError writes an error that the client got, unless the previous one began
// alike.
func (s *show) explainError(text string) {
	if kind := clip(text, 80); kind != s.lastError {
		s.noteIn(red, "The client got an error: "+text)
		s.lastError = kind
	}
}

// word returns the outcome of the request and its colour.
func (t *turn) word() (word, color string) {
	switch {
	case t.refused != nil:
		return "REFUSED", red
	case t.outcome == "":
		return "answered", plain
	case t.outcome == "over":
		return t.outcome, red
	case t.outcome == "untouched", t.outcome == "passed":
		return t.outcome, faint
	}
	return t.outcome, plain
}

// bareWord returns the upstream's verdict on the client's own bytes and its colour.
func (t *turn) bareWord() (word, color string) {
	switch {
	case t.bare == nil:
		return "ok", faint
	case t.tooLong && t.pairs:
		return "both", red
	case t.tooLong:
		return "too long", red
	}
	return string(t.bare.Kind), red
}

// explain quotes the upstream the first time that it would have refused the
// client's own bytes, for each reason.
func (s *show) explain(t *turn) {
	explained := &s.explainedPairs
	switch {
	case t.bare == nil, t.bare.Kind != strict.KindOverflow && !t.pairs:
		return
	case t.bare.Kind == strict.KindOverflow:
		explained = &s.explainedLong
	}
	if !*explained {
		*explained = true
		s.noteIn(red, fmt.Sprintf("Without the proxy, from here on: %d “%s”", t.bare.Status, t.bare.Message))
	}
}

// totals writes the table at the end.
func (s *show) totals() {
	took, step := time.Since(s.started), 100*time.Millisecond
	if took < time.Second {
		step = time.Millisecond
	}
	s.print("")
	s.print(fmt.Sprintf(" %s in %s, %s, %s with repaired pairs.", number.Count(s.turns, "request"), took.Round(step),
		number.Count(s.epochs, "epoch"), number.Count(s.repairs, "request")))
	s.print("")
	all := []*bill{&s.everything.bill, &s.dropped.bill, &s.proxied}
	row := func(color, name string, cell func(i int) string) {
		line := " " + fit(name, 24)
		for i := range all {
			line += fmt.Sprintf("%18s", cell(i))
		}
		s.print(s.look.paint(color, line))
	}
	row(bold, "", func(i int) string { return []string{"whole history", "oldest dropped", "with the proxy"}[i] })
	row(plain, "refused by the upstream", func(i int) string {
		return []string{fmt.Sprintf("%d of %d", s.bareRefused, s.turns), "–", fmt.Sprintf("%d of %d", s.refused, s.turns)}[i]
	})
	row(plain, "largest prompt", func(i int) string { return number.Of(all[i].largest) })
	row(plain, "prompt tokens in all", func(i int) string { return number.Of(all[i].prompt) })
	row(plain, "  from a prompt cache", func(i int) string {
		if all[i].prompt == 0 {
			return "–"
		}
		return fmt.Sprintf("%d %%", (100*all[i].cached+all[i].prompt/2)/all[i].prompt)
	})
	row(plain, "  billed, cached at 1/10", func(i int) string { return number.Of(all[i].charged()) })
	s.print("")
	s.remarks()
	s.print("")
	if s.refused > 0 {
		s.print(s.look.paint(red, fmt.Sprintf(" %s through the proxy refused.", number.Count(s.refused, "request"))))
	} else {
		s.print(s.look.paint(green, " Every request was answered."))
	}
}

// remarks writes how to read the table.
func (s *show) remarks() {
	if s.bareRefused > 0 {
		reasons := fmt.Sprintf("%d too long, %d broken pairs", s.tooLong, s.badPairs)
		if both := s.tooLong + s.badPairs - s.bareRefused; both > 0 {
			reasons += fmt.Sprintf(", %d of them both", both)
		}
		s.paragraph(faint, "Refused as the client sent it: "+reasons+".")
	}
	s.paragraph(faint, fmt.Sprintf("“Whole history” is counted as if the upstream took it. “Oldest dropped” is the usual home-made fix: on every turn, the oldest messages are dropped until %s tokens are left. "+
		"Each turn then begins differently, and the provider's prompt cache starts anew. All tokens here are in the upstream's count.", number.Of(s.o.Budget)))
	if s.overBudget > 0 {
		s.paragraph(faint, number.Count(s.overBudget, "request")+" went out above the budget.")
	}
	if s.o.Summarizer == nil {
		return
	}
	asked, updates, bytes := s.o.Summarizer.Asked()
	s.paragraph(faint, fmt.Sprintf("A stand-in for a model was asked for a summary %s, %d of them for what came since the one before: %s bytes in all. "+
		"The proxy prepares each before it is needed and sends it again in every later turn.", number.Count(asked, "time"), updates, number.Of(bytes)))
	for _, m := range s.before {
		if _, slot, ok := strings.Cut(m.Text, "[Summary of "); ok && m.Role == "user" {
			s.paragraph(faint, "What stands in the last request: “[Summary of "+clip(strings.Join(strings.Fields(slot), " "), 700)+"”")
			return
		}
	}
	s.paragraph(faint, "No summary stands in the last request.")
}
