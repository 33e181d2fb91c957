package tokenize

import "slices"

// Calibration is what the usage of answers says about a counter for one model behind one upstream: a factor, in
// steps of 5 %. A plan depends on the factor, so it moves seldom. It goes up at once, because a prompt that is
// under-counted is refused, and down rarely, because one that is over-counted only has less room.
//
// The factor is the largest of the last 20 ratios of true to counted tokens, from the fifth on. The largest, because
// upstreams that reuse a cache may report less than they read, and texts differ: a factor has to hold for the next
// request too. Peers that take a mean under-count half of the time.
//
// What a refusal counts is believed at once, in both directions: it decides what is sent in the place of what was
// refused, and a factor that is too large takes room from that. It does not go below what an answer asked for, nor below a
// factor that was known from the start.
//
// The zero value is not ready; use NewCalibration. It is a value without a lock.
type Calibration struct {
	percent int
	known   bool                    // it started with a factor that was measured
	ratios  [calibrationSamples]int // in thousandths; a ring
	n       int                     // samples so far
	lower   int                     // samples in a row by which a smaller factor would do
	// last is the last answer that was held against its estimate. An upstream that cuts prompts counts the same for
	// different ones.
	last struct{ estimate, counted int }
}

const (
	calibrationSamples = 20
	calibrationLeast   = 5 // samples before they count
	calibrationStep    = 5 // percent
	calibrationLowest  = 70
	calibrationHighest = 150
	// calibrationSlack is how far, in thousandths, a ratio may pass a step before the next one is taken: an exact
	// counter is off by some framing.
	calibrationSlack = 10
	// calibrationPatience is how many samples in a row must agree before the factor goes down.
	calibrationPatience = calibrationSamples
	// leastSample is the estimate, in tokens, below which a sample is mostly framing.
	leastSample = 500
	// truncated is the ratio, in thousandths, below which the upstream did not read the whole prompt: no family is
	// over-counted that much. Ollama, MiMo and z.ai drop what does not fit without a word.
	truncated = 500
	// plateau is how far, in thousandths, two estimates must differ so that the same count for both is no chance.
	plateau = 10
)

// NewCalibration starts with a factor in percent; 100 for none.
func NewCalibration(percent int) *Calibration {
	return &Calibration{percent: min(max(percent, calibrationLowest), calibrationHighest), known: percent != 100}
}

// Answered adds a prompt that was answered: what the counter made of it before any factor, and what the upstream
// counted. Small prompts say nothing, and neither do prompts that the upstream cut: cut tells of one that it counted
// so far below the counter that it cannot have read all of it, or exactly as it counted another one.
func (c *Calibration) Answered(estimate, counted int) (cut bool) {
	if estimate < leastSample || counted <= 0 {
		return false
	}
	if ratio(estimate, counted) < truncated {
		return true
	}
	again := false
	if counted == c.last.counted && counted < estimate {
		if farApart(estimate, c.last.estimate) {
			return true
		}
		again = estimate == c.last.estimate
	} else {
		c.last.estimate, c.last.counted = estimate, counted
	}
	c.add(ratio(estimate, counted), again)
	return false
}

// farApart tells whether two estimates are surely of different prompts. The first of a plateau is what the others are held
// against, so that small steps add up.
func farApart(a, b int) bool { return max(a, b)-min(a, b) > max(a, b)*plateau/1000 }

// add takes a sample. One that came before says nothing new: it does not bring the factor down.
func (c *Calibration) add(sample int, again bool) {
	c.ratios[c.n%calibrationSamples] = sample
	c.n++
	if c.n < calibrationLeast {
		return
	}
	switch to := stepped(c.largest()); {
	case to > c.percent:
		c.percent, c.lower = to, 0
	case again:
	case to < c.percent:
		if c.lower++; c.lower >= calibrationPatience {
			c.percent, c.lower = to, 0
		}
	default:
		c.lower = 0
	}
}

// largest is the largest ratio that is remembered.
func (c *Calibration) largest() int { return slices.Max(c.ratios[:min(c.n, calibrationSamples)]) }

// Refused adds a prompt that was refused as too long, with the upstream's own count. One is enough: to be wrong
// again costs a refused request.
func (c *Calibration) Refused(estimate, counted int) {
	if estimate < leastSample || counted <= 0 || ratio(estimate, counted) < truncated {
		return
	}
	c.ratios[c.n%calibrationSamples] = min(ratio(estimate, counted), 10*calibrationHighest)
	c.n++
	to := stepped(ratio(estimate, counted))
	if to < c.percent {
		if c.known && c.n < calibrationSamples {
			return
		}
		to = min(stepped(c.largest()), c.percent)
	}
	if to != c.percent {
		c.percent, c.lower = to, 0
	}
}

// Percent is the factor, from 70 to 150.
func (c *Calibration) Percent() int { return c.percent }

func ratio(estimate, counted int) int { return int(int64(counted) * 1000 / int64(estimate)) }

// stepped is a ratio in thousandths as a factor: the next step up, within bounds.
func stepped(ratio int) int {
	steps := max(0, ratio-calibrationSlack+calibrationStep*10-1) / (calibrationStep * 10)
	return min(max(steps*calibrationStep, calibrationLowest), calibrationHighest)
}
