package compact_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"laconic/compact"
	"laconic/compact/compacttest"
	"laconic/proxy/wire/wiretest"
)

// TestAnEpochPaysOrIsForced: between trigger and budget there is an epoch only
// if the conversation may go on for long enough to get its price back.
func TestAnEpochPaysOrIsForced(t *testing.T) {
	for _, c := range []struct {
		name            string
		rounds, percent int // the budget, of the cost
		want            int
	}{
		{"a young conversation above the trigger", 4, 102, 0},
		{"an old one above the trigger", 40, 102, 1},
		{"a young one above the budget", 4, 90, 1},
	} {
		in := rounds(c.rounds, 50)
		b := compact.Limits{Budget: compact.CostAll(compacttest.Words{}, in.Messages) * c.percent / 100}.For(0)
		if _, r := compact.Compact(in, adaptive(), compacttest.Words{}, b); r.Epochs != c.want {
			t.Errorf("%s: %d epochs, want %d", c.name, r.Epochs, c.want)
		}
	}
}

// TestANewEpochIsToldOnce: of the requests of a growing conversation, those say
// that an epoch is new which have one more than the request before. In all others
// the list before is the start of the list.
func TestANewEpochIsToldOnce(t *testing.T) {
	whole := rounds(60, 50)
	b := compact.Limits{Budget: compact.CostAll(compacttest.Words{}, whole.Messages) / 3}.For(0)
	epochs, seen := 0, 0
	var before []compact.Message
	for _, n := range compacttest.RequestPoints(whole.Messages) {
		in := compact.Conversation{Messages: whole.Messages[:n]}
		plan, r := compact.Compact(in, adaptive(), compacttest.Words{}, b)
		sent := plan.Apply()
		if plan.NewEpoch() != (r.Epochs > epochs) {
			t.Errorf("%d messages, %d epochs after %d: NewEpoch is %v", n, r.Epochs, epochs, plan.NewEpoch())
		}
		starts := len(before) <= len(sent) && compacttest.Format(sent[:len(before)]) == compacttest.Format(before)
		if starts == plan.NewEpoch() {
			t.Errorf("%d messages: NewEpoch is %v, and what was sent before is the start: %v", n, plan.NewEpoch(), starts)
		}
		if epochs, before = r.Epochs, sent; plan.NewEpoch() {
			seen++
		}
	}
	if seen < 2 {
		t.Errorf("%d epochs: too few to see anything", seen)
	}
}

// TestEpochsLand: an epoch leaves at most what a full slot and the recent
// messages may take, 75 % of the headroom, unless the newest exchange is more
// than the share of recent messages.
func TestEpochsLand(t *testing.T) {
	landed, epochs := 0, 0
	for _, rec := range wiretest.Conversations(t) {
		in := compact.Conversation{Messages: rec.Messages}
		cost := compact.CostAll(compacttest.Bytes{}, in.Messages)
		if !rec.Own && testing.Short() || cost < 8000 {
			continue
		}
		plan, _ := compact.Compact(in, adaptive(), compacttest.Bytes{}, compact.Limits{Budget: cost / 3}.For(0))
		if len(plan.Edits) > 0 && plan.Edits[0].Epoch == 0 {
			continue // repairs move the indices
		}
		for _, e := range plan.Epochs {
			newest, users := 0, 0
			for i := e.At - 1; i >= 0; i-- {
				m := &in.Messages[i]
				newest += compact.Cost(compacttest.Bytes{}, m)
				if m.Role == compact.Assistant {
					break
				}
			}
			for i := range in.Messages[:e.At] {
				if in.Messages[i].Role == compact.User {
					users++
				}
			}
			// What surrounds the newest user message may have to stay too.
			if room := e.Budget - e.Required; users > 1 || newest > room*3/20 {
				continue
			}
			epochs++
			if e.After <= e.Land {
				landed++
			}
			if most := e.Required + (e.Budget-e.Required)*3/4; e.After > most {
				t.Errorf("%s: the epoch at %d left %d, more than %d", rec.ID, e.At, e.After, most)
			}
		}
	}
	if epochs == 0 {
		t.Error("no epoch was looked at")
	}
	t.Logf("%d of %d epochs landed", landed, epochs)
}

