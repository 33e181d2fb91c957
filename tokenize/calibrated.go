package tokenize

import (
	"cmp"
	"slices"
)

// Calibration finds out, from the bills of one upstream, which of the counters of one model counts as the upstream does,
// and by which factor. A plan depends on both, so they change seldom. The factor moves in steps of 2 %: up at once, because
// a prompt that is under-counted is refused or cut, and down when three bills agree. The first three set it with no slack
// but a step: what is folded again for less loses more of the upstream's cache than the step is worth.
// After five bills both rest: the factor changes only if it is off by more than 5 %, and the way only if no factor on it
// explains the bills.
//
// Two ways of counting can differ by more than a factor of two between texts, so one factor on a wrong way is right for
// one mix of texts alone. The way is the one whose bills over counts lie closest together, and closest to
// 1. On recorded conversations three bills were enough to stay within 3 % of an upstream that counts by another
// tokenizer or by bytes, and within 15 % when the texts changed.
//
// The bill of a refusal is believed at once, in both directions, because the next attempt is sized by it. It does not go
// below a factor that was measured.
//
// A Calibration comes from [NewCalibration] and is not safe for concurrent use.
type Calibration struct {
	plain    int // the first ways, which leave nothing out
	way      int
	percent  int
	measured bool
	chosen   bool   // the way
	bills    int    // that were added; those that a known count was measured by are restful
	seen     []bill // the newest, oldest first
}

// bill has the cost of one prompt: by each way of counting, without a factor, and by the upstream.
type bill struct {
	sizes   []int
	counted int
}

const (
	// enough bills show a count.
	enough = 3
	// restful is how many bills a count comes to rest after.
	restful = 5
	// mostBills are remembered.
	mostBills = 6
	// leastBilled is the prompt, in tokens, below which a bill is mostly framing.
	leastBilled = 500

	lowestPercent  = 40
	highestPercent = 300
	percentStep    = 2
	// percentSlack is how far, in thousandths, a ratio may pass the factor before it moves up, and restingSlack how far it
	// may be off the factor either way once that rests.
	percentSlack = 20
	restingSlack = 50
	// unexplained is the score, in millionths, above which a way does not explain the bills.
	unexplained = 60_000
	// framingSlack is by how many tokens a bill may pass the count before the factor moves up: what a template may add to
	// each request, for which the reserve has room.
	framingSlack = 256
	// mostPage is how many tokens a template may add to each request before that tells a way of counting from another.
	mostPage = 60
	// leastGrowth is by how many tokens prompts must differ for their bills to show that they were read whole.
	leastGrowth = 40
	// plateau is how far, in thousandths, two counts must differ so that the same bill for both is no chance.
	plateau = 10
)

// NewCalibration starts with a way and a factor in percent that were measured before; 0 percent for none. The first plain
// of the ways leave nothing out.
func NewCalibration(plain, way, percent int) *Calibration {
	if percent <= 0 {
		return &Calibration{plain: plain, percent: 100}
	}
	percent = min(max(percent, lowestPercent), highestPercent)
	return &Calibration{plain: plain, way: way, percent: percent, measured: true, chosen: true, bills: restful}
}

// Answered adds a prompt that was answered: its size by each way of counting, without a factor, the factor in percent
// that it was planned by, and the upstream's count. cut reports whether that count shows that the upstream did not read
// the whole prompt: it is far below every way of counting, or the same as for another prompt.
func (c *Calibration) Answered(sizes []int, percent, counted int) (cut bool) {
	if c.silent(sizes, counted) {
		return false
	}
	if !c.measured {
		c.percent = percent
	}
	if beyond(sizes, counted) {
		return true
	}
	for _, b := range c.seen {
		switch {
		case b.counted == counted && slices.Equal(b.sizes, sizes):
			return false // the same request again
		case b.counted == counted && counted*100 < sizes[c.way]*c.percent && differ(b.sizes[c.way], sizes[c.way]):
			return true
		case counted < b.counted && grew(b.sizes, sizes):
			// The bill leaves out what the upstream had in its cache. The oldest bill is dropped, in case that one was wrong.
			c.seen = c.seen[1:]
			return false
		}
	}
	c.add(bill{slices.Clone(sizes), counted})
	return false
}

// Refused adds the same of a prompt that was refused as too long.
func (c *Calibration) Refused(sizes []int, percent, counted int) {
	if c.silent(sizes, counted) || beyond(sizes, counted) {
		return
	}
	if !c.measured {
		c.measured, c.percent = true, stepped(ratio(sizes[c.way], counted))
	}
	c.add(bill{slices.Clone(sizes), counted})
}

// silent reports whether a bill says nothing.
func (c *Calibration) silent(sizes []int, counted int) bool {
	return c.way >= len(sizes) || len(c.seen) > 0 && len(sizes) != len(c.seen[0].sizes) || sizes[c.way] < leastBilled || counted <= 0
}

// beyond reports whether a count is below what any way of counting may be off.
func beyond(sizes []int, counted int) bool {
	return !slices.ContainsFunc(sizes, func(n int) bool { return n > 0 && ratio(n, counted) >= 10*lowestPercent })
}

