package stage

import (
	"slices"
	"unicode/utf8"

	"laconic/compact"
)

// cutOversize is the last resort of a request that is still above its budget:
// tool results are cut to head and tail, recent ones included, the larger ones
// first: all to one size, as large as the budget allows. Those of the newest
// exchange come last, and keep a head whatever the budget; behind them only
// long strings in recent arguments are left to cut.
type cutOversize struct {
	// Head is the share of what stays that is taken from the start.
	Head float64 `json:"head" check:"min=0,max=1"`
}

func newCutOversize(raw []byte) (compact.Stage, error) {
	return options(&cutOversize{Head: 0.6}, raw)
}

func (s *cutOversize) Name() string { return "cut_oversize" }

const (
	// leastTokens: a result at or below this is not worth cutting; it is
	// little more than a marker.
	leastTokens = 24
	// markTokens: where less than this would stay of a result, a marker
	// stands in its place.
	markTokens = 96
	// noticeChars is about what the notice of a cut takes.
	noticeChars = 80
	// maxRounds bounds how often sizes are estimated anew; then markers stand
	// in place of whole results.
	maxRounds = 6
)

func (s *cutOversize) Shrink(d *compact.Draft) {
	s.results(d, leastTokens, func(r compact.Ref) bool { return !d.Newest(r.Message) })
	s.results(d, compact.HeadTokens, func(r compact.Ref) bool { return d.Newest(r.Message) })
	s.arguments(d)
}

// results cuts the results that of accepts to one size, floor tokens at least.
func (s *cutOversize) results(d *compact.Draft, floor int, of func(compact.Ref) bool) {
	for round := 0; ; round++ {
		var refs []compact.Ref
		var costs []int
		for _, r := range d.LastResort(leastTokens) {
			if of(r) && d.Cost(r) > floor {
				refs, costs = append(refs, r), append(costs, d.Cost(r))
			}
		}
		size := level(costs, d.Excess(), floor)
		if round >= maxRounds {
			size = floor
		}
		saved := false
		for i, r := range refs {
			if costs[i] > size && d.Excess() > 0 && s.cut(d, r, costs[i], size) {
				saved = true
			}
		}
		if !saved {
			return
		}
	}
}

// arguments shortens long strings in recent arguments, all to one length.
func (s *cutOversize) arguments(d *compact.Draft) {
	const why = "the request is above its budget"
	for _, chars := range argumentChars {
		for _, r := range d.LastArguments() {
			if text := d.Call(r).Arguments.String(); len(text) > chars && isObject(text) {
				d.CutArguments(r, shortStrings(text, chars), why)
			}
		}
	}
}

// argumentChars are the lengths, in characters, to which strings in recent
// arguments are cut one after the other, until the request fits.
var argumentChars = []int{16_000, 8000, 4000, 2000, 1000, 500, 250}

// level is the largest size, in tokens, such that cutting every result above
// that down to it saves excess; floor if none does.
func level(costs []int, excess, floor int) int {
	sorted := slices.Clone(costs)
	slices.Sort(sorted)
	slices.Reverse(sorted)
	above := 0
	for i, c := range sorted {
		above += c
		next := floor
		if i+1 < len(sorted) {
			next = sorted[i+1]
		}
		if above-(i+1)*next >= excess {
			return max(floor, (above-excess)/(i+1))
		}
	}
	return floor
}

// cut brings one result from cost tokens down to about size.
func (s *cutOversize) cut(d *compact.Draft, r compact.Ref, cost, size int) bool {
	const why = "the request is above its budget"
	text := d.Text(r).String()
	c := clipOf(text)
	if size >= markTokens {
		// Tokens are spread unevenly over a text; a little less than the
		// proportional share makes a second cut rare.
		chars := utf8.RuneCountInString(text)*size/cost*15/16 - noticeChars
		head := int(s.Head * float64(chars))
		if k := c.keep(head, chars-head); !k.whole() && d.Cut(r, k.String(), why) {
			return true
		}
	}
	if d.Newest(r.Message) {
		return false
	}
	n, marked := elidedSize(text)
	if !marked && size > leastTokens && d.Cut(r, elidedResult(text, d.CallOf(r.Message)), why) {
		return true
	}
	if !marked {
		n = c.size
	}
	bare := elided(n, ofResult)
	return text != bare && text != superseded && d.Cut(r, bare, why)
}
