package learn

import "testing"

// TestACountThatDoesNotGrowIsTheWindow: an upstream that drops whole messages counts
// a little more or less each time, whatever it was sent.
func TestACountThatDoesNotGrowIsTheWindow(t *testing.T) {
	f := func(name string, want int, change func(s *Sent, b *Bill), counted ...int) {
		t.Helper()
		m := memory(nil).model()
		for i, n := range counted {
			s, b := sent(17_000+800*i), Bill{Prompt: n, Completion: 2}
			if change != nil {
				change(&s, &b)
			}
			m.Answered(s, b)
		}
		if got := m.Facts().Window.Value; got != want {
			t.Errorf("%s: a window of %d, want %d", name, got, want)
		}
	}
	f("whole messages are dropped", 7638, nil, 7638, 6214, 6432)
	f("two could be chance", 0, nil, 7638, 6214)
	f("the count grows with the prompt", 0, nil, 6800, 7120, 7440, 7760, 8080)
	f("only what is new is counted", 0, nil, 17_000, 700, 690, 700)
	f("only what is new is counted, and varies", 0, nil, 900, 300, 2000, 700, 300)
	f("more was read before", 0, nil, 12_700, 6400, 6400, 6300)
	f("what is in the cache is left out", 0, func(_ *Sent, b *Bill) { b.Cached = 10_000 }, 7638, 7000, 7100)
	f("a way of counting explains it", 0, func(s *Sent, _ *Bill) {
		s.Ways, s.Sizes = []string{"", "without calls"}, []int{s.Sizes[0], 7000}
	}, 7000, 7050, 7040)
	silent := func(_ *Sent, b *Bill) { b.Completion = 0 }
	f("a window is full, and nothing was left for an answer", 16_384-1024, silent, 16_384-1024)
	f("an answer is empty, and the prompt as long as it was counted", 0, silent, 16_384)
	f("it is one request, sent again", 0, func(s *Sent, _ *Bill) { s.Sizes[0] = 17_000 }, 7638, 7638, 7638)
}
