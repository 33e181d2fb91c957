package tokenize

// Calibration is what the usage of answers says about a counter for one model behind one upstream: a factor, in
// steps of 5 %. A plan depends on the factor, so it moves seldom. It goes up at once, because a prompt that is
// under-counted is refused, and down rarely, because one that is over-counted only has less room.
//
// The factor is the largest of the last 20 ratios of true to counted tokens, from the fifth on. The largest, because
// upstreams that reuse a cache may report less than they read, and texts differ: a factor has to hold for the next
// request too. Peers that take a mean under-count half of the time.
//
// The zero value is not ready; use NewCalibration. It is a value without a lock.
type Calibration struct {
	percent int
	ratios  [calibrationSamples]int // in thousandths; a ring
	n       int                     // samples so far
	lower   int                     // samples in a row by which a smaller factor would do
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
)

// NewCalibration starts with a factor in percent; 100 for none.
func NewCalibration(percent int) *Calibration {
	return &Calibration{percent: min(max(percent, calibrationLowest), calibrationHighest)}
}

// Answered adds a prompt that was answered: what the counter made of it before any factor, and what the upstream
// counted. Small prompts say nothing, and neither do prompts that the upstream cut: cut tells of one that it counted
// so far below the counter that it cannot have read all of it.
func (c *Calibration) Answered(estimate, counted int) (cut bool) {
	if estimate < leastSample || counted <= 0 {
		return false
	}
	if ratio(estimate, counted) < truncated {
		return true
	}
	c.add(ratio(estimate, counted))
	return false
}

func (c *Calibration) add(sample int) {
	c.ratios[c.n%calibrationSamples] = sample
	c.n++
	if c.n < calibrationLeast {
		return
	}
	largest := 0
	for _, r := range c.ratios[:min(c.n, calibrationSamples)] {
		largest = max(largest, r)
	}
	switch to := stepped(largest); {
	case to > c.percent:
		c.percent, c.lower = to, 0
	case to < c.percent:
		if c.lower++; c.lower >= calibrationPatience {
			c.percent, c.lower = to, 0
		}
	default:
		c.lower = 0
	}
}

// Refused adds a prompt that was refused as too long, with the upstream's own count. One is enough: to be wrong
// again costs a refused request.
func (c *Calibration) Refused(estimate, counted int) {
	if estimate < leastSample || counted <= 0 {
		return
	}
	c.ratios[c.n%calibrationSamples] = min(ratio(estimate, counted), 10*calibrationHighest)
	c.n++
	if to := stepped(ratio(estimate, counted)); to > c.percent {
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
