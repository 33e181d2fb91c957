package replay

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"laconic/compact"
	"laconic/compact/policy"
	"laconic/compact/stage"
	"laconic/replay/replaytest"
	"laconic/view"
)

// shownIn replays a file with one conversation to show.
func shownIn(t *testing.T, content string, p *compact.Policy, tokens int) *view.Comparison {
	t.Helper()
	res := ran(t, Options{
		Files: []string{replaytest.Write(t, "a.jsonl", content)}, Policies: []Policy{{Name: "test", Policy: p}},
		Budgets: []Budget{{Tokens: tokens}}, Known: replaytest.Words, Show: new(string),
	})
	if len(res.Unread) > 0 || res.Shown == nil {
		t.Fatalf("nothing is shown; unread %v", res.Unread)
	}
	return res.Shown
}

// listed returns the requests of a conversation as text: a line for each, and for one
// that changed something a line for each run of messages.
func listed(s *view.Comparison) string {
	var b strings.Builder
	texts := func(pieces []view.Piece) {
		for _, p := range pieces {
			fmt.Fprintf(&b, " %s%.40q", p.Kind, s.Texts[p.Text])
		}
	}
	changes := s.Changes
	for i, p := range s.Points {
		fmt.Fprintf(&b, "request %d: %d → %d tokens, %d cached", i+1, p.Before, p.Sent, p.Cached)
		if len(changes) == 0 || changes[0].Number != i+1 {
			b.WriteByte('\n')
			continue
		}
		c := &changes[0]
		changes = changes[1:]
		fmt.Fprintf(&b, ", %d → %d messages", c.Messages, c.MessagesSent)
		if c.Began > 0 {
			fmt.Fprintf(&b, ", epoch %d", c.First)
		}
		for _, st := range c.StageCounts {
			fmt.Fprintf(&b, ", %s %d/%d", st.Name, st.Edits, st.Saved)
		}
		b.WriteByte('\n')
		for _, f := range c.Fates {
			state, _ := f.State.MarshalText()
			fmt.Fprintf(&b, "  %s %d+%d", state, f.From, f.Count)
			if f.State != view.Left {
				fmt.Fprintf(&b, " at %d", f.At)
			}
			if f.State == view.Changed || f.State == view.Added {
				fmt.Fprintf(&b, ", %d tokens", f.After)
				texts(c.Texts[int(f.At)])
			}
			b.WriteByte('\n')
		}
		for _, e := range c.Edits {
			fmt.Fprintf(&b, "  %s of %d+%d: %s, %d saved\n", e.Stage, e.Origin, e.Count, e.Why, e.Saved)
		}
	}
	return b.String()
}

// TestShown: what a conversation looks like request by request.
func TestShown(t *testing.T) {
	f := func(name, content string, p *compact.Policy, tokens int, want string) {
		t.Helper()
		if d := cmp.Diff(strings.TrimPrefix(want, "\n"), listed(shownIn(t, content, p, tokens))); d != "" {
			t.Errorf("%s: want -, got +\n%s", name, d)
		}
	}
	f("nothing to do", replaytest.Errand, replaytest.Rewriting("gone"), 100, `
request 1: 6 → 6 tokens, 0 cached
request 2: 17 → 17 tokens, 6 cached
request 3: 21 → 21 tokens, 17 cached
request 4: 25 → 25 tokens, 21 cached
`)
	f("an old result is rewritten once, and stays so", replaytest.Errand, replaytest.Rewriting("gone"), 20, `
request 1: 6 → 6 tokens, 0 cached
request 2: 17 → 17 tokens, 6 cached
request 3: 21 → 14 tokens, 9 cached, 6 → 6 messages, epoch 1, rewrite 1/7
  kept 0+3 at 0
  changed 3+1 at 3, 1 tokens result of read"gone"
  kept 4+2 at 4
  rewrite of 3+1: test, 7 saved
request 4: 25 → 18 tokens, 14 cached
`)
	// The first call is not answered, which costs its request a line of its own.
	// Later requests say the same again.
	missing := strings.Replace(replaytest.Errand, `{"role":"tool","tool_call_id":"c1","content":"the secret is code_4711 and nothing else here"},`, "", 1)
	f("a call without a result is answered", missing, replaytest.Rewriting("gone"), 100, `
request 1: 6 → 6 tokens, 0 cached
request 2: 13 → 28 tokens, 6 cached, 5 → 6 messages, repair 1/-15
  added 2+1 at 3, 15 tokens result of read"(no result: the call was interrupted or "
  kept 0+3 at 0
  kept 3+2 at 4
  repair of 2+1: call without a result, 0 saved
request 3: 17 → 32 tokens, 28 cached
`)
	late := strings.Replace(missing, `{"role":"tool","tool_call_id":"c2","content":"empty"}`,
		`{"role":"tool","tool_call_id":"c2","content":"empty"},{"role":"tool","tool_call_id":"c1","content":"it is code_4711"},{"role":"tool","tool_call_id":"none","content":"lost"}`, 1)
	f("a result moves behind its call, and one without a call is dropped", late, replaytest.Rewriting("gone"), 100, `
request 1: 6 → 6 tokens, 0 cached
request 2: 17 → 16 tokens, 6 cached, 7 → 6 messages, repair 2/1
  kept 0+3 at 0
  kept 3+2 at 4
  kept 5+1 at 3
  left 6+1
  repair of 5+1: result put directly behind its call, 0 saved
  repair of 6+1: no call can own this result, 0 saved
request 3: 21 → 20 tokens, 16 cached
`)
}

