package digest

import (
	"cmp"
	"slices"
)

// shortFile is the length up to which a file counts as short. Settings and
// tasks are short, and an agent reads them once, early.
const shortFile = 2000

// shortFiles quotes the lines of short files that name something: first those
// with most words of the task, then in the order in which they were read. It
// returns the tokens spent.
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
		for from, to := range names(s.text) {
			e := lineOf(s.text, from, to)
			if n := len(lines); n == 0 || lines[n-1].source != s || lines[n-1].excerpt != e {
				lines = append(lines, line{s, e, terms.in(e.in[e.from:e.to])})
			}
		}
	}
	slices.SortStableFunc(lines, func(a, b line) int { return cmp.Compare(b.words, a.words) })
	for _, l := range lines {
		if room-spent < 8 || q.misses > maxMisses {
			break
		}
		spent += q.take(l.source, l.excerpt, room-spent)
	}
	return spent
}
