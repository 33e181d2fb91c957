package digest

import (
	"cmp"
	"strings"
)

// difference returns the lines of a text that another one became, each behind a mark: + new
// and a blank for others. Behind them it has those that are gone, after a -.
func difference(old, new string) (lines []string) {
	sides := [2][]string{linesOf(new), linesOf(old)}
	for k, mark := range []string{"+", "-"} {
		left := map[string]int{}
		for _, l := range sides[1-k] {
			left[l]++
		}
		for _, l := range sides[k] {
			if left[l]--; left[l] < 0 {
				lines = append(lines, mark+l)
			} else if k == 0 {
				lines = append(lines, " "+l)
			}
		}
	}
	return lines
}

func linesOf(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// around is how many lines are shown before the first line that is new and after the last.
const around = 6

// now returns the lines of a region as they are now, if some of them are new.
func (g *region) now() string {
	var lines []string
	first, last := 0, 0 // of those that are new
	for _, l := range difference(g.old, g.new) {
		if text := l[1:]; l[0] != '-' && strings.TrimSpace(text) != "" {
			if lines = append(lines, l[:1]+" "+text+"\n"); l[0] == '+' {
				last = len(lines)
				first = cmp.Or(first, last)
			}
		}
	}
	if last == 0 {
		return ""
	}
	return strings.Join(lines[max(0, first-1-around):min(len(lines), last+around)], "")
}
