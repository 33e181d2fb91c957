package compact_test

import (
	"fmt"
	"strings"
	"testing"

	"laconic/compact"
	"laconic/compact/compacttest"
)

// agentRun is a synthetic agent run of n messages: a task, then calls and
// results.
func agentRun(n int) []compact.Message {
	result := compact.Plain(strings.Repeat("line of output\n", 140))
	msgs := []compact.Message{
		{Role: compact.System, Shape: compact.String, Parts: []compact.Part{{Text: compact.Plain("be brief")}}},
		{Role: compact.User, Shape: compact.String, Parts: []compact.Part{{Text: compact.Plain("go")}}},
	}
	for i := 0; len(msgs) < n; i++ {
		id := fmt.Sprint("call_", i)
		msgs = append(msgs,
			compact.Message{Role: compact.Assistant, Shape: compact.Null, Calls: []compact.Call{{ID: id, Name: "read", Arguments: compact.Plain(`{"path":"x"}`)}}},
			compact.Message{Role: compact.Tool, Shape: compact.String, Answers: id, Parts: []compact.Part{{Text: result}}})
	}
	return compacttest.Numbered(msgs)
}

// BenchmarkFold folds runs of growing length under a budget of a tenth of
// their cost: about ten epochs' worth of history, whatever the length. The text
// of the slot is known, as in all requests of an epoch but the first; digest
// measures making it.
func BenchmarkFold(b *testing.B) {
	for _, n := range []int{100, 1000, 10_000} {
		in := compact.Conversation{Messages: agentRun(n)}
		limits := compact.Limits{Budget: compact.CostAll(compacttest.Bytes{}, in.Messages) / 10, MaxMessages: 1 << 30}.For(0)
		for _, c := range []struct {
			name string
			b    compact.Budget
		}{{"noop", compact.Limits{Budget: 1 << 30, MaxMessages: 1 << 30}.For(0)}, {"folding", limits}} {
			b.Run(fmt.Sprintf("%s/%d", c.name, n), func(b *testing.B) {
				p := adaptive()
				b.ReportAllocs()
				for b.Loop() {
					plan, _ := compact.Compact(in, p, compacttest.Bytes{}, c.b)
					plan.Apply("what was before")
				}
			})
		}
		b.Run(fmt.Sprintf("digest/%d", n), func(b *testing.B) {
			p := adaptive()
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				plan, _ := compact.Compact(in, p, compacttest.Bytes{}, limits)
				b.StartTimer()
				plan.Slot.Digest()
			}
		})
	}
}
