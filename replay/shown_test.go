package replay

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"laconic/compact"
	"laconic/compact/compacttest"
	"laconic/compact/policy"
	"laconic/compact/stage"
	"laconic/replay/record"
	"laconic/replay/replaytest"
)

// shownIn replays a file with one conversation to show.
func shownIn(t *testing.T, content string, p *compact.Policy, tokens int) *Shown {
	t.Helper()
	res, err := Run(context.Background(), Options{
		Files: []string{replaytest.Write(t, "a.jsonl", content)}, Policies: []Policy{{Name: "test", Policy: p}},
		Budgets: []Budget{{Tokens: tokens}}, Counter: compacttest.Words{}, Show: &Show{},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Unread) > 0 || res.Shown == nil {
		t.Fatalf("nothing is shown; unread %v", res.Unread)
	}
	return res.Shown
}

// said returns the requests of a conversation as text: a line for each, and one
// for each row.
func said(s *Shown) string {
	var b strings.Builder
	for i, r := range s.Requests {
		fmt.Fprintf(&b, "request %d: %d → %d messages, %d → %d tokens, %d cached", i+1, r.Messages, r.Sent, r.Full, r.Tokens, r.Cached)
		if len(r.Epochs) > 0 {
			fmt.Fprintf(&b, ", epoch %d", r.First)
		}
		for _, st := range r.Stages {
			fmt.Fprintf(&b, ", %s %d/%d", st.Name, st.Edits, st.Saved)
		}
		b.WriteByte('\n')
		for _, row := range r.Rows {
			fmt.Fprintf(&b, "  %s [%d, %d) %d → %d", []string{"unchanged", "edited", "removed", "added", "known"}[row.Fate], row.From, row.To, row.Full, row.Tokens)
			if row.Fate == Known {
				fmt.Fprintf(&b, ", %d gone, %d changed, since %d", row.Gone, row.Changed, row.Since)
			}
			for _, e := range row.Edits {
				fmt.Fprintf(&b, ", %s: %s", e.Stage, e.Why)
			}
			if row.Sent != nil {
				fmt.Fprintf(&b, ", %s", row.Sent.Role)
				for _, p := range row.Sent.Pieces {
					switch {
					case p.Same:
						b.WriteString(" (same)")
					case p.Record:
						fmt.Fprintf(&b, " (record, %d known) %.20q", p.Known, p.Text)
					default:
						fmt.Fprintf(&b, " %s%.40q", p.Kind, p.Text)
					}
				}
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// TestShown: what a conversation looks like request by request.
func TestShown(t *testing.T) {
	f := func(name, content string, p *compact.Policy, tokens int, want string) {
		t.Helper()
		if d := cmp.Diff(strings.TrimPrefix(want, "\n"), said(shownIn(t, content, p, tokens))); d != "" {
			t.Errorf("%s: want -, got +\n%s", name, d)
		}
	}
	f("nothing to do", replaytest.Errand, replaytest.Rewriting("gone"), 100, `
request 1: 2 → 2 messages, 6 → 6 tokens, 0 cached
request 2: 4 → 4 messages, 17 → 17 tokens, 6 cached
request 3: 6 → 6 messages, 21 → 21 tokens, 17 cached
request 4: 8 → 8 messages, 25 → 25 tokens, 21 cached
`)
	f("an old result is rewritten once, and stays so", replaytest.Errand, replaytest.Rewriting("gone"), 20, `
request 1: 2 → 2 messages, 6 → 6 tokens, 0 cached
request 2: 4 → 4 messages, 17 → 17 tokens, 6 cached
request 3: 6 → 6 messages, 21 → 14 tokens, 9 cached, epoch 1, rewrite 1/7
  unchanged [0, 3) 9 → 9
  edited [3, 4) 8 → 1, rewrite: test, tool "gone"
  unchanged [4, 6) 4 → 4
request 4: 8 → 8 messages, 25 → 18 tokens, 14 cached
`)
	// The first call is not answered, which costs its request a row of its own.
	// Later requests say the same again.
	missing := strings.Replace(replaytest.Errand, `{"role":"tool","tool_call_id":"c1","content":"the secret is code_4711 and nothing else here"},`, "", 1)
	f("a call without a result is answered", missing, replaytest.Rewriting("gone"), 100, `
request 1: 2 → 2 messages, 6 → 6 tokens, 0 cached
request 2: 5 → 6 messages, 13 → 28 tokens, 6 cached
  unchanged [0, 3) 9 → 9
  added [3, 3) 0 → 15, repair: call without a result, tool "(no result: the call was interrupted or "
  unchanged [3, 5) 4 → 4
request 3: 7 → 8 messages, 17 → 32 tokens, 28 cached
`)
	late := strings.Replace(missing, `{"role":"tool","tool_call_id":"c2","content":"empty"}`,
		`{"role":"tool","tool_call_id":"c2","content":"empty"},{"role":"tool","tool_call_id":"c1","content":"it is code_4711"},{"role":"tool","tool_call_id":"none","content":"lost"}`, 1)
	f("a result moves behind its call, and one without a call is dropped", late, replaytest.Rewriting("gone"), 100, `
request 1: 2 → 2 messages, 6 → 6 tokens, 0 cached
request 2: 7 → 6 messages, 17 → 16 tokens, 6 cached
  unchanged [0, 3) 9 → 9
  edited [5, 6) 3 → 3, repair: result put directly behind its call, tool (same)
  unchanged [3, 5) 4 → 4
  removed [6, 7) 1 → 0, repair: no call can own this result
request 3: 9 → 8 messages, 21 → 20 tokens, 16 cached
`)
}

// TestShownRecord: the record stands with the message that it follows, and says
// how much of it was sent before.
func TestShownRecord(t *testing.T) {
	var msgs []string
	for i := range 30 {
		msgs = append(msgs, fmt.Sprintf(`{"role":"assistant","tool_calls":[{"id":"c%d","type":"function","function":{"name":"read","arguments":"{\"path\":\"dir/file_%d.go\"}"}}]},{"role":"tool","tool_call_id":"c%d","content":"%s"}`,
			i, i, i, strings.Repeat("some words of a result ", 20)))
	}
	list := `{"messages":[{"role":"user","content":"read"},` + strings.Join(msgs, ",") + `]}`
	s := shownIn(t, list, &compact.Policy{Ladder: stage.Default()}, 1000)
	if s.Epochs < 2 {
		t.Fatalf("%d epochs", s.Epochs)
	}
	records := 0
	for _, r := range s.Requests {
		if len(r.Epochs) == 0 && r.Rows != nil {
			t.Errorf("rows without an epoch: %+v", r.Rows)
		}
		for _, row := range r.Rows {
			if row.Sent == nil || row.Fate != Edited || row.From != 0 {
				continue
			}
			records++
			p := row.Sent.Pieces
			if len(p) < 2 || !p[0].Same || p[0].Record || !p[1].Record || !strings.Contains(p[1].Text, "file_1.go") || r.Charged == 0 || len(row.Edits) > 0 {
				t.Errorf("record %d: %+v", records, row)
			}
			if known := p[1].Known > 0; known != (records > 1) {
				t.Errorf("record %d: %d bytes of it were sent before", records, p[1].Known)
			}
		}
	}
	if records != s.Epochs {
		t.Errorf("%d records of %d epochs", records, s.Epochs)
	}
	system := shownIn(t, list, must(policy.New("summary", []byte(`{"start":500,"keep":4}`))), 1000)
	own := 0
	for _, r := range system.Requests {
		if r.Trigger != 0 || r.Land != 0 {
			t.Fatal("levels in tokens that the page does not count in")
		}
		for _, row := range r.Rows {
			if row.Fate == Added {
				own++
				if p := row.Sent.Pieces; row.Sent.Role != "system" || len(p) != 1 || !p[0].Record || p[0].Known > 0 != (own > 1) {
					t.Errorf("%+v", row.Sent)
				}
			}
		}
	}
	if own == 0 {
		t.Error("no record is a message of its own")
	}
}

func must(p *compact.Policy, err error) *compact.Policy {
	if err != nil {
		panic(err)
	}
	return p
}

// TestShownAddsUp: whatever the policy, the rows of a request are the client's
// messages, each once; their tokens are those of the two requests; and nothing is
// removed or edited without a reason.
func TestShownAddsUp(t *testing.T) {
	conversations, longest := 3, 150
	if testing.Short() {
		conversations, longest = 1, 80
	}
	for _, file := range compacttest.ConversationFiles(t) {
		seen := 0
		for r, bad := range record.Read(file, nil) {
			if bad != nil || len(r.Messages) > longest {
				continue
			}
			if seen++; seen > conversations {
				break
			}
			v := prepare(r, compacttest.Bytes{}, DefaultPrices)
			for _, e := range policy.Catalogue {
				for _, share := range []float64{0.5, 0.2} {
					s := v.show(context.Background(), &Policy{Name: e.Name, Policy: must(e.New(nil))}, Budget{Share: share}.of(v.peak, compact.Limits{}), DefaultPrices)
					addsUp(t, fmt.Sprintf("%s, %s at %g", r.ID, e.Name, share), s)
				}
			}
		}
	}
}

func addsUp(t *testing.T, where string, s *Shown) {
	t.Helper()
	messages := 0
	for i, r := range s.Requests {
		if r.Rows == nil {
			messages = r.Messages
			continue
		}
		var listed []int
		full, tokens, changed := s.Fixed, s.Fixed, false
		for _, row := range r.Rows {
			full, tokens = full+row.Full, tokens+row.Tokens
			for k := row.From; k < row.To; k++ {
				listed = append(listed, k)
			}
			changed = changed || row.Fate != Known && (row.Fate != Unchanged || row.From < messages)
			record := row.Sent != nil && slices.ContainsFunc(row.Sent.Pieces, func(p Piece) bool { return p.Record })
			if (row.Fate == Removed || row.Fate == Edited || row.Fate == Added) && !record && len(row.Edits) == 0 {
				t.Errorf("%s, request %d: no reason for %+v", where, i+1, row)
			}
			if row.Fate == Known && row.From < row.To && (row.Since < 1 || row.Since > i) {
				t.Errorf("%s, request %d: known since %d", where, i+1, row.Since)
			}
		}
		slices.Sort(listed)
		for k := range r.Messages {
			if k >= len(listed) || listed[k] != k {
				t.Fatalf("%s, request %d: message %d is not listed once: %v", where, i+1, k, listed)
			}
		}
		if len(listed) != r.Messages || full != r.Full || tokens != r.Tokens {
			t.Errorf("%s, request %d: %d messages, %d → %d tokens in rows, %d, %d → %d in all", where, i+1, len(listed), full, tokens, r.Messages, r.Full, r.Tokens)
		}
		messages = r.Messages
	}
}

// TestWhichConversationIsShown: the one with the largest request, or the first of
// a name, whatever the number of workers; by the policy of its model.
func TestWhichConversationIsShown(t *testing.T) {
	line := func(id, model, text string) string {
		return fmt.Sprintf(`{"id":%q,"model":%q,"messages":[{"role":"user","content":%q},{"role":"assistant","content":"ok"}]}`+"\n", id, model, text)
	}
	one := replaytest.Write(t, "one.jsonl", line("a", "m1", "one two")+line("b", "m2", "one two thirty four")+line("c", "m1", "one two thirty four"))
	two := replaytest.Write(t, "two.jsonl", line("a", "m2", "one")+line("d", "m1", "x")+strings.Repeat(line("e", "m1", "x y z"), 20))
	f := func(show *Show, want string) {
		t.Helper()
		for workers := range 4 {
			res, err := Run(context.Background(), Options{
				Files: []string{one, two}, Policies: []Policy{rewriting("gone"), {Name: "other", Policy: replaytest.Rewriting("x")}},
				Budgets: []Budget{{Share: 0.5}, {Tokens: 7}}, Counter: compacttest.Words{}, Show: show, Workers: workers,
			})
			if err != nil {
				t.Fatal(err)
			}
			got := "none"
			if s := res.Shown; s != nil {
				got = fmt.Sprintf("%s of %s, %s under %s (%d)", s.Conversation, s.Model, s.Policy, s.Budget, s.Tokens)
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
	f(&Show{}, "b of m2, test under 0.5 × peak (2)")
	f(&Show{Conversation: "a"}, "a of m1, test under 0.5 × peak (1)")
	f(&Show{Conversation: "d", PolicyFor: func(m string) string { return map[string]string{"m1": "other"}[m] }}, "d of m1, other under 0.5 × peak (1)")
	f(&Show{Conversation: "d", PolicyFor: func(string) string { return "unheard of" }}, "d of m1, test under 0.5 × peak (1)")
	f(&Show{Conversation: "nobody"}, "none")
}

// TestShownStopsWithItsContext: nobody waits for a conversation that nobody will
// see.
func TestShownStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	s := showing{best: prepare(only(t, replaytest.Write(t, "a.jsonl", replaytest.Errand)), compacttest.Words{}, DefaultPrices), budget: compact.Budget{Tokens: 20}}
	o := Options{Policies: []Policy{rewriting("gone")}, Budgets: []Budget{{Tokens: 20}}, Prices: &DefaultPrices, Show: &Show{}}
	if got := s.shown(ctx, &o); got != nil {
		t.Errorf("%d requests were shown", len(got.Requests))
	}
	if got := s.shown(context.Background(), &o); got == nil || len(got.Requests) != 4 {
		t.Errorf("%+v", got)
	}
}

// only returns the one conversation of a file.
func only(t *testing.T, file string) *record.Conversation {
	t.Helper()
	var one *record.Conversation
	for r, bad := range record.Read(file, nil) {
		if bad != nil || one != nil {
			t.Fatal(bad)
		}
		one = r
	}
	return one
}
