package tokenize

import (
	"fmt"
	"strings"
	"testing"
)

// A trace is a list of bills for each 1,000 tokens that one way counts, of long
// prompts that grow, with the factor after each: "900:100" is an answer,
// "!1200:120" a refusal, "950x4:96" four answers.
func TestTheFactorOfACounter(t *testing.T) {
	f := func(name string, start int, trace string) {
		t.Helper()
		c, size := NewCalibration(1, 0, start), 0
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
				size++
				if refused {
					c.Refused([]int{size * 20_000}, c.percent, 20*size*counted)
				} else {
					c.Answered([]int{size * 20_000}, c.percent, 20*size*counted)
				}
			}
			if c.percent != percent {
				t.Errorf("%s: after step %d (%s) the factor is %d", name, i+1, step, c.percent)
			}
		}
	}
	f("up at once", 0, "1020:100 1021:102 1110:112 1300:130")
	f("down when three agree", 0, "800:100 820:100 810:82")
	f("one that does not agree", 0, "800:100 990:100 800:100 800:100 800:80")
	f("a known factor goes down by three too", 120, "900:120 900:120 900:90")
	f("small differences move nothing", 0, "1004x50:100 985x50:100 1015x50:100")
	f("nor do those of a step, for the first three", 0, "970x3:100 945x50:94")
	f("larger ones do, once", 0, "950x3:96 930x50:96")
	f("two steps", 0, "960x2:100 960:96")
	f("bounds", 0, "9000:300")
	f("the lower one", 0, "400x3:40 390x60:40")
	f("what was cut teaches nothing", 0, "399x60:100 0x10:100 1x10:100")
	f("a refusal teaches alone", 0, "!1200:120 1190x5:120")
	f("a refusal lowers what nothing bears", 0, "!830:84 !780:84 780x2:78")
	f("a refusal does not lower what was measured", 0, "1200:120 !900:120")
	f("a refusal that counts nonsense", 0, "!399:100 !3:100")
}

func TestACalibrationStartsWhereItWas(t *testing.T) {
	for start, want := range map[int]int{0: 100, 100: 100, 116: 116, 1000: 300, 5: 40} {
		if c := NewCalibration(4, 3, start); c.percent != want || c.measured != (start != 0) || (c.way == 3) != c.measured {
			t.Errorf("%d: %d", start, c.percent)
		}
	}
}

// Until three bills have shown the count, the factor that a request was planned by stays, unless it is too low.
func TestACarefulFactorHoldsForThreeAnswers(t *testing.T) {
	c := NewCalibration(1, 0, 0)
	for i := range 3 {
		if c.measured {
			t.Fatalf("measured after %d", i)
		}
		c.Answered([]int{1000 + i}, 123, 1000+i)
	}
	if !c.measured || c.percent != 100 {
		t.Errorf("%d", c.percent)
	}
}

func TestTruncatedPromptsAreNamed(t *testing.T) {
	f := func(estimate, counted int, want bool) {
		t.Helper()
		if got := NewCalibration(1, 0, 0).Answered([]int{estimate}, 100, counted); got != want {
			t.Errorf("%d of %d: %v", counted, estimate, got)
		}
	}
	f(10_000, 3999, true)
	f(10_000, 4001, false)
	f(10_000, 9000, false)
	f(400, 10, false)
	f(10_000, 0, false)
	if NewCalibration(1, 0, 0).Answered([]int{10_000, 4000}, 100, 3900) {
		t.Error("what one way counts was read whole")
	}
}

// An upstream that cuts prompts counts the same for different ones.
func TestAPlateauTeachesNothing(t *testing.T) {
	c := NewCalibration(1, 0, 0)
	for i := range 200 {
		if cut, want := c.Answered([]int{5000 + 20*i}, 100, 4096), i > 2; cut != want {
			t.Fatalf("prompt %d, %d counted as 4096: cut %v", i, 5000+20*i, cut)
		}
	}
	c = NewCalibration(1, 0, 0)
	for range 200 {
		c.Answered([]int{6826}, 100, 4500) // one request, sent again and again
	}
	if c.percent != 100 {
		t.Errorf("%d", c.percent)
	}
	if c.Answered([]int{6000}, 100, 6000) || c.Answered([]int{5000}, 100, 6000) {
		t.Error("what is counted above its size was not cut")
	}
}

// A bill that falls while the prompt grew leaves out what was cached.
func TestABillWithoutWhatWasCachedTeachesNothing(t *testing.T) {
	c := NewCalibration(1, 0, 0)
	for i := range 3 {
		c.Answered([]int{10_000 + 500*i}, 100, 10_000+500*i)
	}
	for i := range 5 {
		if c.Answered([]int{12_000 + 500*i}, 100, 6000+250*i); c.percent != 100 {
			t.Fatalf("after %d bills: %d", i+1, c.percent)
		}
	}
}

// The way whose bills agree is the upstream's; which texts differ between the ways shows it.
func TestTheWayWhoseBillsAgreeIsTaken(t *testing.T) {
	mixes := [][]int{{5000, 6500, 4500}, {6000, 8700, 6300}, {7000, 8400, 7800}, {9000, 9600, 12_000}}
	for way := range 3 {
		c := NewCalibration(3, 0, 0)
		for _, sizes := range mixes[:3] {
			c.Answered(sizes, 100, sizes[way]*11/10)
		}
		if c.way != way || c.percent != 110 {
			t.Errorf("way %d: %d at %d %%", way, c.way, c.percent)
		}
	}
	c := NewCalibration(3, 0, 0)
	for i, sizes := range mixes {
		to := 1
		if i == 3 {
			to = 0 // one bill of another mind
		}
		c.Answered(sizes, 100, sizes[to])
	}
	if c.way == 1 {
		return
	}
	t.Errorf("way %d", c.way)
}

func FuzzCalibration(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8})
	f.Fuzz(func(t *testing.T, b []byte) {
		c := NewCalibration(1, 0, 0)
		for len(b) >= 4 {
			n := func(i int) int { return int(b[i]) * int(b[i]) * 200 }
			if sizes := []int{n(0), n(1)}; b[3]%2 == 0 {
				c.Answered(sizes, 100, n(2))
			} else {
				c.Refused(sizes, 100, n(2))
			}
			if p := c.percent; p < lowestPercent || p > highestPercent || c.way < 0 || c.way > 1 || len(c.seen) > mostBills {
				t.Fatalf("way %d at %d %%", c.way, p)
			}
			b = b[4:]
		}
	})
}

// A template's own tokens in each request make a way that counts too much look right. Prompts of hardly a digit are
// billed with 26 of them.
func TestTheTokensOfATemplateNameNoWay(t *testing.T) {
	c := NewCalibration(2, 0, 0) // each digit a token, and three digits
	for _, sizes := range [][]int{{1059, 1055}, {1283, 1274}, {1433, 1424}} {
		c.Answered(sizes, 100, sizes[1]+26)
	}
	if c.way != 1 {
		t.Errorf("way %d at %d %%", c.way, c.percent)
	}
}

// A way is not better because it leaves fewer bills to compare: an upstream that counts 1.17 times what the first way
// says leaves nothing out.
func TestWaysAreComparedByTheSameBills(t *testing.T) {
	c := NewCalibration(1, 0, 0)
	for _, size := range []int{1622, 809, 4432, 1034, 540, 1073} {
		c.Answered([]int{size, size - 10}, 100, size*117/100)
	}
	if c.way != 0 || c.percent < 116 || c.percent > 120 {
		t.Errorf("way %d at %d %%", c.way, c.percent)
	}
}
