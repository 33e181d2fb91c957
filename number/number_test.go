package number

import "testing"

func TestNumbersHaveCommas(t *testing.T) {
	for n, want := range map[int]string{0: "0", 7: "7", -123: "-123", 1000: "1,000", -1000: "-1,000", 1234567: "1,234,567"} {
		if got := Of(n); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := Count(2, "stored summary"); got != "2 stored summaries" {
		t.Errorf("%q", got)
	}
	for n, want := range map[int]string{0: "0 epochs", 1: "1 epoch", 1200: "1,200 epochs"} {
		if got := Count(n, "epoch"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
