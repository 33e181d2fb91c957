package summarize

import (
	"strings"
	"testing"

	"laconic/compact"
	"laconic/compact/compacttest"
	"laconic/compact/policy"
)

// BenchmarkDigests is a folded request of some 3 MB whose conversation was seen
// before, beside one whose digests are made anew, and one without.
func BenchmarkDigests(b *testing.B) {
	in := compact.Conversation{Messages: compacttest.Messages(b, "user: read all files")}
	for i := range 1000 {
		step := compacttest.Step(b, i)
		text := &step[1].Parts[0].Text
		*text = compact.Plain(strings.Repeat(text.String()+"\n", 4))
		in.Messages = append(in.Messages, step...)
	}
	for i := range in.Messages {
		in.Messages[i].Origin = i
	}
	s := New(nil, Environment{})
	plain, err := policy.New("adaptive", nil)
	if err != nil {
		b.Fatal(err)
	}
	budget := compact.Limits{Budget: 100_000}.For(0)
	fold := func(b *testing.B, p *compact.Policy, digest bool) {
		plan, _ := compact.Compact(in, p, compact.BytesPerToken(3.5), budget)
		if plan.Slot == nil {
			b.Fatal("no slot")
		}
		if digest {
			plan.Slot.Digest()
		}
	}
	b.Run("none", func(b *testing.B) {
		for b.Loop() {
			fold(b, plain, false)
		}
	})
	b.Run("seen", func(b *testing.B) {
		for b.Loop() {
			p := *plain
			p.Records = s.Records(asking())
			fold(b, &p, true)
		}
	})
	b.Run("seen, and summed", func(b *testing.B) {
		for i := range in.Messages {
			in.Messages[i].Sum.Hash = [2]uint64{uint64(i), 1}
		}
		for b.Loop() {
			p := *plain
			p.Records = s.Records(asking())
			fold(b, &p, true)
		}
	})
	b.Run("anew", func(b *testing.B) {
		for b.Loop() {
			fold(b, plain, true)
		}
	})
}
