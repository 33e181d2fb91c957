package compact_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"laconic/compact"
	"laconic/compact/compacttest"
	"laconic/compact/stage"
)

// tenfold is a counter whose tokens are tenths of words: a slot of the least
// size then fits into a transcript that a person can read.
type tenfold struct{ compacttest.Words }

func (c tenfold) Envelope(m *compact.Message) int              { return 10 * c.Words.Envelope(m) }
func (c tenfold) Part(m *compact.Message, p *compact.Part) int { return 10 * c.Words.Part(m, p) }
func (c tenfold) Call(k *compact.Call) int                     { return 10 * c.Words.Call(k) }

// record is a stage that makes a slot whose text has the number of messages that
// left.
type record struct{}

func (s record) Name() string { return "record" }

func (s record) Shrink(d *compact.Draft) { d.Summarize(s, 50, "older exchanges") }

func (s record) Record(compact.Counter, func() bool) compact.Recorder {
	all := 0
	return compact.Recorder(func(lost, _ []compact.Message, _ int, anew bool) string {
		if all += len(lost); anew {
			return fmt.Sprintf("[record of %d]", all)
		}
		return fmt.Sprintf("[and of %d]", len(lost))
	})
}

// TestSlotStories runs testdata/slot.txtar: the place of a slot's text for every
// kind of neighbour. Each story is then swept over budgets, and every list that
// is sent must have the strictest shape.
func TestSlotStories(t *testing.T) {
	var plan compact.Plan
	compacttest.Stories(t, "testdata/slot.txtar", *update, sections, func(name, what, text string) (got string) {
		switch what {
		case "before":
			head, transcript, _ := strings.Cut(text, "\n")
			// The warm mark is the epoch's own point, unless the story says otherwise.
			p := &compact.Policy{Name: name, Land: 0.1, Warm: 1, Ladder: []compact.Stage{record{}}}
			limits := compacttest.Under(t, head, p)
			in := compact.Conversation{Messages: compacttest.Messages(t, transcript)}
			plan, _ = compact.Compact(in, p, tenfold{}, limits.For(0))
			whole := compact.CostAll(tenfold{}, in.Messages)
			broken := 0
			for budget := 1; budget <= whole && broken < 3; budget += 3 {
				_, errs := compacttest.Sweep(in, p, tenfold{}, compact.Limits{Budget: budget}.For(0))
				for _, err := range errs {
					t.Errorf("%s, budget %d: %v", name, budget, err)
					broken++
				}
			}
		case "after":
			return compacttest.Format(plan.Apply(""))
		}
		return text
	})
}

// TestEveryNeighbour compacts every conversation of up to five blocks, these among them,
// with one pin somewhere or none, with the whole ladder and with a slot alone:
// whatever the neighbours of a gap, no promise and no rule of the strictest
// shape is broken.
func TestEveryNeighbour(t *testing.T) {
	everyNeighbour(t,
		"assistant: | call %d read x\ntool %[1]d: t t t t t t t t",
		"assistant [sealed]: | call %d read x | call %d0 read y\ntool %[1]d: t t t t\ntool %[2]d0: t t t t",
	)
}

// TestEveryNeighbourOfAnItem does the same with what only some wires have, and with
// a note behind results.
func TestEveryNeighbourOfAnItem(t *testing.T) {
	everyNeighbour(t,
		"assistant: | call %d read x\ntool %[1]d: t t t t t t t t\nsystem: n n n",
		"assistant [joined]: | call %d read x\ntool %[1]d: t t t t t t t t",
		"assistant [kept]: | call %d read x\ntool %[1]d: t t t t",
		"assistant [replaces]: r r",
	)
}

