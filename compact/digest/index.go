package digest

import (
	"cmp"
	"slices"
)

// index knows the names in what left and in what the model reads.
type index struct {
	names map[string]*nameStat
	lost  []*nameStat // those in what left
	fresh []*nameStat // those in what left since the newest part
	turn  int32       // how many parts were chosen
	anew  int32       // how often the record was made anew
	found int32       // how many names were found in what left
	read  int         // how many bytes were read

	spare     []nameStat
	forgotten []*nameStat // which are used again
}

func newIndex() index { return index{names: map[string]*nameStat{}} }

// The number of names is bounded, because a name takes 150 bytes of memory and may
// be four bytes long: to leastKnown and one for bytesPerName bytes that were read.
// Agent runs have one name in a hundred bytes, and fewer the longer they are. If
// half of so many left, the less likely of these are forgotten.
const (
	leastKnown   = 1 << 12
	bytesPerName = 128
)

// most returns how many names may be known.
func (x *index) most() int { return leastKnown + x.read/bytesPerName }

// limit forgets names if too many left. messages is the number of messages that
// left so far. The names that were found in a text must be lost before.
func (x *index) limit(messages int) {
	if n := x.most() / 2; len(x.lost) >= n {
		x.prune(n/2, messages)
	}
}

// A record that is made anew remembers so many of the likeliest names for each
// token of its size, but at least leastNames.
const (
	namesPerToken = 4
	leastNames    = 512
)

// sighting is a name at [from, to) of a text.
type sighting struct {
	*nameStat
	from, to int32
}

// of returns what is known of a name, or nil if there are too many names.
func (x *index) of(name string) *nameStat {
	s := x.names[name]
	if s == nil && len(x.names) < x.most() {
		s = x.unused()
		*s = nameStat{name: name}
		s.forget()
		x.names[name] = s
	}
	return s
}

// unused returns memory for a name.
func (x *index) unused() (s *nameStat) {
	if n := len(x.forgotten); n > 0 {
		s, x.forgotten = x.forgotten[n-1], x.forgotten[:n-1]
		return s
	}
	if len(x.spare) == 0 {
		x.spare = make([]nameStat, 64)
	}
	s, x.spare = &x.spare[0], x.spare[1:]
	return s
}

// lose adds the names of a text that left. messages is the number of messages
// that left so far.
func (x *index) lose(src *source, messages int) {
	near := proximity{last: -nearBytes - 1}
	for _, f := range src.found {
		s := f.nameStat
		near.observe(s, int(f.from), int(f.to))
		if s.latest < 0 {
			s.order = x.found
			x.found++
			x.lost = append(x.lost, s)
		}
		if s.turn <= x.turn {
			s.turn = x.turn + 1
			x.fresh = append(x.fresh, s)
		}
		s.observe(src, f.from, f.to)
	}
}

// next returns the names of the next part, most likely needed first: those in
// what left since the newest part, or with anew set all, that no kept message and
// no part has; at most n.
func (x *index) next(n, messages int, anew bool) []*nameStat {
	list := x.fresh
	if anew {
		x.anew++
		list = x.lost
	}
	next := make([]*nameStat, 0, len(list))
	for _, s := range list {
		if s.visible == 0 && s.latest >= 0 && (anew || !x.tells(s)) {
			s.score = s.weight(messages)
			next = append(next, s)
		}
	}
	next = next[:selectBest(next, n)]
	slices.SortFunc(next, byScore)
	markRuns(next)
	x.turn++
	x.fresh = x.fresh[:0]
	return next
}

// byScore compares names: what is likelier to be needed comes first.
func byScore(a, b *nameStat) int {
	if a.score != b.score {
		return cmp.Compare(b.score, a.score)
	}
	return cmp.Compare(a.order, b.order)
}

// selectBest moves the n best names of a list to its beginning. It returns how
// many these are.
func selectBest(list []*nameStat, n int) int {
	if n >= len(list) {
		return len(list)
	}
	low, high := 0, len(list)
	for range maxRounds {
		pivot := list[low+(high-low)/2]
		i, j := low, high-1
		for i <= j {
			for byScore(list[i], pivot) < 0 {
				i++
			}
			for byScore(list[j], pivot) > 0 {
				j--
			}
			if i <= j {
				list[i], list[j] = list[j], list[i]
				i++
				j--
			}
		}
		switch {
		case n <= j:
			high = j + 1
		case n >= i:
			low = i
		default:
			return n
		}
	}
	slices.SortFunc(list[low:high], byScore)
	return n
}

// maxRounds bounds how often a list is parted to find its best. Half as many do,
// unless the list was made to defy that.
const maxRounds = 48

// tell notes that the record has the names of a text.
func (x *index) tell(text string) {
	for from, to := range names(text) {
		if s := x.names[text[from:to]]; s != nil {
			s.told = x.anew
			if s.run != nil {
				s.run.quoted = true
			}
		}
	}
}

// tells reports whether the record has a name, or one of its run.
func (x *index) tells(s *nameStat) bool {
	return s.told == x.anew || s.run != nil && (s.run.listed || s.run.quoted)
}

// close notes that the names of runs in the record are there too.
func (x *index) close(names []*nameStat) {
	for _, s := range names {
		if s.run != nil && s.run.listed {
			s.told = x.anew
		}
		s.run = nil
	}
}

// prune forgets all but the n likeliest of the names in what left.
func (x *index) prune(n, messages int) {
	if len(x.lost) <= n {
		return
	}
	for _, s := range x.lost {
		s.score = s.weight(messages)
	}
	for _, s := range x.lost[selectBest(x.lost, n):] {
		if s.forget(); s.visible == 0 {
			delete(x.names, s.name)
			x.forgotten = append(x.forgotten, s)
		}
	}
	x.fresh = slices.DeleteFunc(x.fresh, func(s *nameStat) bool { return s.latest < 0 })
	clear(x.lost[n:])
	x.lost = x.lost[:n]
}
