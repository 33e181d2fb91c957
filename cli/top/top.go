// Package top draws what is wrong with a proxy for a terminal: the board of its page.
//
// It promises:
//
//   - legal: what clients name is quoted where it would be more than text.
//   - fitting: no line is wider than the terminal, and there are no more than it shows.
package top

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"laconic/number"
	"laconic/proxy/page"
)

// Lines returns a board in lines of at most width characters, at most height of them;
// 0: as many as it takes.
func Lines(b *page.Board, now time.Time, width, height int) []string {
	title := fmt.Sprintf("laconic %s · %s since %s", b.Version, number.Count(b.All.Requests, "request"), b.Since.Local().Format("15:04:05"))
	if b.Of != "" {
		title += " · of the replica " + name(b.Of) + " alone"
	}
	lines := []string{title, ""}
	for _, f := range b.Down {
		lines = append(lines, folded(f.String(), width)...)
	}
	if b.Store != nil {
		lines = append(lines, folded("the store: "+b.Store.Says, width)...)
	}
	for _, f := range b.Faults {
		says := fmt.Sprintf("%s, last %s ago (%s)", f.Says, now.Sub(f.Last).Round(time.Second), f.ID)
		if f.Why != "" {
			says += ": " + f.Why
		}
		lines = append(lines, folded(says, width)...)
	}
	if len(lines) == 2 {
		lines = append(lines, "nothing is wrong")
	}
	lines = append(lines, "", table("", "requests", "failed", "over", "cut", "first byte", "95 of 100", "per min", "cached"), row("all", &b.All))
	for _, part := range []struct {
		title string
		of    []page.BoardLine
	}{{"model", b.Models}, {"client", b.Keys}} {
		if len(part.of) > 0 {
			lines = append(lines, "", part.title)
		}
		for i := range part.of {
			lines = append(lines, row("  "+name(part.of[i].Name), &part.of[i]))
		}
	}
	if height > 0 {
		lines = lines[:min(len(lines), height)]
	}
	for i := range lines {
		lines[i] = cut(lines[i], width)
	}
	return lines
}

func row(title string, l *page.BoardLine) string {
	first, slow, cached := "–", "–", "–"
	if l.Median > 0 {
		first, slow = fmt.Sprint(l.Median, " ms"), fmt.Sprint(l.Slow, " ms")
	}
	if l.Prompt > 0 {
		cached = fmt.Sprint(l.Cached*100/l.Prompt, " %")
	}
	return table(title, fmt.Sprint(l.Requests), fmt.Sprint(l.Errors), fmt.Sprint(l.Over), fmt.Sprint(l.Cut), first, slow, fmt.Sprintf("%.1f", l.PerMinute), cached)
}

// table returns a line of the table. The columns that matter most come first.
func table(title string, cells ...string) string {
	line := fmt.Sprintf("%-24s", cut(title, 24))
	for _, c := range cells {
		line += fmt.Sprintf("%11s", c)
	}
	return line
}

// name returns a name that a client wrote, quoted where it is not plain.
func name(s string) string {
	if quoted := strconv.Quote(s); quoted != `"`+s+`"` {
		return quoted
	}
	return s
}

// cut returns the first width characters of a line; 0: all.
func cut(line string, width int) string {
	if width <= 0 || utf8.RuneCountInString(line) <= width {
		return line
	}
	return string([]rune(line)[:max(width-1, 0)]) + "…"
}

// folded returns a text in lines of at most width characters, the later ones indented.
func folded(text string, width int) (lines []string) {
	line := ""
	for word := range strings.FieldsFuncSeq(text, func(c rune) bool { return c == ' ' || !strconv.IsPrint(c) }) { // nothing moves the cursor
		if width > 0 && line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
			lines = append(lines, line)
			line = "   "
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}