func everyNeighbour(t *testing.T, blocks ...string) {
	blocks = append([]string{"system: s s", "user: u u u", "assistant: a a a a a a"}, blocks...)
	longest := 5
	if testing.Short() {
		longest = 4
	}
	ladders := [][]compact.Stage{{record{}}, stage.Default()}
	runs, slots := 0, 0
	var write func(prefix string, length int)
	write = func(prefix string, length int) {
		if length > 0 {
			msgs := compacttest.Messages(t, prefix+"assistant: done")
			in := compact.Conversation{Messages: msgs}
			whole := compact.CostAll(tenfold{}, msgs)
			p := &compact.Policy{Trigger: 1, Land: 0.1, Warm: 1, Ladder: ladders[runs%2]}
			p.KeepRecent = compact.KeepRecent{Share: 1e-9, Exchanges: 1}
			if pin := runs / 2 % (len(msgs) + 1); pin < len(msgs) {
				p.Pins.Messages = []int{pin}
			}
			runs++
			for _, percent := range []int{50, 75} {
				got, broken := compacttest.Sweep(in, p, tenfold{}, compact.Limits{Budget: whole * percent / 100}.For(0))
				for _, err := range broken {
					t.Fatalf("%v\nbudget %d %%, pins %v, ladder %d\n%s", err, percent, p.Pins.Messages, (runs-1)%2, compacttest.Format(msgs))
				}
				if got[len(got)-1].Plan.Slot != nil {
					slots++
				}
			}
		}
		if length == longest {
			return
		}
		for _, b := range blocks {
			if strings.Contains(b, "%") {
				b = fmt.Sprintf(b, length+1, length+1)
			}
			write(prefix+b+"\n", length+1)
		}
	}
	write("", 0)
	if slots < runs/10 {
		t.Errorf("only %d slots in %d conversations", slots, runs)
	}
	t.Logf("%d conversations, %d slots", runs, slots)
}

// TestTheSlotsOwnMessageIsCounted: a message of its own is one of the messages
// that a request may have.
func TestTheSlotsOwnMessageIsCounted(t *testing.T) {
	in := rounds(40, 30)
	for most := 6; most <= 40; most++ {
		p := &compact.Policy{Ladder: stage.Default(), Placement: compact.PlaceSystem, Trigger: 1, Land: 0.999}
		b := compact.Limits{Budget: 100_000, MaxMessages: most}.For(0)
		runs, broken := compacttest.Sweep(in, p, compacttest.Words{}, b)
		for _, err := range broken {
			t.Errorf("%d messages: %v", most, err)
		}
		for _, r := range runs {
			if r.Report.Outcome == compact.Over || len(r.Out) > most {
				t.Fatalf("%d messages at most, prefix %d: %s, %d messages", most, r.Prefix, r.Report.Outcome, len(r.Out))
			}
		}
	}
}

// TestOverIsAllThatCanBeDone: compacting a list that is over its budget a second
// time does not make it fit, even without a user message.
func TestOverIsAllThatCanBeDone(t *testing.T) {
	p, over := &compact.Policy{Ladder: stage.Default()}, 0
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 3))
		var b strings.Builder
		b.WriteString("system: be brief\n")
		if r.IntN(3) == 0 {
			b.WriteString("user: read all files\n")
		}
		for i := range 5 + r.IntN(30) {
			fmt.Fprintf(&b, "assistant: | call c%d read {\"path\":\"/src/file_%d.go\"}\ntool c%d: %s\n", i, i, i, strings.Repeat("word ", r.IntN(120)))
		}
		in := compact.Conversation{Messages: compacttest.Messages(t, strings.TrimSuffix(b.String(), "\n"))}
		for budget := 60; budget < 1500; budget += 1 + budget/7 {
			limit := compact.Limits{Budget: budget, Window: budget + 10}.For(0)
			c := compact.BytesPerToken(3.5)
			plan, first := compact.Compact(in, p, c, limit)
			if first.Outcome != compact.Over {
				continue
			}
			over++
			again := plan.Apply("")
			for i := range again {
				again[i].Origin, again[i].Edited = i, false
			}
			if _, second := compact.Compact(compact.Conversation{Messages: again}, p, c, limit); second.Outcome != compact.Over {
				t.Errorf("seed %d, budget %d: over with %d tokens, and with %d when sent again", seed, budget, first.After, second.After)
			}
		}
	}
	if over < 50 {
		t.Errorf("only %d plans were over", over)
	}
}
