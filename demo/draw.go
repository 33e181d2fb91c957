package demo

import (
	"fmt"
	"strings"

	"laconic/demo/strict"
)

// print writes one line. A terminal that went away is no reason to stop: the verdict counts.
func (s *show) print(line string) { _, _ = fmt.Fprintln(s.o.Out, strings.TrimRight(line, " ")) }

// intro says what will be seen and how to read it.
func (s *show) intro() {
	l := s.look
	n := requests(s.beats)
	if s.o.Turns > 0 {
		n = min(n, s.o.Turns)
	}
	limit := ""
	if most := s.o.Upstream.Limit(); most >= 0 {
		limit = fmt.Sprintf(" and every prompt above %s tokens; the proxy shall keep them under %s", thousands(most), thousands(s.o.Budget))
	}
	for _, line := range wrap(fmt.Sprintf("A coding agent works on a small Go service; the story takes %s. Like every client of the chat API "+
		"it sends its whole history each time. The upstream refuses broken tool pairs%s. Everything runs on this machine.",
		plural(n, "request"), limit), min(l.width, 100)-2) {
		s.print(" " + line)
	}
	s.print("")
	legend := []struct{ color, mark, text string }{
		{green, "█", "sent upstream"},
		{faint, "░", "more that the client sent"},
		{yellow, "│", "budget"},
		{magenta, "◆", "epoch: older messages shortened"},
		{cyan, "+", "pairs repaired"},
	}
	line, used := "", 0
	for _, e := range legend {
		item := l.paint(e.color, e.mark) + " " + e.text + "   "
		if n := len([]rune(e.mark + e.text)); used+n+4 > l.width {
			s.print(" " + line)
			line, used = item, n+4
		} else {
			line += item
			used += n + 4
		}
	}
	s.print(" " + line)
	s.print("")
	head := fmt.Sprintf("%s %s %s %s    %s %s", right("#", 3), fit("the agent", l.what), fit("size of the history", l.bar),
		fit("tokens → sent", tokensWide), fit("the proxy", outcomeWide), fit("(without)", bareWide))
	if l.stages > 0 {
		head += " " + fit("by", l.stages)
	}
	s.print(l.paint(bold, head))
}

// requests is how many requests the story makes.
func requests(beats []beat) (n int) {
	for _, b := range beats {
		if b.user == "" {
			n++
		}
	}
	return n
}

// says shows what the person types.
func (s *show) says(text string) {
	text = strings.Join(strings.Fields(text), " ")
	s.print(s.look.paint(bold, "    › "+fit(text, s.look.width-7)))
}

// note explains something that the numbers do not.
func (s *show) note(format string, args ...any) { s.noteIn(faint, fmt.Sprintf(format, args...)) }

func (s *show) noteIn(color, text string) {
	for i, line := range wrap(text, s.look.width-7) {
		mark := "    · "
		if i > 0 {
			mark = "      "
		}
		s.print(s.look.paint(color, mark+line))
	}
}

// draw shows one request.
func (s *show) draw(t turn) {
	l := &s.look
	if !l.stretched && t.own != nil { // the proxy may count more carefully than the upstream
		l.scale = max(l.scale*t.client/t.own.PromptTokens(), t.budget*5/4)
		l.stretched = true
	}
	s.explain(t)

	marks := l.paint(magenta, mark(t.epoch, "◆")) + l.paint(cyan, mark(t.repaired(), "+"))
	outcome, color := t.word()
	bare, bareColor := t.bareWord()
	line := strings.Join([]string{
		right(fmt.Sprint(t.number), 3), fit(t.what, l.what), l.barOf(t.client, t.sent, t.budget),
		right(short(t.client), 5) + " → " + fit(short(t.sent), 5), marks,
		l.paint(color, fit(outcome, outcomeWide)), l.paint(bareColor, fit("("+bare+")", bareWide)),
	}, " ")
	if l.stages > 0 && t.stages != s.lastStages { // between epochs they stay as they are
		line += " " + l.paint(faint, fit(t.stages, l.stages))
	}
	if !t.aside {
		s.lastStages = t.stages
	}
	s.print(line)
	if t.refused != nil {
		s.explainError(t.refused.Error())
	}
}

func mark(yes bool, m string) string {
	if yes {
		return m
	}
	return " "
}

// explainError shows an error that the client got, unless it was of the same kind a moment ago.
func (s *show) explainError(text string) {
	kind := string([]rune(text)[:min(len([]rune(text)), 80)])
	if kind != s.lastError {
		s.noteIn(red, "The client got an error: "+text)
		s.lastError = kind
	}
}

// word is what happened to the request, and its colour.
func (t *turn) word() (string, string) {
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

// bareWord is what the upstream says to the client's own bytes.
func (t *turn) bareWord() (string, string) {
	switch {
	case t.bare == nil:
		return "ok", faint
	case t.tooLong && t.pairs:
		return "both", red
	case t.tooLong:
		return "too long", red
	case t.pairs:
		return "pairs", red
	}
	return string(t.bare.Kind), red
}

// explain quotes the upstream the first time that it would have refused the client's own bytes, for each reason.
func (s *show) explain(t turn) {
	if t.bare == nil {
		return
	}
	if overflow := t.bare.Kind == strict.KindOverflow; overflow && !s.explainedLong {
		s.explainedLong = true
	} else if t.pairs && !s.explainedPairs {
		s.explainedPairs = true
	} else {
		return
	}
	s.noteIn(red, fmt.Sprintf("Without the proxy, from here on: %d “%s”", t.bare.Status, t.bare.Message))
}
