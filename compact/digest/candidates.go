package digest

import (
	"cmp"
	"container/heap"
	"slices"
	"strings"

	"laconic/compact"
)

// candidate is a line that may be quoted, or the line of a call.
type candidate struct {
	*source
	excerpt
	ofCall  bool // it is the line of a call
	order   int
	names   []*nameStat // in it, each once
	worth   float64
	weighed int // how often its worth fell
	place   int // in the queue, or -1

	before, after *candidate // of the same source
}

const (
	// maxCandidates bounds how many names are considered for each token of room,
	// maxWeighed how often a candidate is weighed again.
	maxCandidates = 2
	maxWeighed    = 4
	// lineCost is the cost of a line beside its own text, in bytes.
	lineCost = 8
	// A name that is in the record already is worth toldShare of another in a line
	// of its own, and one whose last occurrence is elsewhere elsewhereShare.
	toldShare      = 0.3
	elsewhereShare = 0.5
	// runShare is for a name of a run of which the record has another.
	runShare = 0.1
	// argumentBytes is the length up to which arguments are quoted beyond the line
	// of their call.
	argumentBytes = 8192
)

// candidates returns the lines of the last occurrences of the likeliest names,
// those most worth quoting first.
func (q *quotes) candidates(room int) *queue {
	type place struct{ number, from, to int }
	seen := map[place]bool{}
	var all []*candidate
	for _, s := range q.names[:min(len(q.names), maxCandidates*room)] {
		c := &candidate{source: s.source, order: len(all)}
		if !c.find(s) || seen[place{s.number, c.from, c.to}] {
			continue
		}
		seen[place{s.number, c.from, c.to}] = true
		text := c.in[c.from:c.to]
		for from, to := range names(text) {
			if n := q.index.names[text[from:to]]; n != nil && n.latest >= 0 && n.visible == 0 && !slices.Contains(c.names, n) {
				c.names = append(c.names, n)
			}
		}
		c.worth = q.worth(c)
		all = append(all, c)
	}
	next := slices.Clone(queue(all))
	for i, c := range next {
		c.place = i
	}
	heap.Init(&next)
	slices.SortFunc(all, func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(a.number, b.number), cmp.Compare(a.from, b.from), cmp.Compare(a.order, b.order))
	})
	for i := 1; i < len(all); i++ {
		if a, b := all[i-1], all[i]; a.source == b.source && !a.ofCall && !b.ofCall {
			a.after, b.before = b, a
		}
	}
	return &next
}

// find sets the line of the last occurrence of a name, and reports whether there
// is one to quote.
func (c *candidate) find(s *nameStat) bool {
	if !s.argument {
		c.excerpt = lineOf(s.text, int(s.from), int(s.to))
		if s.run == nil {
			c.excerpt = c.beside(int(s.from), int(s.to))
		}
		return true
	}
	if line := s.call.line(); strings.Contains(line, s.name) {
		c.excerpt, c.ofCall = excerpt{line, 0, len(line)}, true
		return true
	}
	if len(s.call.arguments) > argumentBytes {
		return false
	}
	from := strings.LastIndex(s.call.arguments, s.name)
	if from < 0 {
		return false // it spans an escape
	}
	c.excerpt = around(s.call.arguments, from, from+len(s.name))
	return true
}

// worth returns how much of what is likely to be needed and not in the record yet
// a candidate has, per byte that it would take.
func (q *quotes) worth(c *candidate) float64 {
	sum, fresh := 0.0, c.role != compact.User // the words of users have a section
	for _, s := range c.names {
		v := s.score * float64(2+len(s.name))
		here := s.source == c.source && (c.argument || int(s.from) >= c.from && int(s.to) <= c.to)
		switch {
		case !q.index.tells(s):
			fresh = true
			if !here {
				v *= elsewhereShare
			}
		case s.source != c.source:
			v = 0
		case s.told == q.index.anew:
			v *= toldShare
		case c.to-c.from < 2*len(s.name):
			v = 0 // 1001 after 1000
		default:
			v *= runShare
		}
		sum += v
	}
	if !fresh {
		return 0
	}
	bytes := c.to - c.from
	if p := q.passages[c.number]; p != nil && !c.ofCall {
		e, _, _, had := c.merge(p.excerpts)
		if had > 0 {
			bytes = e.to - e.from - had - lineCost
		}
	}
	return sum / float64(max(1, bytes+lineCost))
}

// queue is a heap of candidates: the one that is worth most is first.
type queue []*candidate

func (q queue) Len() int { return len(q) }

func (q queue) Less(i, j int) bool {
	a, b := q[i], q[j]
	return a.worth > b.worth || a.worth == b.worth && a.order < b.order
}

func (q queue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].place, q[j].place = i, j
}

// Push implements [heap.Interface].
func (q *queue) Push(c any) {
	c.(*candidate).place = len(*q)
	*q = append(*q, c.(*candidate))
}

// Pop implements [heap.Interface].
func (q *queue) Pop() any {
	last := len(*q) - 1
	c := (*q)[last]
	c.place = -1
	*q = (*q)[:last]
	return c
}