// TestABudgetThatFitsIsKept: where what must stay fills three quarters of the
// budget and more, an epoch plans for more than the budget. A request that an epoch
// could bring within the budget is within it all the same, whatever the budget is.
func TestABudgetThatFitsIsKept(t *testing.T) {
	in := rounds(6, 20)
	in.Fixed = 600
	whole := in.Fixed + compact.CostAll(compacttest.Words{}, in.Messages)
	epochs := 0
	for tokens := in.Fixed; tokens < whole; tokens++ {
		_, r := compact.Compact(in, adaptive(), compacttest.Words{}, compact.Limits{Budget: tokens, Window: 10 * whole}.For(0))
		epochs += r.Epochs
		if least := leastOf(in); r.After > tokens && least <= tokens*9/10 {
			t.Errorf("budget %d: %d tokens sent, and %d are possible", tokens, r.After, least)
		}
	}
	if epochs == 0 {
		t.Error("no epoch in any of the budgets")
	}
}

// leastOf returns the cost of a conversation once an epoch with little room ended.
func leastOf(in compact.Conversation) int {
	_, r := compact.Compact(in, adaptive(), compacttest.Words{}, compact.Limits{Budget: in.Fixed + 20}.For(0))
	return r.After
}

// TestWhatCannotFitIsNotFoldedForNothing: where what must stay is above the budget, no
// epoch brings a request within it. Few are made then.
func TestWhatCannotFitIsNotFoldedForNothing(t *testing.T) {
	whole := rounds(60, 50)
	for _, fixed := range []int{1000, 2000, 8000} {
		whole.Fixed = fixed
		for _, limits := range []compact.Limits{{Budget: 1000}, {Window: 900}, {Budget: 600, Window: 900}, {Budget: 900, Window: 900}} {
			b := limits.For(0)
			epochs, over := 0, 0
			for _, n := range compacttest.RequestPoints(whole.Messages) {
				in := compact.Conversation{Messages: whole.Messages[:n], Fixed: fixed}
				_, r := compact.Compact(in, adaptive(), compacttest.Words{}, b)
				if epochs = r.Epochs; r.Outcome == compact.Over {
					over++
				}
			}
			t.Logf("fixed %d, %+v: %d epochs in %d requests over", fixed, limits, epochs, over)
			if over < 50 || epochs > over/6 {
				t.Errorf("fixed %d, %+v: %d epochs in %d requests", fixed, limits, epochs, over)
			}
		}
	}
}

// TestANewestMessageThatFillsTheBudgetIsNotFoldedForNothing: while a long message of the
// user is the newest, no epoch brings a request within the budget, and few are made.
// Behind the next message every request fits.
func TestANewestMessageThatFillsTheBudgetIsNotFoldedForNothing(t *testing.T) {
	for _, c := range []struct {
		name   string
		limits compact.Limits
		long   int // words of the message
	}{
		{"more than the window", compact.Limits{Window: 900}, 2000},
		{"just more than the window", compact.Limits{Window: 900}, 950},
		{"more than a budget in a small window", compact.Limits{Budget: 700, Window: 900}, 2000},
		{"no room for a record and the newest result", compact.Limits{Budget: 2000}, 1780},
		{"no room, and a window", compact.Limits{Budget: 2000, Window: 8000}, 1780},
	} {
		var list strings.Builder
		round := func(i int) {
			fmt.Fprintf(&list, "assistant: | call c%d read f%d.go\ntool c%d:%s\n", i, i, i, strings.Repeat(" word", 30+(i*37)%60))
		}
		list.WriteString("system: be brief\nuser: do it\n")
		for i := range 90 {
			switch i {
			case 10:
				list.WriteString("assistant: done\nuser:" + strings.Repeat(" long", c.long) + "\n")
			case 70:
				list.WriteString("assistant: done\nuser: go on\n")
			}
			round(i)
		}
		whole := compacttest.Messages(t, list.String())
		b, from := c.limits.For(0), len(whole)-2*20
		epochs, over, before := 0, 0, 0
		for _, n := range compacttest.RequestPoints(whole) {
			_, r := compact.Compact(compact.Conversation{Messages: whole[:n]}, adaptive(), compacttest.Words{}, b)
			if r.Outcome == compact.Over {
				over++
			}
			if n < from {
				epochs = r.Epochs
			} else if before == 0 {
				before = over
			}
		}
		t.Logf("%s: %d epochs, %d over", c.name, epochs, over)
		if over < 50 || over > before || epochs > over/3 {
			t.Errorf("%s: %d epochs, %d requests over, %d of them behind the next message", c.name, epochs, over, over-before)
		}
	}
}

