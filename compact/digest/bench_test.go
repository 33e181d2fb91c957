package digest_test

import (
	"fmt"
	"strings"
	"testing"

	"laconic/compact"
	"laconic/compact/compacttest"
	"laconic/compact/stage"
)

// BenchmarkDigest makes the text of a slot for a history of about 4 MB.
func BenchmarkDigest(b *testing.B) {
	var msgs []compact.Message
	add := func(m compact.Message) {
		m.Origin = len(msgs)
		msgs = append(msgs, m)
	}
	add(compact.Message{Role: compact.User, Shape: compact.String, Parts: []compact.Part{{Text: compact.Plain("fix it")}}})
	for i := range 1000 {
		id := fmt.Sprint("call_", i)
		var out strings.Builder
		for l := range 100 {
			fmt.Fprintf(&out, "internal/pkg%d/file_%d.go:%d: func handle%d(ctx)\n", i%7, l, l*i, i)
		}
		add(compact.Message{Role: compact.Assistant, Shape: compact.Null, Calls: []compact.Call{{ID: id, Name: "read", Arguments: compact.Plain(fmt.Sprintf(`{"path":"internal/pkg%d/file_%d.go"}`, i%7, i))}}})
		add(compact.Message{Role: compact.Tool, Shape: compact.String, Answers: id, Parts: []compact.Part{{Text: compact.Plain(out.String())}}})
	}
	in := compact.Conversation{Messages: msgs}
	limits := compact.Limits{Budget: 64_000, MaxMessages: 1 << 20}.For(0)
	b.SetBytes(int64(compact.CostAll(compacttest.Bytes{}, msgs) * 7 / 2))
	for b.Loop() {
		plan, _ := compact.Compact(in, &compact.Policy{Ladder: stage.Default()}, compacttest.Bytes{}, limits)
		if plan.Slot == nil || plan.Slot.Digest() == "" {
			b.Fatal("no digest")
		}
	}
}
