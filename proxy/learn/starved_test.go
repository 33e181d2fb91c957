package learn

import (
	"cmp"
	"testing"
	"time"
)

// TestACountThatDoesNotGrowIsTheWindow: an upstream that drops whole messages counts
// a little more or less each time, whatever it was sent.
func TestACountThatDoesNotGrowIsTheWindow(t *testing.T) {
	f := func(name string, want int, change func(s *Sent, b *Bill), counted ...int) {
		t.Helper()
		m := memory(nil).model()
		for i, n := range counted {
			s, b := sent(17_000+800*i), Bill{Prompt: n, Completion: 2}
			s.List = List{Conversation: "a", Bytes: make([]int, 10+2*i)}
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
	f("only what is new is counted", 0, nil, 17_000, 700, 690, 700, 710, 695, 705, 690)
	f("only what is new is counted, and varies", 0, nil, 900, 300, 2000, 700, 300)
	f("more was read before", 0, nil, 12_700, 6407, 6413, 6301, 6407)
	f("what is in the cache is left out", 0, func(_ *Sent, b *Bill) { b.Cached = 10_000 }, 7638, 7000, 7100)
	f("a way of counting explains it", 0, func(s *Sent, _ *Bill) {
		s.Ways, s.Sizes = []string{"", "without calls"}, []int{s.Sizes[0], 7000}
	}, 7000, 7050, 7040)
	silent := func(_ *Sent, b *Bill) { b.Completion = 0 }
	f("a window is full, and nothing was left for an answer", 16_384-1024, silent, 16_384-1024, 16_384-1024)
	f("one prompt is refused for what it says, twice", 0, func(s *Sent, b *Bill) { s.Sizes[0], s.Percent, b.Completion = 9300, 123, 0 }, 9216, 9216)
	f("an answer is empty, and the prompt as long as it was counted", 0, silent, 16_384)
	f("it is one request, sent again", 0, func(s *Sent, _ *Bill) { s.Sizes[0] = 17_000 }, 7638, 7638, 7638)
}

// TestACountThatStandsWhileTheListGrows: two answers show a window where nothing else
// explains their counts.
func TestACountThatStandsWhileTheListGrows(t *testing.T) {
	type turn struct {
		name                    string // of the conversation
		messages, size, counted int
		change                  func(s *Sent, b *Bill)
	}
	shown := false // how the upstream counts, by other answers
	f := func(name string, cut, want int, turns ...turn) {
		t.Helper()
		m, first := memory(nil).model(), 0
		if shown {
			m.facts.Count = believe(Count{Percent: 100}, time.Now(), factLife)
		}
		for i, turn := range turns {
			s, b := sent(turn.size), Bill{Prompt: turn.counted, Completion: 2}
			s.List = List{Conversation: cmp.Or(turn.name, "a")}
			for n := range turn.messages {
				s.List.Bytes = append(s.List.Bytes, 400*n)
			}
			if turn.change != nil {
				turn.change(&s, &b)
			}
			if now, _, _ := m.Answered(s, b); now && first == 0 {
				first = i
			}
		}
		if got := m.Facts().Window.Value; got != want || first != cut {
			t.Errorf("%s: a window of %d at %d, want %d at %d", name, got, first, want, cut)
		}
	}
	cached := func(n int) func(*Sent, *Bill) { return func(_ *Sent, b *Bill) { b.Cached = n } }

	f("less for a longer list", 3, 7950, turn{messages: 10, size: 7700, counted: 7700}, turn{messages: 12, size: 7950, counted: 7950}, turn{messages: 14, size: 8210, counted: 7933}, turn{messages: 16, size: 8470, counted: 7940})
	f("the same, with what is cached", 2, 7950, turn{messages: 12, size: 7950, counted: 7950, change: cached(7600)}, turn{messages: 14, size: 8210, counted: 7933, change: cached(300)}, turn{messages: 16, size: 8470, counted: 7940, change: cached(300)})
	f("another model behind the same name", 0, 0, turn{messages: 10, size: 20_000, counted: 20_000}, turn{messages: 12, size: 21_500, counted: 19_350}, turn{messages: 14, size: 23_000, counted: 23_000})
	f("a little more, twice", 2, 8030, turn{messages: 10, size: 7950, counted: 7950}, turn{messages: 12, size: 8350, counted: 8040}, turn{messages: 14, size: 8750, counted: 8030})
	f("much less, twice", 2, 8000, turn{messages: 10, size: 8000, counted: 8000}, turn{messages: 12, size: 8350, counted: 6500}, turn{messages: 14, size: 8650, counted: 6550})
	f("half, from one to the next", 3, 7881, turn{messages: 10, size: 12_700, counted: 12_700}, turn{messages: 12, size: 13_180, counted: 7871}, turn{messages: 14, size: 13_654, counted: 7868}, turn{messages: 16, size: 14_143, counted: 7881})

	f("more than any way of counting says", 0, 0, turn{messages: 10, size: 1000, counted: 1600}, turn{messages: 12, size: 1400, counted: 2240}, turn{messages: 14, size: 1800, counted: 2880}, turn{messages: 16, size: 2200, counted: 3520})
	f("whole", 0, 0, turn{messages: 10, size: 8000, counted: 6400}, turn{messages: 12, size: 8500, counted: 6700}, turn{messages: 14, size: 9000, counted: 7000})
	f("two agents", 0, 0, turn{messages: 10, size: 8000, counted: 8000}, turn{name: "b", messages: 12, size: 8500, counted: 7000}, turn{messages: 12, size: 8500, counted: 8500}, turn{name: "b", messages: 14, size: 9000, counted: 7450})
	f("a list that became shorter", 0, 0, turn{messages: 12, size: 8000, counted: 8000}, turn{messages: 10, size: 8400, counted: 7900}, turn{messages: 8, size: 8800, counted: 7950})
	shorter := func(s *Sent, _ *Bill) {
		for i := range s.List.Bytes {
			s.List.Bytes[i] -= 300
		}
	}
	f("results that the client emptied", 0, 0, turn{messages: 10, size: 8000, counted: 8000}, turn{messages: 14, size: 8300, counted: 7800, change: shorter}, turn{messages: 16, size: 8600, counted: 8100, change: shorter})
	thinking := func(s *Sent, _ *Bill) { s.List.Thinking = 2000 }
	f("old thinking is dropped", 0, 0, turn{messages: 10, size: 8000, counted: 8000, change: thinking}, turn{messages: 12, size: 8400, counted: 7300, change: thinking}, turn{messages: 14, size: 8800, counted: 7200, change: thinking})
	f("tools before a user alone", 0, 0, turn{messages: 9, size: 8000, counted: 8000}, turn{messages: 11, size: 8400, counted: 7500}, turn{messages: 13, size: 8800, counted: 7900}, turn{messages: 15, size: 9200, counted: 8300})
	f("cached tokens are left out", 0, 0, turn{messages: 10, size: 8000, counted: 8000}, turn{messages: 12, size: 8400, counted: 700}, turn{messages: 14, size: 8800, counted: 690}, turn{messages: 16, size: 9200, counted: 650})
	f("cached tokens are told apart", 0, 0, turn{messages: 10, size: 8000, counted: 8000}, turn{messages: 12, size: 8400, counted: 7400, change: cached(1000)}, turn{messages: 14, size: 8800, counted: 7300, change: cached(1500)})
	f("rounded", 0, 0, turn{messages: 10, size: 8040, counted: 8000}, turn{messages: 12, size: 8110, counted: 8100}, turn{messages: 14, size: 8190, counted: 8100}, turn{messages: 16, size: 8270, counted: 8200})
	f("other text than before", 0, 0, turn{messages: 10, size: 8000, counted: 8000}, turn{messages: 12, size: 9000, counted: 8450}, turn{messages: 14, size: 9900, counted: 8800})

	shown = true
	f("the largest message was dropped", 2, 3923, turn{messages: 6, size: 3953, counted: 3923}, turn{messages: 8, size: 4394, counted: 1852}, turn{messages: 10, size: 4846, counted: 2297}, turn{messages: 12, size: 5249, counted: 2742})
	f("half a window at a time", 2, 8025, turn{messages: 10, size: 8025, counted: 8025}, turn{messages: 12, size: 8768, counted: 4672}, turn{messages: 14, size: 9511, counted: 5414})
	f("never read whole", 0, 0, turn{messages: 4, size: 4328, counted: 966}, turn{messages: 6, size: 4759, counted: 1413}, turn{messages: 8, size: 5193, counted: 1857})
	f("another tokenizer", 0, 0, turn{messages: 10, size: 8000, counted: 8000}, turn{messages: 12, size: 8700, counted: 5220}, turn{messages: 14, size: 9500, counted: 5700}, turn{messages: 16, size: 10_200, counted: 6120})
	f("what is in a cache is left out", 0, 0, turn{messages: 10, size: 8000, counted: 8000}, turn{messages: 12, size: 8700, counted: 1300}, turn{messages: 14, size: 9500, counted: 1100}, turn{messages: 16, size: 10_200, counted: 1500})
	f("old thinking is dropped, once it is shown", 0, 0, turn{messages: 10, size: 8000, counted: 8000, change: thinking}, turn{messages: 12, size: 8400, counted: 5300, change: thinking}, turn{messages: 14, size: 8800, counted: 5900, change: thinking})
}
