package digest

import (
	"slices"
	"strconv"
)

// nameRun is a run of names that differ by a number which counts up: 1000…1245,
// Kind4_68…Kind4_91. It is one entry of the list of names.
type nameRun struct {
	first, last string
	listed      bool // it is in the list of names
	quoted      bool // an excerpt has one of its names
}

// minRun is how many names make a run.
const minRun = 3

// numbered is a name without its last number.
type numbered struct {
	before, after string // what precedes and follows the number
	digits        int    // of the number if it begins with a zero, else 0
}

// numberOf splits a name at its last number. ok is false if the name has none
// or the number is too large.
func numberOf(name string) (kind numbered, n int, ok bool) {
	to := len(name)
	for to > 0 && class[name[to-1]] != digit {
		to--
	}
	from := to
	for from > 0 && class[name[from-1]] == digit {
		from--
	}
	n, err := strconv.Atoi(name[from:to])
	if err != nil || to-from > 9 {
		return kind, 0, false
	}
	kind = numbered{before: name[:from], after: name[to:]}
	if name[from] == '0' {
		kind.digits = to - from
	}
	return kind, n, true
}

// markRuns sets the runs of names.
func markRuns(all []*nameStat) {
	type member struct {
		n int
		s *nameStat
	}
	families := map[numbered][]member{}
	for _, s := range all {
		if kind, n, ok := numberOf(s.name); ok {
			families[kind] = append(families[kind], member{n, s})
		}
	}
	for _, f := range families {
		if len(f) < minRun {
			continue
		}
		slices.SortFunc(f, func(a, b member) int { return a.n - b.n })
		for i := 0; i < len(f); {
			j := i + 1
			for j < len(f) && f[j].n == f[j-1].n+1 {
				j++
			}
			if j-i >= minRun {
				run := &nameRun{first: f[i].s.name, last: f[j-1].s.name}
				for _, m := range f[i:j] {
					m.s.run = run
				}
			}
			i = j
		}
	}
}
