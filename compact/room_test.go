package compact_test

import (
	"fmt"
	"strings"
	"testing"

	"laconic/compact"
	"laconic/compact/compacttest"
	"laconic/proxy/wire/wiretest"
)

// TestALargerWindowLeavesNoLess: what a budget is made of never falls as the window
// grows, and never grows with the answer that is asked for.
func TestALargerWindowLeavesNoLess(t *testing.T) {
	for _, together := range []bool{false, true} {
		var shorter [200_001]compact.Budget // for a shorter answer, by the window
		for n, answer := range []int{0, 1000, 4096, 8192, 16_000, 32_000, 64_000} {
			var before compact.Budget
			for window := 8000; window <= 200_000; window++ {
				b := compact.Limits{Window: window, Together: together}.For(answer)
				if b.Tokens < before.Tokens || b.Placing < before.Placing || b.Limit < before.Limit {
					t.Fatalf("window %d, answer %d, together %v: %+v after %+v", window, answer, together, b, before)
				}
				if b.Placing > b.Tokens || b.Limit >= window || b.Placing > b.Limit {
					t.Fatalf("window %d, answer %d, together %v: %+v", window, answer, together, b)
				}
				if s := shorter[window]; n > 0 && (b.Tokens > s.Tokens || b.Placing > s.Placing || b.Limit > s.Limit) {
					t.Fatalf("window %d, answer %d, together %v: %+v, and %+v for a shorter one", window, answer, together, b, s)
				}
				for _, required := range []int{0, 500, 6000, 12_000, 150_000} {
					a, least := b.Above(required), before.Above(required)
					if a.Tokens < least.Tokens || a.Placing < least.Placing || a.Newest < least.Newest || a.Placing > max(b.Placing, b.Limit) || a.Newest > max(b.Newest, b.Limit) {
						t.Fatalf("window %d, answer %d, together %v, required %d: %+v after %+v", window, answer, together, required, a, least)
					}
				}
				before, shorter[window] = b, b
			}
		}
	}
}

// TestALargerWindowKeepsNoLess sends one conversation, whose instructions and tools
// fill small windows, request by request to windows that grow. Between two epochs
// what is kept grows, and a larger window has its epochs elsewhere, so of a single
// request a larger window may keep less. Over all requests of a conversation the
// kept tokens fall by at most a twentieth from one window to a larger one, and the
// kept messages by at most an eighth; a request above the window is refused, and keeps
// nothing. No request that an epoch could bring within the window is planned above it.
func TestALargerWindowKeepsNoLess(t *testing.T) {
	tried := 0
	for _, rec := range wiretest.Conversations(t) {
		in := compact.Conversation{Messages: rec.Messages, Fixed: 12_000}
		if !rec.Own || compact.CostAll(compacttest.Bytes{}, in.Messages) < 30_000 {
			continue
		}
		points := compacttest.RequestPoints(in.Messages)
		// sent returns the report of every request.
		sent := func(b compact.Budget) (all []compact.Report) {
			for _, k := range points {
				_, r := compact.Compact(compact.Conversation{Messages: in.Messages[:k], Fixed: in.Fixed}, adaptive(), compacttest.Bytes{}, b)
				all = append(all, r)
			}
			return all
		}
		least := sent(compact.Budget{Tokens: 1, Limit: 1})
		for _, answer := range []int{0, 64_000} { // above 0: once both were refused together
			tokens, messages := 0, 0 // the most so far
			for window := 8000; window <= 200_000; window += window / 8 {
				b := compact.Limits{Window: window, Together: answer > 0}.For(answer)
				after, count := 0, 0
				for i, r := range sent(b) {
					if r.After <= b.Limit {
						after, count = after+r.After, count+r.MessagesAfter
					} else if least[i].After <= b.Limit*99/100 {
						t.Errorf("%s, window %d, answer %d, request of %d: %d tokens, and %d are possible", rec.ID, window, answer, points[i], r.After, least[i].After)
					}
				}
				if after < tokens*19/20 || count < messages*7/8 {
					t.Errorf("%s, window %d, answer %d: %d tokens in %d messages, and %d in %d in a smaller one", rec.ID, window, answer, after, count, tokens, messages)
				}
				tokens, messages = max(tokens, after), max(messages, count)
			}
			tried++
		}
	}
	if tried < 3 {
		t.Errorf("%d rows of windows show little", tried)
	}
}

// TestNoPartOfASlotStarves: what left last has a part of the slot that is no crumb of what
// the parts before it left over.
func TestNoPartOfASlotStarves(t *testing.T) {
	var list strings.Builder
	list.WriteString("user: look at all of them\n")
	for i := range 400 {
		fmt.Fprintf(&list, "assistant: | call %d read x%[1]d\ntool %[1]d:%s\n", i, strings.Repeat(fmt.Sprintf(" word%d", i), 40))
	}
	msgs := compacttest.Messages(t, list.String())
	added := 0
	for _, k := range compacttest.RequestPoints(msgs) {
		plan, _ := compact.Compact(compact.Conversation{Messages: msgs[:k]}, adaptive(), compacttest.Bytes{}, compact.Limits{Budget: 12_000}.For(0))
		if plan.Slot == nil || len(plan.Slot.Spans) < 2 {
			continue
		}
		added++
		if last := plan.Slot.Spans[len(plan.Slot.Spans)-1]; last.Size < 700 {
			t.Errorf("after %d messages a part of %d tokens, for messages %d to %d", k, last.Size, last.From, last.To)
		}
	}
	if added == 0 {
		t.Error("no slot has two parts")
	}
}
