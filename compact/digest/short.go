package digest

import (
	"cmp"
	"slices"
)

// shortFile is the length up to which a file counts as short. Settings and
// tasks are short, and an agent reads them once, early.
const shortFile = 2000

// nameLine is a line that names something.
type nameLine struct {
	*source
	excerpt
}

// readShort finds the lines of a result that is a short file.
func (r *Record) readShort(s *source) {
	if s.call == nil || len(s.text) > shortFile || !s.call.reads() || isCode(s.text) {
		return
	}
	for _, f := range s.found {
		e := lineOf(s.text, int(f.from), int(f.to))
		if n := len(s.lines); n == 0 || s.lines[n-1].excerpt != e {
			s.lines = append(s.lines, nameLine{s, e})
		}
	}
	if len(s.lines) > 0 {
		r.all.short = append(r.all.short, s)
	}
}

// shortFiles quotes the lines of short files: first those with most words of the
// task, then in the order in which they were read. It returns the tokens spent.
func (q *quotes) shortFiles(room int) (spent int) {
	last := map[string]*source{} // by label
	for _, s := range q.short {
		last[s.label()] = s
	}
	type ranked struct {
		nameLine
		words int // of the task that the line has
	}
	var lines []ranked
	for _, s := range q.short {
		if last[s.label()] != s {
			continue
		}
		for _, l := range s.lines {
			lines = append(lines, ranked{l, q.task.words.in(l.in[l.from:l.to])})
		}
	}
	slices.SortStableFunc(lines, func(a, b ranked) int { return cmp.Compare(b.words, a.words) })
	for _, l := range lines {
		if room-spent < 8 || q.misses > maxMisses {
			break
		}
		spent += q.take(l.source, l.excerpt, room-spent)
	}
	return spent
}
