package e2e

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/tidwall/sjson"

	"laconic/compact/compacttest"
	"laconic/demo/strict"
)

// TestRealConversationsStayPrefixes sends real conversations turn by turn, the
// whole history each time. What the upstream got must be the beginning of what
// it gets next, to the byte, except where an epoch began.
func TestRealConversationsStayPrefixes(t *testing.T) {
	level, size := sweepLevel(t)
	chats := recordedChats(t)
	t.Parallel()
	u, p := proxied(t)
	fewest := 0
	if size != everything {
		size /= 2
		fewest = 12 // a short conversation is all epochs when its budget is small
	}
	chats = slices.DeleteFunc(chats, func(c *chat) bool { return len(c.points) < fewest })
	part := sampleOf(size, func(yield func(int)) {
		for _, c := range chats {
			for range shares {
				yield(c.whole())
			}
		}
	})
	walks, requests, continued, epochs := 0, 0, 0, 0
	kept := map[int][2]int{} // by budget: requests that continued, of how many
	for _, c := range chats {
		for _, share := range shares {
			if !part.takes(c.chance(0, 0, share), c.whole()) {
				continue
			}
			w := walk{p: p, u: u, outcomes: map[string]int{}}
			headers := []string{"X-Laconic-Budget: " + strconv.Itoa(max(1, c.peak*share/100))}
			for _, k := range c.points {
				if !betweenRounds(c.lines[:k]) {
					continue
				}
				if err := w.send(c.body(c.lines[:k]), headers); err != nil {
					t.Errorf("%s, request of %d messages, budget %d %%: %v", c.id, k, share, err)
					break
				}
			}
			u.forget()
			walks++
			requests += w.requests
			continued += w.continued
			epochs += w.last.Epochs
			n := kept[share]
			kept[share] = [2]int{n[0] + w.continued, n[1] + max(0, w.requests-1)}
		}
	}
	t.Logf("%s: %d requests of %d conversations with a budget, %d epochs; %d requests began with the bytes of the one before", level, requests, walks, epochs, continued)
	for _, share := range shares {
		t.Logf("budget %3d %%: %d of %d requests continued the one before", share, kept[share][0], kept[share][1])
	}
	if epochs < 20 || continued < 50 {
		t.Errorf("that is too little to show anything")
	}
}

// proxied starts an upstream and a proxy in front of it.
func proxied(t *testing.T) (*upstream, *running) {
	u, err := launch(strict.Options{
		Limit: -1, MaxID: -1, // some recorded ids are longer than OpenAI takes
		// Usage that is far too small teaches nothing: a corrected count is a
		// fact, which may change a plan from one request to the next.
		Count: func(strict.Message) int { return 0 }, CountTools: func([]byte) int { return 0 },
	})
	if err != nil {
		t.Fatal(err)
	}
	u.serve()
	t.Cleanup(u.close)
	path, err := laconicPath()
	if err != nil {
		t.Fatal(err)
	}
	p, err := start(path, t.TempDir(), os.Environ(), "--upstream", u.url, "--admin", "off", "--log-level", "debug")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.stop(); err != nil {
			t.Errorf("the proxy did not end as it should: %v\n%s", err, p.output())
		}
	})
	return u, p
}

// TestAMovingMarkerMovesNothing sends the requests of an agent run as they were
// sent, with cache_control marks that move along from request to request. What
// the upstream got is the same but for the marks, except where an epoch began.
func TestAMovingMarkerMovesNothing(t *testing.T) {
	names := compacttest.CaptureFiles(t)
	t.Parallel()
	mark := []byte(`, "cache_control": {"type": "ephemeral"}`)
	u, p := proxied(t)
	requests, continued, marks := 0, 0, 0
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, budget := range []string{"2000", "8000", "12000", "100000"} {
			w := walk{p: p, u: u, outcomes: map[string]int{}, unmarked: func(list []byte) []byte {
				marks += bytes.Count(list, mark)
				return bytes.ReplaceAll(list, mark, nil)
			}}
			for body := range bytes.Lines(text) {
				body, err := sjson.SetBytes(bytes.TrimSpace(body), "model", "claude-3-5-sonnet-20241022")
				if err != nil {
					t.Fatal(err)
				}
				if err := w.send(body, []string{"X-Laconic-Budget: " + budget}); err != nil {
					t.Fatalf("%s, request %d, budget %s: %v", name, w.requests+1, budget, err)
				}
			}
			requests += w.requests
			continued += w.continued
		}
	}
	t.Logf("%d requests with %d marks; %d began with the bytes of the one before", requests, marks, continued)
	if marks < requests || continued < requests/3 {
		t.Errorf("that is too little to show anything")
	}
}

// whole is what all requests of a conversation are together, in bytes.
func (c *chat) whole() int {
	n := 0
	for _, k := range c.points {
		n += c.sizes[k] + 500
	}
	return n
}

// betweenRounds tells whether a client could have sent a prefix: no result of
// its last calls is still to come.
func betweenRounds(ls []chatLine) bool {
	open := map[string]int{}
	i := len(ls)
	for i > 0 && ls[i-1].role == "tool" {
		i--
		open[ls[i].answers]--
	}
	for i > 0 && len(ls[i-1].calls) > 0 {
		i--
		for _, id := range ls[i].calls {
			open[id]++
		}
	}
	for _, n := range open {
		if n > 0 {
			return false
		}
	}
	return true
}
