package stage

import (
	"errors"
	"slices"
	"unicode/utf8"

	"laconic/compact"
)

// cutOversize is the last resort of a request that is still above its budget:
// the largest tool results are cut to head and tail, recent ones included, and
// the larger ones first: all to one size, as large as the budget allows.
type cutOversize struct {
	// Head is the share of what stays that is taken from the start.
	Head float64 `json:"head"`
}

func newCutOversize(raw []byte) (compact.Stage, error) {
	return options(&cutOversize{Head: 0.6}, raw)
}

func (s *cutOversize) Name() string { return "cut_oversize" }

func (s *cutOversize) check() error {
	if s.Head < 0 || s.Head > 1 {
		return errors.New("head must be between 0 and 1")
	}
	return nil
}

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
	for round := 0; d.Excess() > 0; round++ {
		refs := d.Large(leastTokens)
		costs := make([]int, len(refs))
		for i, r := range refs {
			costs[i] = d.Cost(r)
		}
		size := level(costs, d.Excess())
		if round >= maxRounds {
			size = leastTokens
		}
		saved := false
		for i, r := range slices.Clone(refs) {
			if costs[i] > size && d.Excess() > 0 && s.cut(d, r, costs[i], size) {
				saved = true
			}
		}
		if !saved {
			return
		}
	}
}

// level is the largest size, in tokens, such that cutting every result above
// it down to it saves excess; leastTokens if none does.
func level(costs []int, excess int) int {
	sorted := slices.Clone(costs)
	slices.Sort(sorted)
	slices.Reverse(sorted)
	above := 0
	for i, c := range sorted {
		above += c
		next := leastTokens
		if i+1 < len(sorted) {
			next = sorted[i+1]
		}
		if above-(i+1)*next >= excess {
			return max(leastTokens, (above-excess)/(i+1))
		}
	}
	return leastTokens
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
		if k := c.keep(head, chars-head); !k.whole() && d.Rewrite(r, k.String(), why) {
			return true
		}
	}
	if isElided(text) {
		return false
	}
	return d.Rewrite(r, elided(c.size, ofResult), why)
}
