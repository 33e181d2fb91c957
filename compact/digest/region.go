package digest

import (
	"maps"
	"strings"
)

// difference returns the lines of a text that another one became, each behind a mark: + new,
// > one more of what was there before, and a blank for others. Behind them it has those that
// are gone, after a - or, where there are others like it, a <. Lines that both texts begin or
// end with are compared with no others.
func difference(old, new string) (lines []string) {
	sides := [2][]string{linesOf(new), linesOf(old)}
	begin, end, most := 0, 0, min(len(sides[0]), len(sides[1])) // how many are the same in both
	for begin < most && sides[0][begin] == sides[1][begin] {
		begin++
	}
	for end < most-begin && sides[0][len(sides[0])-1-end] == sides[1][len(sides[1])-1-end] {
		end++
	}
	last := sides[0][len(sides[0])-end:]
	for _, l := range sides[0][:begin] {
		lines = append(lines, " "+l)
	}
	for k := range sides {
		sides[k] = sides[k][begin : len(sides[k])-end]
	}
	for k, marks := range [2]string{" >+", " <-"} {
		other := map[string]int{}
		for _, l := range sides[1-k] {
			other[l]++
		}
		left := maps.Clone(other)
		for _, l := range sides[k] {
			left[l]--
			switch {
			case left[l] >= 0 && k == 0:
				lines = append(lines, marks[:1]+l)
			case left[l] < 0 && other[l] > 0:
				lines = append(lines, marks[1:2]+l)
			case left[l] < 0:
				lines = append(lines, marks[2:]+l)
			}
		}
		if k == 0 {
			for _, l := range last {
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
// them, or if there are none some of those that are gone.
func (g *region) now() string {
	var b strings.Builder
	var context []string // since the last line that is new, or before the first
	fresh, gone := 0, 0
	for _, l := range difference(g.old, g.new) {
		switch text := l[1:]; {
		case strings.TrimSpace(text) == "":
		case l[0] == ' ', l[0] == '>':
			context = append(context, "  "+text+"\n")
		case l[0] == '+':
			if fresh == 0 {
				context = context[max(0, len(context)-around):]
			}
			b.WriteString(strings.Join(context, "") + "+ " + text + "\n")
			fresh, context = fresh+1, nil
		case l[0] == '-' && gone < mostGone && fresh == 0:
			b.WriteString(strings.Join(context[:min(len(context), around)], "") + "- " + cutAt(text, 160) + "\n")
			gone, context = gone+1, nil
		}
	}
	if fresh > 0 {
		b.WriteString(strings.Join(context[:min(len(context), around)], ""))
	}
	return b.String()
}

// Around a line that changed so many are shown, and of a region without a new line so many
// of those that are gone.
const (
	around   = 6
	mostGone = 4
)
