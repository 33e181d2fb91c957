package compact_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"laconic/compact"
	"laconic/compact/compacttest"
	"laconic/proxy/wire/wiretest"
)

// demandsNamed returns the demands of a name as String writes it.
func demandsNamed(t *testing.T, name string) compact.Demands {
	t.Helper()
	for d := range compact.AllDemands + 1 {
		if d.String() == name {
			return d
		}
	}
	t.Fatalf("no demands are called %q", name)
	return 0
}

// TestDemandStories runs testdata/demands.txtar. Each case is also rewritten
// twice, and checked against every promise.
func TestDemandStories(t *testing.T) {
	var before []compact.Message
	compacttest.Stories(t, "testdata/demands.txtar", *update, sections, func(name, what, text string) (got string) {
		names, _, _ := strings.Cut(name, ";")
		d := demandsNamed(t, names)
		out, edits := d.Rewrite(before)
		switch what {
		case "before":
			before = compacttest.Messages(t, text)
			in := compact.Conversation{Messages: before}
			compacttest.Compacted(t, in, &compact.Policy{Demands: d}, compacttest.Words{}, compact.Limits{}.For(0), name)
		case "after":
			return compacttest.Format(out)
		case "edits":
			return shortly(edits)
		}
		return text
	})
}

// TestPromisesHoldUnderEveryDemand sweeps real conversations into which system
// messages were put, two at the beginning and one after every fifth message on
// average, under all demands at once and under each.
func TestPromisesHoldUnderEveryDemand(t *testing.T) {
	chance := rand.New(rand.NewPCG(1, 2))
	edits := make(map[compact.Op]int)
	epochs := 0
	for n, rec := range wiretest.Conversations(t) {
		if testing.Short() && !rec.Own && n%12 != 0 {
			continue
		}
		in := compact.Conversation{Messages: withSystem(rec.Messages, chance), Fixed: len(rec.Tools) / 4}
		cost := in.Fixed + compact.CostAll(compacttest.Bytes{}, in.Messages)
		each := []compact.Demands{compact.OneSystem, compact.NoSystem, compact.SingleCalls, compact.NineLetters, compact.TakeTurns | compact.OneSystem}
		for k, d := range []compact.Demands{each[n%len(each)], compact.AllDemands &^ (compact.NoSlot | compact.Original)} {
			b := compact.Limits{Budget: max(1, cost*[]int{10, 25, 50, 75, 110}[(n+k)%5]/100)}.For(0)
			p := adaptive()
			p.Demands, p.Summaries = d, n%2 == 1
			runs, broken := compacttest.Sweep(in, p, compacttest.Bytes{}, b)
			for i, err := range broken {
				if i == 3 {
					t.Fatalf("%s, %s: and %d more", rec.ID, d, len(broken)-i)
				}
				t.Errorf("%s, %s: %v", rec.ID, d, err)
			}
			last := runs[len(runs)-1]
			epochs += len(last.Plan.Epochs)
			for _, e := range last.Plan.Edits {
				edits[e.Op]++
			}
		}
	}
	for _, op := range []compact.Op{compact.OpMerge, compact.OpSplit, compact.OpInsert, compact.OpRename} {
		if edits[op] == 0 {
			t.Errorf("no conversation needed the edit %s", op)
		}
	}
	if epochs == 0 {
		t.Error("nothing was folded")
	}
	t.Logf("%d epochs, edits of the last requests: %v", epochs, edits)
}

// withSystem returns a conversation with system messages in the middle.
func withSystem(msgs []compact.Message, chance *rand.Rand) (with []compact.Message) {
	add := func(role compact.Role, text string) {
		with = append(with, compact.Message{Role: role, Shape: compact.String, Parts: []compact.Part{{Text: compact.Plain(text)}}})
	}
	add(compact.System, "the first of all")
	for i, m := range msgs {
		with = append(with, m)
		if chance.IntN(5) == 0 && len(m.Calls) == 0 {
			add([]compact.Role{compact.System, compact.Developer}[chance.IntN(2)], fmt.Sprintf("rule %d: %s", i, strings.Repeat("keep ", chance.IntN(40))))
		}
	}
	return compacttest.Numbered(with)
}

// TestDemandsThatAreMetCostNothing: the list comes back as the same slice.
func TestDemandsThatAreMetCostNothing(t *testing.T) {
	msgs := compacttest.Messages(t, "system: be brief\nuser: go\nassistant: | call abcdefgh1 read x\ntool abcdefgh1: one\nassistant: done")
	d := compact.AllDemands &^ compact.NoSystem
	if out, edits := d.Rewrite(msgs); &out[0] != &msgs[0] || len(out) != len(msgs) || edits != nil {
		t.Errorf("a list that meets the demands was copied, or edited: %v", edits)
	}
}

// TestRewritingIsLinear: ten times the messages cost about ten times the memory,
// also where all texts go into one message.
func TestRewritingIsLinear(t *testing.T) {
	bytes := func(n int) int64 {
		msgs := compacttest.Messages(t, "user: go")
		msgs = slices.Grow(msgs, n)
		for i := range n {
			msgs = append(msgs, compact.Message{Role: compact.System, Shape: compact.String, Parts: []compact.Part{{Text: compact.Plain("rule")}}, Origin: i + 1})
		}
		return testing.Benchmark(func(b *testing.B) {
			for b.Loop() {
				compact.OneSystem.Rewrite(msgs)
			}
		}).AllocedBytesPerOp()
	}
	if few, many := bytes(100), bytes(1000); many > 20*few {
		t.Errorf("%d bytes for 100 messages, %d for 1000", few, many)
	}
}