// TestShownRecord: the record is apart from the message that it follows, span by span,
// and what was said before is kept once.
func TestShownRecord(t *testing.T) {
	var msgs []string
	for i := range 30 {
		msgs = append(msgs, fmt.Sprintf(`{"role":"assistant","tool_calls":[{"id":"c%d","type":"function","function":{"name":"read","arguments":"{\"path\":\"dir/file_%d.go\"}"}}]},{"role":"tool","tool_call_id":"c%d","content":"%s"}`,
			i, i, i, strings.Repeat("some words of a result ", 20)))
	}
	list := `{"messages":[{"role":"user","content":"read"},` + strings.Join(msgs, ",") + `]}`
	s := shownIn(t, list, &compact.Policy{Ladder: stage.Default()}, 1000)
	if s.Epochs < 2 || len(s.Changes) != s.Epochs {
		t.Fatalf("%d epochs, %d changes", s.Epochs, len(s.Changes))
	}
	grows := false
	for i, c := range s.Changes {
		if p := s.Points[c.Number-1]; c.Began != 1 || !p.Epoch || p.Trigger == 0 || p.Land == 0 {
			t.Errorf("change %d: %+v", i, p)
		}
		host, record := c.Texts[c.Slot.In], c.Texts[-1]
		if c.Slot.At != 0 || c.Slot.In != 0 || len(host) != 1 || host[0] != s.Said[0][0] || len(record) != len(c.Slot.Spans) || !strings.Contains(s.Texts[record[0].Text], "file_1.go") {
			t.Fatalf("change %d: %+v, %+v, %+v", i, c.Slot, host, record)
		}
		if i > 0 && len(record) > 1 {
			grows = grows || record[0] == s.Changes[i-1].Texts[-1][0]
		}
	}
	if !grows {
		t.Error("no record begins as the one before it")
	}
	own := shownIn(t, list, must(policy.New("summary", []byte(`{"start":500,"keep":4}`))), 1000)
	if len(own.Changes) == 0 {
		t.Fatal("nothing was changed")
	}
	for i, c := range own.Changes {
		if p := own.Points[c.Number-1]; p.Trigger != 0 || p.Land != 0 {
			t.Fatal("levels in tokens that the page does not count in")
		}
		if c.Slot == nil || c.Slot.At >= 0 || len(c.Texts[-1]) != 1 {
			t.Errorf("change %d: the record is no message of its own: %+v", i, c.Slot)
		}
		for _, f := range c.Fates {
			if at := int32(c.Slot.In); f.State != view.Left && f.At <= at && at < f.At+f.Count {
				t.Errorf("change %d: the record and %+v are at %d", i, f, at)
			}
		}
	}
}

// must returns what cannot fail.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// TestWhichConversationIsShown: the one with the largest request, or the first of
// a name, whatever the number of workers.
func TestWhichConversationIsShown(t *testing.T) {
	line := func(id, model, text string) string {
		return fmt.Sprintf(`{"id":%q,"model":%q,"messages":[{"role":"user","content":%q},{"role":"assistant","content":"ok"}]}`+"\n", id, model, text)
	}
	one := replaytest.Write(t, "one.jsonl", line("a", "m1", "one two")+line("b", "m2", "one two thirty four")+line("c", "m1", "one two thirty four"))
	two := replaytest.Write(t, "two.jsonl", line("a", "m2", "one")+line("d", "m1", "x")+strings.Repeat(line("e", "m1", "x y z"), 20))
	f := func(show *string, want string) {
		t.Helper()
		for workers := range 4 {
			res := ran(t, Options{
				Files: []string{one, two}, Policies: []Policy{rewriting("gone"), {Name: "other", Policy: replaytest.Rewriting("x")}},
				Budgets: []Budget{{Share: 0.5}, {Tokens: 7}}, Known: replaytest.Words, Show: show, Workers: workers,
			})
			got := "none"
			if s := res.Shown; s != nil {
				got = fmt.Sprintf("%s of %s, %s under %s (%d)", s.ID, s.Model, s.Policy, s.Budget, s.Tokens)
			}
			if got != want {
				t.Errorf("%+v, %d workers: %s, want %s", show, workers, got, want)
			}
			if raw, err := json.Marshal(&res); err != nil || strings.Contains(string(raw), "thirty") {
				t.Errorf("%v, or content in JSON", err)
			}
		}
	}
	f(nil, "none")
	f(new(string), "b of m2, test under 0.5 × peak (2)")
	f(new("a"), "a of m1, test under 0.5 × peak (1)")
	f(new("d"), "d of m1, test under 0.5 × peak (1)")
	f(new("nobody"), "none")
}

// TestShownIsBounded: of many requests that changed something the first are shown, and
// the others are counted.
func TestShownIsBounded(t *testing.T) {
	rounds := strings.Repeat(`{"role":"assistant","content":"ok","tool_calls":[{"id":"c","type":"function","function":{"name":"read","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":"one two three"},`, mostChanges+20)
	s := shownIn(t, `{"messages":[{"role":"user","content":"read"},`+rounds+`{"role":"assistant","content":"done"}]}`, replaytest.Fickle(), 20)
	if len(s.Changes) != mostChanges || len(s.Points) != mostChanges+21 || len(s.Missing) != 1 || !strings.HasPrefix(s.Missing[0], "the messages of ") {
		t.Errorf("%d changes, %d requests, missing %q", len(s.Changes), len(s.Points), s.Missing)
	}
}
