package stage

import (
	"slices"
	"unicode/utf8"

	"laconic/compact"
)

// cutOversize is the last resort of a request that is still above its budget. It
// cuts tool results to head and tail, recent ones included, all to one size, as
// large as the budget allows. Results of the newest exchange are cut last and
// always keep a head. After them, long strings in recent arguments are cut.
type cutOversize struct{}

func (s *cutOversize) Name() string { return "cut_oversize" }

const (
	// leastTokens is the size up to which a result is not worth cutting.
	leastTokens = 24
	// markTokens is the size below which a marker replaces the whole result.
	markTokens = 96
	// noticeChars is about the length of a clip's notice.
	noticeChars = 80
	// maxRounds bounds how often sizes are estimated anew. After that, markers
	// replace whole results.
	maxRounds = 6
	// aboveBudget is the reason that edits of this stage state.
	aboveBudget = "the request is above its budget"
)

func (s *cutOversize) Shrink(d *compact.Draft) {
	s.results(d, false, leastTokens)
	s.results(d, true, compact.HeadTokens)
	for chars := 16_000; chars >= 250; chars /= 2 { // long strings in recent arguments, all to one length
		for _, r := range d.LastArguments() {
			if text := d.Call(r).Arguments.String(); len(text) > chars && compact.IsObject(text) {
				d.RewriteArguments(r, shortStrings(text, chars), aboveBudget)
			}
		}
	}
}

// results cuts the results of the newest exchange, or those of all others, to
// one size of at least floor tokens.
func (s *cutOversize) results(d *compact.Draft, newest bool, floor int) {
	for round := 0; ; round++ {
		var refs []compact.Ref
		var costs []int
		for _, r := range d.LastResort(leastTokens) {
			if d.Newest(r.Message) == newest && d.Cost(r) > floor {
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

// level returns the largest size, in tokens, such that cutting every larger
// result down to it saves excess; floor if no size does.
func level(costs []int, excess, floor int) int {
	sorted := append(slices.SortedFunc(slices.Values(costs), func(a, b int) int { return b - a }), floor)
	above := 0
	for i, next := range sorted[1:] {
		above += sorted[i]
		if above-(i+1)*next >= excess {
			return max(floor, (above-excess)/(i+1))
		}
	}
	return floor
}

// cut shortens one result from cost tokens to about size, and reports whether it
// did.
func (s *cutOversize) cut(d *compact.Draft, r compact.Ref, cost, size int) bool {
	text := d.Part(r).Text.String()
	c := clipOf(text)
	if size >= markTokens {
		// Tokens are spread unevenly over a text. A little less than the
		// proportional share makes a second cut rare.
		chars := utf8.RuneCountInString(text)*size/cost*15/16 - noticeChars
		head := int(headShare * float64(chars))
		if k := c.keep(head, chars-head); !k.whole() && d.Rewrite(r, k.String(), aboveBudget) {
			return true
		}
	}
	if d.Newest(r.Message) {
		return false
	}
	n, marked := elidedSize(text)
	if !marked && size > leastTokens && d.Rewrite(r, elidedResult(text, d.CallOf(r.Message)), aboveBudget) {
		return true
	}
	if !marked {
		n = c.size
	}
	bare := elided(n, ofResult)
	return text != bare && text != superseded && d.Rewrite(r, bare, aboveBudget)
}
