package digest

import (
	"cmp"
	"slices"
)

// shortFile is the length of a file that is quoted for being short: settings
// and tasks are, and they are read once, early.
const shortFile = 2000

// shortFiles quotes the lines of short files that name something: those first
// that hold most words of the task, then as they were read. It returns the
// tokens spent.
func (q *quotes) shortFiles(room int) (spent int) {
	last := map[string]*source{} // by label
	for i := range q.sources {
		if s := &q.sources[i]; s.role.Result() && s.call != nil && len(s.text) <= shortFile && s.call.reads() && !isCode(s.text) {
			last[s.label()] = s
		}
	}
	type line struct {
		*source
		excerpt
		words int
	}
	var lines []line
	terms := q.terms()
	for i := range q.sources {
		s := &q.sources[i]
		if s.call == nil || last[s.label()] != s {
			continue
		}
		names(s.text, func(from, to int) {
			e := lineOf(s.text, from, to)
			if n := len(lines); n == 0 || lines[n-1].source != s || lines[n-1].excerpt != e {
				lines = append(lines, line{s, e, terms.in(e.in[e.from:e.to])})
			}
		})
	}
	slices.SortStableFunc(lines, func(a, b line) int { return cmp.Compare(b.words, a.words) })
	for _, l := range lines {
		if room-spent < 8 || q.misses > mostMisses {
			break
		}
		spent += q.take(l.source, l.excerpt, room-spent)
	}
	return spent
}
