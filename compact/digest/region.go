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

// now returns the lines of a region as they are now: those that are new, with some around
// them.
func (g *region) now() string {
	var b strings.Builder
	var context []string // since the last line that is new, or before the first
	fresh := 0
	for _, l := range difference(g.old, g.new) {
		switch text := l[1:]; {
		case strings.TrimSpace(text) == "":
		case l[0] == ' ':
			context = append(context, "  "+text+"\n")
		case l[0] == '+':
			if fresh == 0 {
				context = context[max(0, len(context)-around):]
			}
			b.WriteString(strings.Join(context, "") + "+ " + text + "\n")
			fresh, context = fresh+1, nil
		}
	}
	if fresh > 0 {
		b.WriteString(strings.Join(context[:min(len(context), around)], ""))
	}
	return b.String()
}

// around is how many lines are shown around a line that changed.
const around = 6