// TestARecordGrowsWithItsRoom: while a long message of the user fills most of the budget, the
// record has little room. The first epoch behind the next message makes it anew in all of the room.
func TestARecordGrowsWithItsRoom(t *testing.T) {
	var list strings.Builder
	list.WriteString("system: be brief\nuser: do it\n")
	for i := range 90 {
		switch i {
		case 30:
			list.WriteString("assistant: done\nuser:" + strings.Repeat(" long", 12000) + "\n")
		case 60:
			list.WriteString("assistant: done\nuser: go on\n")
		}
		fmt.Fprintf(&list, "assistant: | call c%d read f%d.go\ntool c%d:%s\n", i, i, i, strings.Repeat(" word", 200+(i*370)%600))
	}
	whole, next := compacttest.Messages(t, list.String()), 0
	var sizes []int // at each epoch, and in the end those behind the next message
	for _, n := range compacttest.RequestPoints(whole) {
		plan, _ := compact.Compact(compact.Conversation{Messages: whole[:n]}, adaptive(), compacttest.Words{}, compact.Limits{Budget: 16000}.For(0))
		if plan.NewEpoch() && plan.Slot != nil {
			if n > len(whole)-2*30 && next == 0 {
				next = len(sizes)
			}
			sizes = append(sizes, plan.Slot.Size)
		}
	}
	if small, large := sizes[next-1], sizes[next]; small > 1800 || large < 3600 {
		t.Errorf("a record of %d tokens became one of %d: %v", small, large, sizes)
	}
}

// TestARecordMadeBesideLargeResultsIsMadeAnew: beside them it had little room. The first epoch
// behind them makes it anew, and does not add to it.
func TestARecordMadeBesideLargeResultsIsMadeAnew(t *testing.T) {
	var list strings.Builder
	list.WriteString("system: be brief\nuser: do it\n")
	for i := range 90 {
		if i == 8 {
			list.WriteString("assistant: | call a read a.go | call b read b.go | call d read d.go | call e read e.go\n")
			for _, id := range []string{"a", "b", "d", "e"} {
				fmt.Fprintf(&list, "tool %s:%s\n", id, strings.Repeat(" word", 3500))
			}
		}
		fmt.Fprintf(&list, "assistant: | call c%d read f%d.go\ntool c%d:%s\n", i, i, i, strings.Repeat(" word", 200+(i*370)%600))
	}
	whole := compacttest.Messages(t, list.String())
	var sizes []int // of the first part, at each epoch
	for _, n := range compacttest.RequestPoints(whole) {
		plan, _ := compact.Compact(compact.Conversation{Messages: whole[:n]}, adaptive(), compacttest.Words{}, compact.Limits{Budget: 16000}.For(0))
		if plan.NewEpoch() && plan.Slot != nil {
			sizes = append(sizes, plan.Slot.Spans[0].Size)
		}
	}
	if len(sizes) < 2 || sizes[0] > 2600 || sizes[1] < 3600 {
		t.Errorf("a first part of few tokens, and then one of many: %v", sizes)
	}
}

