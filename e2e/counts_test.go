package e2e

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"laconic/compact/compacttest"
)

// TestThreeAnswersShowHowAnUpstreamCounts: whatever the tokenizer of a model
// that nobody knows, tools included, its prompts are counted right after three
// answers.
func TestThreeAnswersShowHowAnUpstreamCounts(t *testing.T) {
	if testing.Short() {
		t.Skip("hundreds of requests through another process, in which the race detector sees nothing")
	}
	chats := playable(t, 9, 24)
	if len(chats) < 6 {
		t.Fatalf("only %d conversations", len(chats))
	}
	t.Parallel()
	for _, b := range billings(t) {
		t.Run(b.name, func(t *testing.T) {
			x := newBilled(t, b)
			var off []float64
			low, high := 0.0, 0.0
			for i, requests := range chats {
				answers := 0
				for _, body := range requests {
					counted, bill := x.send(body, fmt.Sprint("client ", i))
					if bill < 500 {
						continue
					}
					if answers++; answers <= 3 {
						continue
					}
					e := float64(counted)/float64(bill) - 1
					off, low, high = append(off, math.Abs(e)), min(low, e), max(high, e)
				}
			}
			slices.Sort(off)
			median, p95 := off[len(off)/2], off[len(off)*95/100]
			t.Logf("%d prompts of %d conversations: median %.1f %%, 95th percentile %.1f %%, from %.1f to %+.1f %%", len(off), len(chats), 100*median, 100*p95, 100*low, 100*high)
			if median > 0.03 || p95 > 0.08 || low < -0.05 {
				t.Error("more than a median of 3 %, 8 % for 95 of 100, or 5 % below")
			}
		})
	}
}

// TestAnotherMixOfTextsIsStillCounted: what three answers of one kind showed holds
// within 15 % for texts of another kind, for 95 of 100.
func TestAnotherMixOfTextsIsStillCounted(t *testing.T) {
	if testing.Short() {
		t.Skip("hundreds of requests through another process, in which the race detector sees nothing")
	}
	compacttest.LargerSet(t) // of few conversations one alone is a twentieth
	chats := playable(t, 4, 24)
	t.Parallel()
	var numbers, records strings.Builder
	for i := range 1500 {
		fmt.Fprintln(&numbers, i+1)
		if i < 100 {
			fmt.Fprintf(&records, `{"id":"usr_%08x","balance":%d.%02d,"tags":["a","b"],"created_at":"2026-11-%02dT10:00:00Z"},`, i*2654435761%(1<<32), i*37%1000, i, i%28+1)
		}
	}
	kinds := []string{numbers.String(), records.String(), strings.Repeat("The committee met on the first day of spring and agreed that nothing should change. ", 120)}
	for _, b := range billings(t) {
		t.Run(b.name, func(t *testing.T) {
			x := newBilled(t, b)
			var off []float64
			for i, requests := range chats {
				for k, text := range kinds {
					client, answers := fmt.Sprint("client ", i, k), 0
					for _, body := range requests {
						if _, bill := x.send(body, client); bill >= 500 {
							answers++
						}
						if answers == 3 {
							break
						}
					}
					var q map[string]any
					if err := json.Unmarshal(requests[0], &q); err != nil {
						t.Fatal(err)
					}
					q["messages"] = []any{object{"role": "user", "content": text}}
					counted, bill := x.send(marshal(q), client)
					off = append(off, math.Abs(float64(counted)/float64(bill)-1))
				}
			}
			slices.Sort(off)
			median, p95 := off[len(off)/2], off[len(off)*95/100]
			t.Logf("%d changes: median %.1f %%, 95th percentile %.1f %%", len(off), 100*median, 100*p95)
			if median > 0.03 || p95 > 0.15 {
				t.Error("more than a median of 3 %, or 15 % for 95 of 100")
			}
		})
	}
}
