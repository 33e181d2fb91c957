package digest

import "strings"

// now returns the lines of a region as they are now, each after a mark: + new, -
// removed, and a blank for what was there before.
func (g *region) now() string {
	was, is := setOfLines(g.old), setOfLines(g.new)
	var b strings.Builder
	fresh := 0
	var context []string // since the last line that is new, or before the first
	for l := range strings.SplitSeq(g.new, "\n") {
		switch {
		case strings.TrimSpace(l) == "":
		case was[l]:
			context = append(context, "  "+l+"\n")
		default:
			if fresh == 0 {
				context = context[max(0, len(context)-around):]
			}
			b.WriteString(strings.Join(context, "") + "+ " + l + "\n")
			fresh, context = fresh+1, nil
		}
	}
	b.WriteString(strings.Join(context[:min(len(context), around)], ""))
	if fresh > 0 {
		return b.String()
	} else if g.cut {
		return ""
	}
	gone := 0
	for l := range strings.SplitSeq(g.old, "\n") {
		if !is[l] && strings.TrimSpace(l) != "" {
			if gone++; gone <= mostGone {
				b.WriteString("- " + cutAt(l, 160) + "\n")
			}
		}
	}
	return b.String()
}

// around is how many lines are shown before and after those that changed.
const around = 6

func setOfLines(text string) map[string]bool {
	set := map[string]bool{}
	for l := range strings.SplitSeq(text, "\n") {
		set[l] = true
	}
	return set
}

// mostGone is how many removed lines of a region are shown.
const mostGone = 4
