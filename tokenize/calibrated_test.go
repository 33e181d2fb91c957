package tokenize

import (
	"fmt"
	"strings"
	"testing"
)

// A trace is a list of counts for each 1,000 tokens that were estimated, of
// prompts of different sizes, with the factor after each: "900:100" is an
// answer, "!1200:120" a refusal, "950x4:100" four answers.
func TestTheFactorOfACounter(t *testing.T) {
	f := func(name, trace string) {
		t.Helper()
		c, size := NewCalibration(100), 0
		for i, step := range strings.Fields(trace) {
			what, want, _ := strings.Cut(step, ":")
			what, refused := strings.CutPrefix(what, "!")
			var counted, times, percent int
			if _, err := fmt.Sscanf(what, "%dx%d", &counted, &times); err != nil {
				times = 1
				_, _ = fmt.Sscan(what, &counted)
			}
			_, _ = fmt.Sscan(want, &percent)
			for range times {
				size = size%7 + 1
				if refused {
					c.Refused(size*1000, size*counted)
				} else {
					c.Answered(size*1000, size*counted)
				}
			}
			if c.Percent() != percent {
				t.Errorf("%s: after step %d (%s) the factor is %d", name, i+1, step, c.Percent())
			}
		}
	}
	f("four are too few", "1200x4:100 1200:120")
	f("up at once", "1000x5:100 1010:100 1011:105 1060:105 1061:110")
	f("the largest of them", "700x4:100 1100:110 700x19:110")
	f("down rarely", "1200x5:120 800x18:120 800x10:120 800x30:80")
	f("a dip is no step down", "1000x20:100 800x19:100 1000:100 800x38:100 1000:100")
	f("clamped above", "9000x5:150")
	f("clamped below", "510x60:70")
	f("truncated prompts teach nothing", "499x60:100 0x10:100 1x10:100")
	f("a refusal teaches alone", "!1200:120 1000x3:120")
	f("a refusal lowers what nothing bears", "!830:85 !810:85 900:85 900x3:90")
	f("a refusal does not lower what answers bear", "1200x5:120 !900:120")
	f("a refusal that counts nonsense", "!499:100 !3:100")
	f("clamped below, by a refusal", "!510:70")
	f("a refusal of any size", "!90000:150 1000x19:150 1000x100:100")
	f("exact counters stay", "1004x100:100")
}

func TestSmallPromptsSayNothing(t *testing.T) {
	c := NewCalibration(100)
	for range 100 {
		c.Answered(499, 900)
		c.Refused(499, 900)
	}
	if c.Percent() != 100 {
		t.Errorf("%d", c.Percent())
	}
}

func TestACalibrationStartsWhereItWas(t *testing.T) {
	for start, want := range map[int]int{0: 70, 100: 100, 115: 115, 1000: 150, -5: 70} {
		if got := NewCalibration(start).Percent(); got != want {
			t.Errorf("%d: %d, want %d", start, got, want)
		}
	}
}

func TestTruncatedPromptsAreNamed(t *testing.T) {
	f := func(estimate, counted int, want bool) {
		t.Helper()
		if got := NewCalibration(100).Answered(estimate, counted); got != want {
			t.Errorf("%d of %d: %v", counted, estimate, got)
		}
	}
	f(10_000, 4096, true)
	f(10_000, 5000, false)
	f(10_000, 9000, false)
	f(400, 10, false)
	f(10_000, 0, false)
}

// An upstream that cuts prompts counts the same for different ones.
func TestAPlateauTeachesNothing(t *testing.T) {
	c := NewCalibration(100)
	for i := range 200 {
		if cut, want := c.Answered(5000+20*i, 4096), i > 2; cut != want {
			t.Fatalf("prompt %d, %d counted as 4096: cut %v", i, 5000+20*i, cut)
		}
	}
	for range 200 {
		c.Answered(6826, 4500) // one request, sent again and again
	}
	if c.Percent() != 100 {
		t.Errorf("%d", c.Percent())
	}
	if c.Answered(6000, 6000) || c.Answered(5000, 6000) {
		t.Error("what is counted above its estimate was not cut")
	}
}

// A factor that was measured before is not given up for one refusal.
func TestARefusalDoesNotLowerAKnownFactor(t *testing.T) {
	c := NewCalibration(120)
	if c.Refused(1000, 900); c.Percent() != 120 {
		t.Errorf("%d", c.Percent())
	}
	for range calibrationSamples {
		c.Refused(1000, 900)
	}
	if c.Percent() != 90 {
		t.Errorf("%d", c.Percent())
	}
}

func BenchmarkCalibration(b *testing.B) {
	c := NewCalibration(100)
	for i := range b.N {
		c.Answered(1000, 900+i%200)
	}
}