// TestAnEpochCopiesNoMessage: where pins fill the window, an epoch may be due at each
// request. Twice the requests cost about twice the memory all the same.
func TestAnEpochCopiesNoMessage(t *testing.T) {
	p := adaptive()
	p.Pins.Roles = []string{"user"}
	allocated := func(n int) (bytes float64, epochs int) {
		var list strings.Builder
		list.WriteString("user: task\n")
		for i := range n {
			fmt.Fprintf(&list, "assistant: | call c f x\ntool c: %s\nassistant: done %d\nuser: next\n", strings.Repeat("w ", 30), i)
		}
		in := compact.Conversation{Messages: compacttest.Messages(t, list.String())}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		plan, r := compact.Compact(in, p, compacttest.Words{}, compact.Limits{Window: 8000, MaxMessages: 40}.For(0))
		plan.Apply()
		runtime.ReadMemStats(&after)
		return float64(after.TotalAlloc - before.TotalAlloc), r.Epochs
	}
	once, _ := allocated(1000)
	twice, epochs := allocated(2000)
	if epochs < 1000 || twice > 3*once {
		t.Errorf("%d epochs, %.1f MB, and %.1f MB for half of the requests", epochs, twice/1e6, once/1e6)
	}
}

// TestWhatLeavesIsInASummaryOrTold: a summary stands for the run of its span. Behind it stands what
// left at the same epoch beyond the run, within the room of the span and whatever others show.
func TestWhatLeavesIsInASummaryOrTold(t *testing.T) {
	var list strings.Builder
	list.WriteString("system: be brief\nuser: do it\n")
	for i := range 24 {
		fmt.Fprintf(&list, "assistant: | call c%d read f%d.go\ntool c%d:%s\n", i, i, i, strings.Repeat(" word", 300+(i*1570)%2900))
		fmt.Fprintf(&list, "assistant: done\nuser: wish%d of mine\n", i)
	}
	whole, p, c := compacttest.Messages(t, list.String()), adaptive(), compacttest.Words{}
	p.Summaries = true
	beyond, apart := 0, 0
	for _, n := range compacttest.RequestPoints(whole) {
		plan, _ := compact.Compact(compact.Conversation{Messages: whole[:n]}, p, c, compact.Limits{Budget: 8000}.For(0))
		s := plan.Slot
		if s == nil {
			continue
		}
		summaries, summarized := make([]string, len(s.Spans)), map[int]bool{}
		for i := range s.Spans {
			summaries[i] = "\n\n[a summary]"
			for _, m := range s.Messages(i) {
				summarized[m.Origin] = true
			}
		}
		texts := s.Texts(summaries)
		for i, text := range texts {
			if cost := compact.CostText(c, text); !strings.HasPrefix(text, summaries[i]) || cost > s.Spans[i].Size {
				t.Fatalf("%d messages: a span of %d tokens costs %d:\n%s", n, s.Spans[i].Size, cost, text)
			}
		}
		sent := compacttest.Format(plan.Apply(summaries...))
		for i := range whole[:n] {
			if m := &whole[i]; m.Role == compact.User && !summarized[i] {
				wish := strings.Fields(m.Parts[0].Text.String())[0]
				if !strings.Contains(sent, wish+" ") {
					t.Fatalf("%d messages: %s is in no summary, and not told:\n%s", n, wish, strings.Join(texts, ""))
				}
				if strings.Contains(strings.Join(texts, ""), wish+" ") {
					beyond++
				}
			}
		}
		if last := len(s.Spans) - 1; last > 0 {
			apart++
			digests := s.Texts(nil)
			summaries[last] = ""
			if mixed := s.Texts(summaries); mixed[last] != digests[last] || mixed[0] != texts[0] {
				t.Fatalf("%d messages: a span's text depends on what others show", n)
			}
		}
	}
	if beyond == 0 || apart == 0 {
		t.Errorf("%d wishes left beyond a run, %d slots have several spans: this proves nothing", beyond, apart)
	}
}
