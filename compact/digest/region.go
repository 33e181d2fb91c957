package digest

import "strings"

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

// now returns the lines of a region as they are now, if some of them are new.
func (g *region) now() string {
	var b strings.Builder
	fresh := false
	for _, l := range difference(g.old, g.new) {
		if text := l[1:]; l[0] != '-' && strings.TrimSpace(text) != "" {
			b.WriteString(l[:1] + " " + text + "\n")
			fresh = fresh || l[0] == '+'
		}
	}
	if !fresh {
		return ""
	}
	return b.String()
}
