package replay

import (
	"math"
	"time"
)

// times is a histogram of durations in classes five percent wide: quantiles over
// any number of requests take the same memory.
type times struct {
	classes [timeClasses]uint32
	n       uint64
}

// The classes reach from a microsecond to above ten minutes.
const (
	timeClasses = 420
	classWidth  = 1.05
)

func (t *times) record(d time.Duration) {
	c := 0
	if us := float64(d) / float64(time.Microsecond); us > 1 {
		c = min(int(math.Ceil(math.Log(us)/math.Log(classWidth))), timeClasses-1)
	}
	t.classes[c]++
	t.n++
}

func (t *times) add(o *times) {
	for i, n := range o.classes {
		t.classes[i] += n
	}
	t.n += o.n
}

// quantile returns the upper end of the class with the quantile q, 0 to 1, or 0
// if nothing was recorded.
func (t *times) quantile(q float64) time.Duration {
	if t.n == 0 {
		return 0
	}
	rank := uint64(math.Ceil(q * float64(t.n)))
	seen := uint64(0)
	for c, n := range t.classes {
		if seen += uint64(n); seen >= max(rank, 1) {
			return time.Duration(math.Pow(classWidth, float64(c)) * float64(time.Microsecond))
		}
	}
	return 0
}
