package digest

import "slices"

// interest knows what the work is about: the terms that the messages which stay,
// the users and the assistant name. A line is worth what its terms are, and less
// the more lines have them.
type interest struct {
	terms map[string]int32
	list  []term
	most  int
	long  int   // the length of the longest line
	lines int32 // that were counted
	open  bool  // names that are met become terms
}

type term struct {
	want  float32 // how much it is spoken of
	lines float32 // how many lines of results have it
	last  int32   // the last of them
	price float32 // what it adds to a line, once all lines are counted
}

// The number of terms is bounded: leastTerms, and one for bytesPerTerm bytes that
// are read.
const (
	leastTerms   = 1 << 12
	bytesPerTerm = 384
	mostWanted   = 6
	// met is how much a name of a result is wanted that nobody speaks of, and
	// before the share of a price that a line has if a later one has the term too.
	met    = 0.3
	before = 0.4
)

func newInterest(long int) *interest {
	return &interest{terms: map[string]int32{}, most: leastTerms, long: long}
}

// feed notes that a text of some weight speaks of its terms. Plain words are
// terms only with words set, as in what users say.
func (x *interest) feed(text string, weight float32, words bool) {
	x.most += len(text) / bytesPerTerm
	for t := range terms(text) {
		if !words && !t.name {
			continue
		}
		i, ok := x.of(t)
		if !ok {
			continue
		}
		w := weight
		if !t.name {
			w /= 4
		}
		x.list[i].want = min(x.list[i].want+w, mostWanted)
	}
}

// of returns the number of a term, or false if there are too many.
func (x *interest) of(t word) (i int32, ok bool) {
	if i, ok = x.terms[t.text]; ok || len(x.list) >= x.most {
		return i, ok
	}
	i = int32(len(x.list))
	x.terms[t.text] = i
	x.list = append(x.list, term{})
	return i, true
}

// close computes the prices of the terms.
func (x *interest) close() {
	for i := range x.list {
		t := &x.list[i]
		t.price = max(t.want, met) * 1.3 / (1 + 0.1*t.lines/max(1, t.want))
	}
}

// sum returns the interest of a line with some terms: the dearest counts whole,
// others less.
func (x *interest) sum(ids []int32, line int32) float32 {
	var best best
	for k, id := range ids {
		p := x.list[id].price
		if x.list[id].last != line {
			p *= before
		}
		if !slices.Contains(ids[:min(k, 16)], id) {
			best.add(p)
		}
	}
	return best[0] + best[1]*0.71 + best[2]*0.58 + best[3]*0.5
}

// best are the largest of some numbers, in falling order.
type best [4]float32

func (b *best) add(s float32) {
	for i := range b {
		b[i], s = max(b[i], s), min(b[i], s)
	}
}

func (b *best) sum() float32 { return b[0] + b[1] + b[2] + b[3] }
