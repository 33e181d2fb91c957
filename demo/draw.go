package demo

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"laconic/demo/strict"
	"laconic/number"
)

const (
	width    = 80     // of a line
	barWide  = 16     // columns of a bar
	barScale = 64_000 // tokens of a full one
)

// The colours, as ANSI parameters.
const (
	plain   = ""
	bold    = "1"
	faint   = "2"
	red     = "31"
	green   = "32"
	yellow  = "33;1"
	magenta = "35;1"
	cyan    = "36"
)

func (s *show) paint(color, text string) string {
	if !s.Color || color == plain || strings.TrimSpace(text) == "" {
		return text
	}
	return "\x1b[" + color + "m" + text + "\x1b[0m"
}

// print writes one line. Errors are ignored: the result of Run does not depend on
// the terminal.
func (s *show) print(color, line string) {
	_, _ = fmt.Fprintln(s.Out, s.paint(color, strings.TrimRight(line, " ")))
}

// paragraph writes a text in lines behind a mark.
func (s *show) paragraph(color, mark, text string) {
	line := mark
	for word := range strings.FieldsSeq(text) {
		if utf8.RuneCountInString(line+word) >= width {
			s.print(color, line)
			line = strings.Repeat(" ", utf8.RuneCountInString(mark))
		}
		line += word + " "
	}
	s.print(color, line)
}

// note writes an explanation.
func (s *show) note(color, format string, args ...any) {
	s.paragraph(color, "    · ", fmt.Sprintf(format, args...))
}

// intro writes the introduction, the legend and the table's header.
func (s *show) intro() {
	s.paragraph(plain, " ", fmt.Sprintf("A coding agent works on a small Go service. Like every client of the chat API "+
		"it sends its whole history each time. The upstream refuses broken tool pairs and every prompt above %s tokens; "+
		"the proxy is set to keep them under %s. Everything runs on this machine.", number.Of(s.Upstream.Limit()), number.Of(s.Budget)))
	s.print(plain, "")
	s.print(plain, " "+s.paint(green, "█")+" sent upstream   "+s.paint(faint, "░")+" more that the client sent   "+s.paint(yellow, "│")+" budget")
	s.print(plain, " "+s.paint(magenta, "◆")+" epoch: older messages shortened   "+s.paint(cyan, "+")+" pairs repaired")
	s.print(plain, "")
	s.print(bold, "  #  the agent        size of history   tokens → sent      the proxy  (without)")
}

// draw writes the line of a request; what says what the agent did with the answer. The
// upstream is quoted the first time that it would have refused the client's own bytes, for
// each reason.
func (s *show) draw(t *turn, what string) {
	if t.bare != nil && !s.quoted[t.bare.Kind] {
		s.quoted[t.bare.Kind] = true
		s.note(red, "Without the proxy, from here on: %d “%s”", t.bare.Status, t.bare.Message)
	}
	epoch, repair, outcome, color := " ", " ", t.header.Get("x-laconic-outcome"), plain
	if t.epoch {
		epoch = s.paint(magenta, "◆")
	}
	if t.repair {
		repair = s.paint(cyan, "+")
	}
	switch {
	case t.refused != nil:
		outcome, color = "REFUSED", red
	case outcome == "":
		outcome = "answered"
	case outcome == "untouched":
		color = faint
	}
	bare, bareColor := "(ok)", faint
	if t.bare != nil {
		bare, bareColor = "(pairs)", red
		if t.tooLong {
			bare = "(too long)"
			if t.bare.Kind == strict.KindPairs {
				bare = "(both)"
			}
		}
	}
	s.print(plain, fmt.Sprintf("%3d  %s  %s  %5s → %-5s  %s%s  %s  %s", s.requests, fit(what, 15), s.bar(t.client, t.sent),
		short(t.client), short(t.sent), epoch, repair, s.paint(color, fit(outcome, 9)), s.paint(bareColor, bare)))
	if len(s.refused) == 1 && t.refused != nil {
		s.note(red, "The client got an error: %v", t.refused)
	}
}

// bar draws the size of a request: what was sent solid, what the client sent beyond it
// light, the budget as a line.
func (s *show) bar(client, sent int) string {
	cells := func(tokens int) int { return (tokens*barWide + barScale - 1) / barScale }
	var b strings.Builder
	for i := range barWide {
		switch {
		case i == cells(s.Budget):
			b.WriteString(s.paint(yellow, "│"))
		case i < cells(sent):
			b.WriteString(s.paint(green, "█"))
		case i < cells(client):
			b.WriteString(s.paint(faint, "░"))
		default:
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// totals writes the table at the end.
func (s *show) totals() {
	s.print(plain, fmt.Sprintf("\n %s, %s, %s with repaired pairs.\n", number.Count(s.requests, "request"), number.Count(s.epochs, "epoch"), number.Count(s.repairs, "request")))
	row := func(name, whole, dropped, proxied string) {
		s.print(plain, fmt.Sprintf(" %-24s%18s%18s%18s", name, whole, dropped, proxied))
	}
	sums := func(name string, of func(b *bill) string) { row(name, of(&s.whole), of(&s.dropped), of(&s.proxied)) }
	row("", "whole history", "oldest dropped", "with the proxy")
	row("refused by the upstream", fmt.Sprintf("%d of %d", s.bareRefused, s.requests), "–", fmt.Sprintf("%d of %d", len(s.refused), s.requests))
	sums("largest prompt", func(b *bill) string { return number.Of(b.largest) })
	sums("prompt tokens in all", func(b *bill) string { return number.Of(b.prompt) })
	sums("  from a prompt cache", func(b *bill) string { return fmt.Sprintf("%d %%", (100*b.cached+b.prompt/2)/max(1, b.prompt)) })
	sums("  billed, cached at 1/10", func(b *bill) string { return number.Of(b.prompt - b.cached + b.cached/10) })
	s.print(plain, "")
	s.paragraph(faint, " ", fmt.Sprintf("Refused as the client sent it: %d too long, %d broken pairs. “Whole history” is counted as if the upstream took it. "+
		"“Oldest dropped” is the usual home-made fix: on every turn, the oldest messages are dropped until %s tokens are left. "+
		"Each turn then begins differently, and the provider's prompt cache starts anew. All tokens here are in the upstream's count.",
		s.tooLong, s.broken, number.Of(s.Budget)))
	if s.refused == nil {
		s.print(green, "\n Every request was answered.")
	}
}

// short returns a number of tokens in at most five columns.
func short(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%.1fk", float64(n)/1000)
}

// fit cuts or pads s to n columns.
func fit(s string, n int) string {
	if runes := []rune(s); len(runes) > n {
		return string(runes[:n-1]) + "…"
	}
	return fmt.Sprintf("%-*s", n, s)
}
