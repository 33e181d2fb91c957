package demo

import (
	"fmt"
	"strings"
	"time"
)

// totals is the table at the end.
func (s *show) totals() {
	l := s.look
	took, step := time.Since(s.started), 100*time.Millisecond
	if took < time.Second {
		step = time.Millisecond
	}
	s.print("")
	s.print(fmt.Sprintf(" %s in %s, %s, %s.", plural(s.turns, "request"), took.Round(step),
		plural(s.epochs, "epoch"), plural(s.repairs, "request")+" with repaired pairs"))
	s.print("")

	reasons := ""
	if s.bareRefused > 0 {
		reasons = fmt.Sprintf("%d too long, %d broken pairs", s.tooLong, s.badPairs)
		if both := s.tooLong + s.badPairs - s.bareRefused; both > 0 {
			reasons += fmt.Sprintf(", %d of them both", both)
		}
	}
	rows := [][4]string{
		{"", "whole history", "oldest dropped", "with the proxy"},
		{"refused by the upstream", fmt.Sprintf("%d of %d", s.bareRefused, s.turns), "–", fmt.Sprintf("%d of %d", s.refused, s.turns)},
		{"largest prompt", thousands(s.everything.largest), thousands(s.dropped.largest), thousands(s.proxied.largest)},
		{"prompt tokens in all", thousands(s.everything.prompt), thousands(s.dropped.prompt), thousands(s.proxied.prompt)},
		{"  from a prompt cache", s.everything.share(), s.dropped.share(), s.proxied.share()},
		{"  billed, cached at 1/10", thousands(s.everything.charged()), thousands(s.dropped.charged()), thousands(s.proxied.charged())},
	}
	for i, row := range rows {
		line := " " + fit(row[0], 24)
		for _, cell := range row[1:] {
			line += right(cell, 18)
		}
		if i == 0 {
			line = l.paint(bold, line)
		}
		s.print(line)
	}
	s.print("")
	s.remarks(reasons)
}

// remarks says how to read the table.
func (s *show) remarks(reasons string) {
	var lines []string
	if reasons != "" {
		lines = append(lines, fmt.Sprintf("Refused as the client sent it: %s.", reasons))
	}
	lines = append(lines, fmt.Sprintf("“Whole history” is counted as if the upstream took it. “Oldest dropped” is what clients do by hand: every turn the oldest messages go until %s tokens are left. "+
		"Each turn then begins differently, and the provider's prompt cache starts anew. All tokens here are in the upstream's count.", thousands(s.o.Budget)))
	if s.overBudget > 0 {
		lines = append(lines, fmt.Sprintf("%s went out above the budget.", plural(s.overBudget, "request")))
	}
	if s.o.Summarizer != nil {
		lines = append(lines, s.summaries()...)
	}
	for _, line := range lines {
		for _, part := range wrap(line, min(s.look.width, 100)-2) {
			s.print(s.look.paint(faint, " "+part))
		}
	}
	s.print("")
	if s.refused > 0 {
		s.print(s.look.paint(red, fmt.Sprintf(" %s through the proxy refused.", plural(s.refused, "request"))))
	} else {
		s.print(s.look.paint(green, " Every request was answered."))
	}
}

// share is how much of the prompts a cache could serve.
func (b *bill) share() string {
	if b.prompt == 0 {
		return "–"
	}
	return fmt.Sprintf("%d %%", (100*b.cached+b.prompt/2)/b.prompt)
}

// plural is "1 epoch" or "2 epochs".
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// summaries says what was asked of the summarizer and what came of it.
func (s *show) summaries() (lines []string) {
	asked, updates, bytes := s.o.Summarizer.Asked()
	lines = append(lines, fmt.Sprintf("A stand-in for a model was asked for a summary %s, %d of them for what came since the one before: %s bytes in all. "+
		"The proxy prepares each before it is needed and sends it again in every later turn.", plural(asked, "time"), updates, thousands(bytes)))
	for _, m := range s.before {
		if _, slot, ok := strings.Cut(m.Text, "[Summary of "); ok && m.Role == "user" {
			return append(lines, "What stands in the last request: “[Summary of "+clip(strings.Join(strings.Fields(slot), " "), 700)+"”")
		}
	}
	return append(lines, "No summary stands in the last request.")
}