// differ reports whether two sizes are surely of different prompts.
func differ(a, b int) bool { return max(a, b)-min(a, b) > max(a, b)*plateau/1000 }

// grew reports whether a prompt is longer than another by every way of counting.
func grew(from, to []int) bool {
	return slices.EqualFunc(from, to, func(a, b int) bool { return a < b })
}

func (c *Calibration) add(b bill) {
	c.seen = append(c.seen, b)
	c.seen = c.seen[max(0, len(c.seen)-mostBills):]
	c.bills++
	up, down := percentSlack, 20*percentStep
	if c.bills > restful {
		up, down = restingSlack, restingSlack
	}
	size := b.sizes[c.way]
	if r := ratio(size, b.counted); r*100 > c.percent*(1000+up) && b.counted-size*c.percent/100 > framingSlack {
		c.percent, c.measured = stepped(r), true
	}
	if len(c.seen) < enough {
		return
	}
	if way := c.best(); way != c.way {
		c.way, c.percent = way, c.largest(way)
	} else if to := c.largest(way); !c.chosen && to < c.percent-percentStep || to*1000 <= c.percent*1000-down*100 {
		c.percent = to
	}
	c.measured, c.chosen = true, true
}

// best returns the way that explains the bills best. One that was chosen stays unless another is clearly better, and once
// it rests as long as it explains them.
func (c *Calibration) best() int {
	scores := make([]int, len(c.seen[0].sizes))
	for way := range scores {
		scores[way] = c.score(way)
	}
	plain := min(max(1, c.plain), len(scores))
	best := slices.Index(scores, slices.Min(scores[:plain]))
	if scores[best] > unexplained {
		for way := plain; way < len(scores); way++ {
			if 2*scores[way] < scores[best] && c.follows(way) {
				best = way
			}
		}
	}
	least := scores[best]
	if c.chosen && (scores[c.way] <= least+least/5+5_000 || c.bills > restful && scores[c.way] <= unexplained) {
		return c.way
	}
	return best
}

// follows reports whether the bills grew as the prompts did by a way. Those of an upstream that cuts them do not.
func (c *Calibration) follows(way int) bool {
	bySize := func(a, b bill) int { return cmp.Compare(a.sizes[way], b.sizes[way]) }
	first, last := slices.MinFunc(c.seen, bySize), slices.MaxFunc(c.seen, bySize)
	grew, billed := last.sizes[way]-first.sizes[way], last.counted-first.counted
	return grew >= leastGrowth && billed*2 >= grew && billed <= 2*grew
}

// score returns how badly a way explains the bills, in millionths: how far the ratios lie apart, which counts for a
// quarter as far as some tokens of framing in each explain it, and half of how far the newest is from 1, but for a
// hundredth. Tokens by which all bills exceed the count are the template's own and no part of the ratios, up to mostPage:
// as a factor they would favor a way that counts too much.
func (c *Calibration) score(way int) int {
	const one, framing = 1_000_000, 20
	bills, page := c.comparable(), mostPage
	for _, b := range bills {
		page = min(page, max(0, b.counted-b.sizes[way]))
	}
	low, high, last := 1<<40, 0, 0 // of the ratios
	floor, ceiling := 0, 1<<40     // of what all of them can be
	for _, b := range bills {
		size, counted := max(1, b.sizes[way]), b.counted-page
		last = counted * one / size
		low, high = min(low, last), max(high, last)
		floor, ceiling = max(floor, (counted-framing)*one/size), min(ceiling, (counted+framing)*one/size)
	}
	apart := max(0, floor-ceiling)
	off := max(0, max(last-one, one-last)-one/100)
	return apart + (high-low-apart)/4 + off/2
}

// comparable returns the newest bills, the same for all ways, without those less than half of the last: what a template
// adds by itself is a large part of them.
func (c *Calibration) comparable() []bill {
	last := c.seen[len(c.seen)-1].counted
	i := len(c.seen) - 1
	for i > 0 && 2*c.seen[i-1].counted >= last {
		i--
	}
	return c.seen[i:]
}

// largest returns the factor that the newest three bills need.
func (c *Calibration) largest(way int) int {
	most := 0
	bills := c.comparable()
	for _, b := range bills[max(0, len(bills)-enough):] {
		most = max(most, ratio(max(1, b.sizes[way]), b.counted))
	}
	return stepped(most)
}

// Count returns the way of counting that explains the bills, as an index into the sizes, and the factor on it, from 40 to
// 300. It reports whether bills have shown them.
func (c *Calibration) Count() (way, percent int, measured bool) { return c.way, c.percent, c.measured }

// ratio returns what was counted for each thousand of a size.
func ratio(size, counted int) int { return int(int64(counted) * 1000 / int64(size)) }

// stepped returns a ratio as a factor: the next step up, but for a quarter of a step, within bounds.
func stepped(ratio int) int {
	const step = 10 * percentStep
	steps := (ratio - step/4 + step - 1) / step
	return min(max(steps*percentStep, lowestPercent), highestPercent)
}
