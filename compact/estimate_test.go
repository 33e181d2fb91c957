package compact_test

import (
	"strings"
	"testing"

	"laconic/compact"
	"laconic/compact/compacttest"
)

func TestEstimatorCounts(t *testing.T) {
	f := func(e compact.Estimator, transcript string, want int) {
		t.Helper()
		if n := compact.CostAll(e, compacttest.Messages(t, transcript)); n != want {
			t.Errorf("%s: %d tokens, want %d", transcript, n, want)
		}
	}
	f(compact.BytesPerToken(3.5), "user: sevenbb", 8+2)
	f(compact.BytesPerToken(4), "assistant: | call abcd name {\"a\":12}", 8+4)
	f(compact.Estimator{PerToken: 1}, "tool abc: xy", 5)
	f(compact.Estimator{PerToken: 1, Characters: true}, "user: äöü", 3)
	f(compact.Estimator{PerToken: 1}, "user: äöü", 6)
	f(compact.Estimator{}, "user: u | image data:image/png;base64,"+strings.Repeat("A", 9000), 512)
	f(compact.Estimator{PerMedia: 85}, "user: u | image http://x/y.png", 85)
	if n := compact.BytesPerToken(4).Fixed(compact.Beside{Tools: []byte("12345678"), Format: []byte("1234")}); n != 3 {
		t.Errorf("fixed: %d", n)
	}
}
