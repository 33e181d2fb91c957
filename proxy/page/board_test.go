package page

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"laconic/proxy"
	"laconic/proxy/operate"
	"laconic/proxy/why"
	"laconic/proxy/wire"
)

// TestTheBoardCountsWhatIsWrong: by model and by client, with the newest reason of each
// way to go wrong, and every number is that of the requests that its link lists.
func TestTheBoardCountsWhatIsWrong(t *testing.T) {
	p := newPage(Options{Replica: "one"}, operate.Upstream{Upstream: "https://up.example"},
		operate.Upstream{Upstream: "https://down.example", Down: true, Why: why.Reason{Says: "gone"}})
	for n, c := range []struct {
		model, client string
		reply         proxy.ReplyInfo
	}{
		{"a", "ALICE", proxy.ReplyInfo{Status: 200, Outcome: proxy.Compacted, FirstByte: 10 * time.Millisecond}},
		{"a", "ALICE", proxy.ReplyInfo{Status: 200, Outcome: proxy.Over, FirstByte: 30 * time.Millisecond, Why: why.Reason{Says: "too much", Fix: "less"}}},
		{"b", "ALICE", proxy.ReplyInfo{Status: 429}},
		{"a", "BOB", proxy.ReplyInfo{Status: 200, Code: "upstream_broke", Detail: "reset"}},
		{"a", "BOB", proxy.ReplyInfo{Status: 200, Ended: "half_event"}},
		{"a", "BOB", proxy.ReplyInfo{Status: proxy.StatusClientLeft, Code: "client_left"}},
		{"a", "BOB", proxy.ReplyInfo{Status: 200, Cut: true, Outcome: proxy.Over, Usage: &wire.Usage{Prompt: 7}, Why: why.Reason{Says: "long"}}},
	} {
		c.reply.ID, c.reply.Client = fmt.Sprint(n), c.client
		c.reply.Rewrite = &proxy.RewriteInfo{Model: c.model, Outcome: c.reply.Outcome}
		p.replied(c.reply)
	}
	p.noted(proxy.ReplyInfo{ID: "under way", Rewrite: &proxy.RewriteInfo{Model: "c"}})
	b := p.Board()
	says := func(l BoardLine) string {
		return fmt.Sprint(l.Name, ":", l.Requests, " ", l.Errors, " ", l.Over, " ", l.Cut, " ", l.Median, " ", l.Slow)
	}
	got := says(b.All)
	for _, l := range append(b.Models, b.Keys...) {
		got += ", " + says(l)
	}
	if want := ":7 2 2 2 30 30, a:6 1 2 2 30 30, b:1 1 0 0 0 0, BOB:4 1 1 2 0 0, ALICE:3 1 1 0 30 30"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	got = fmt.Sprint(len(b.Down), b.Down[0].Fix, b.All.PerMinute, b.Of)
	for _, f := range b.Faults {
		got += fmt.Sprint(", ", f.Requests, " ", f.What, " ", f.Of, " ", f.ID, " ", f.Why)
	}
	if want := "1start it, or correct upstream7one, 1 error 429 2 the upstream answered 429, 1 error upstream_broke 3 reset, 2 over  6 long, 2 cut  6 " + why.Cut(7, 0).String(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	v := p.since(0)
	listed := map[string]int{}
	for _, r := range v.Requests {
		for _, what := range r.Wrong {
			listed[what]++
		}
	}
	if listed["error"] != 2 || listed["over"] != 2 || listed["cut"] != 2 {
		t.Errorf("listed are %v", listed)
	}
}

// TestTheBoardIsReadAsItIsWritten: by a command, which shows why an upstream is down.
func TestTheBoardIsReadAsItIsWritten(t *testing.T) {
	p := newPage(Options{}, operate.Upstream{Upstream: "https://down.example", Down: true, Failures: 3, Code: "upstream_broke", Why: why.Reason{Says: "gone", Fix: "start it"}})
	text, err := json.Marshal(p.Board())
	var b Board
	if err != nil || json.Unmarshal(text, &b) != nil || len(b.Down) != 1 || b.Down[0].Fix != "start it" {
		t.Errorf("%v %s", err, text)
	}
	if want := `"down":[{"check":"","state":"fail","says":"https://down.example is down: 3 requests in succession failed, the last because gone","fix":"start it"}]`; !strings.Contains(string(text), want) {
		t.Errorf("got %s, want %s", text, want)
	}
}
