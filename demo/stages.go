package demo

import (
	"slices"
	"strconv"
	"strings"
)

// stagesLine reads the proxy's list of what it did, "elide_results;n=4;saved=1200, repair;n=1" (a structured
// list, RFC 9651), into a line for people: what stands in the slot, then the largest saving first, "summary hit,
// elide_results −1.2k, repair".
func stagesLine(header string) string {
	type stage struct {
		name  string
		saved int
		state bool
	}
	var all []stage
	for item := range strings.SplitSeq(header, ",") {
		name, params, _ := strings.Cut(strings.TrimSpace(item), ";")
		if name == "" {
			continue
		}
		s := stage{name: name}
		for p := range strings.SplitSeq(params, ";") {
			if n, ok := strings.CutPrefix(p, "saved="); ok {
				s.saved, _ = strconv.Atoi(n) // not a number: nothing is said of it
			} else if p != "" && !strings.Contains(p, "=") {
				s.name += " " + p // as in summary;hit
				s.state = true
			}
		}
		all = append(all, s)
	}
	slices.SortStableFunc(all, func(a, b stage) int {
		switch {
		case a.state != b.state && a.state:
			return -1
		case a.state != b.state:
			return 1
		}
		return b.saved - a.saved
	})
	var words []string
	for _, s := range all {
		if s.saved > 0 {
			s.name += " −" + short(s.saved)
		}
		words = append(words, s.name)
	}
	return strings.Join(words, ", ")
}
