package sweep

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sync/errgroup"

	"laconic/compact"
	"laconic/demo/strict"
	"laconic/e2e/rig"
	"laconic/fold"
)

// sizes say how much of the sweep runs, by LACONIC_SWEEP, in bytes of bodies: a sample of
// all requests with all damages at all budgets. "full" runs every request at every
// budget, and with every damage at one of the budgets, in turn.
var sizes = map[string]float64{"": 15 << 20, "half": 1500 << 20, "full": 1 << 60}

// shares are the budgets of the sweep, in percent of what a whole conversation takes.
var shares = []int{3, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100}

// TestEveryRealRequestIsTakenByAStrictUpstream folds the requests of the recorded
// conversations, whole and damaged in every way that histories come damaged, at budgets
// from a tenth of a conversation to all of it. A strict upstream takes each, and what
// is legal and within its budget keeps its bytes.
func TestEveryRealRequestIsTakenByAStrictUpstream(t *testing.T) {
	size, ok := sizes[os.Getenv("LACONIC_SWEEP")]
	if !ok {
		t.Fatal("LACONIC_SWEEP is half, full, or not set")
	}
	s := &sweep{t: t, upstream: strict.New(strict.Options{Limit: -1}), outcomes: map[compact.Outcome]int{}, damaged: map[string]int{}, budgets: map[int]int{}}
	var workers errgroup.Group
	workers.SetLimit(2)
	all := slices.Concat(damages, itemDamages)
	chats := rig.Chats(t, func(_ int, id string) bool {
		return !strings.HasPrefix(id, "thinker/") // OpenAI knows no thinking, and so no message of thinking alone
	})
	cases := 0
	for _, c := range chats {
		cases += len(c.Points()) * len(all) * len(shares)
	}
	allowance := size / float64(cases) // a case of n times as many bytes has a chance of 1 to n
	for i, c := range chats {
		gap := []string{",", " ,\n  "}[i%2]
		whole := c.Body(c.Messages, gap)
		_, r, err := fold.Compact(whole, fold.Options{Limits: compact.Limits{Budget: 1 << 30}})
		if err != nil {
			t.Fatalf("%s: %v", c.ID, err)
		}
		lines := linesOf(c.Messages)
		for _, k := range c.Points() {
			size := float64(len(whole) * k / len(lines))
			for d := range all {
				for n, share := range shares {
					h := fnv.New64a()
					fmt.Fprint(h, c.ID, k, d, share)
					chance := rand.New(rand.NewPCG(h.Sum64(), 0)) // the same at every run
					turn := n == (k+d)%len(shares)
					// Eight whole conversations with each damage, and each without any, are always tried.
					always := turn && k == len(lines) && (d == 0 || (i+d)%max(1, len(chats)/8) == 0)
					if chance.Float64()*size > allowance && !always || d > 0 && allowance > size && !turn {
						continue
					}
					workers.Go(func() error {
						s.fold(c, lines[:k], gap, &all[d], share, max(1, r.Before*share/100), chance)
						return nil
					})
				}
			}
		}
	}
	_ = workers.Wait()
	s.report(len(chats), all)
}

// sweep is the run of all cases.
type sweep struct {
	t        *testing.T
	upstream *strict.Upstream

	mu        sync.Mutex // guards what follows
	cases     int
	within    int // legal and within the budget
	inherited int // refused for what was recorded so
	outcomes  map[compact.Outcome]int
	damaged   map[string]int
	budgets   map[int]int
}

// fold folds one case of each API and judges the results.
func (s *sweep) fold(c *rig.Chat, lines []chatLine, gap string, d *damage, share, budget int, chance *rand.Rand) {
	damaged := lines
	if d.do != nil {
		damaged = d.do(lines, chance)
	}
	if len(damaged) == 0 || hopeless(damaged) {
		return
	}
	for i := range apis {
		a := &apis[i]
		if body := a.body(s.t, c, damaged, gap, d, chance); body != nil {
			s.judge(a, c, lines, body, gap, d, share, budget)
		}
	}
}

// judge folds one body.
func (s *sweep) judge(a *api, c *rig.Chat, lines []chatLine, body []byte, gap string, d *damage, share, budget int) {
	out, r, err := fold.Compact(bytes.Clone(body), fold.Options{Limits: compact.Limits{Budget: budget}})
	s.mu.Lock()
	defer s.mu.Unlock()
	fail := func(format string, args ...any) {
		s.t.Errorf("%s, %s of %d messages, damage: %s, budget %d %%: %s", c.ID, a.path, len(lines), d.name, share, fmt.Sprintf(format, args...))
	}
	if err != nil {
		fail("%v", err)
		return
	}
	if _, refused := s.upstream.Read(a.path, out); refused != nil {
		// Some recorded conversations have what the strict upstream does not take, such
		// as ids of 47 characters. Repair does not heal that.
		_, was := s.upstream.Read(a.path, a.body(s.t, c, lines, gap, &damage{}, nil))
		if refused.Kind != strict.KindField || was == nil || was.Kind != refused.Kind || was.Code != refused.Code {
			fail("refused: %v", refused)
		}
		s.inherited++
	}
	same := bytes.Equal(body, out)
	if r.Outcome == compact.Untouched && !same {
		fail("it is untouched, and its bytes were changed")
	}
	if r.Outcome != compact.Over && r.After > budget {
		fail("%d tokens, with a budget of %d, as %q", r.After, budget, r.Outcome)
	}
	// A fixed cost is rounded up by an eighth at most.
	if _, refused := s.upstream.Read(a.path, body); r.Before+budget/16+1 <= budget*85/100 && (same || refused == nil) {
		if s.within++; !same {
			fail("legal and within its budget (%d tokens of %d), but changed: %q", r.Before, budget, r.Outcome)
		}
	}
	s.cases++
	s.outcomes[r.Outcome]++
	s.damaged[d.name]++
	s.budgets[share]++
}

// report logs the figures, and fails where the sweep did not cover what it is for.
func (s *sweep) report(chats int, all []damage) {
	s.t.Logf("%d requests of %d conversations, %v; %d legal and within their budget, %d refused for what was recorded so",
		s.cases, chats, s.outcomes, s.within, s.inherited)
	for _, d := range all {
		if s.damaged[d.name] == 0 {
			s.t.Errorf("damage %q was not tried", d.name)
		}
	}
	for _, share := range shares {
		if s.budgets[share] < 30 {
			s.t.Errorf("a budget of %d %% was tried %d times only", share, s.budgets[share])
		}
	}
	for _, outcome := range []compact.Outcome{compact.Untouched, compact.Repaired, compact.Compacted, compact.Over} {
		if s.outcomes[outcome] == 0 {
			s.t.Errorf("no request was %s", outcome)
		}
	}
}

func linesOf(messages []json.RawMessage) (lines []chatLine) {
	for _, m := range messages {
		lines = append(lines, lineOf(m))
	}
	return lines
}

func raws(lines []chatLine) (messages []json.RawMessage) {
	for _, l := range lines {
		messages = append(messages, l.raw)
	}
	return messages
}
