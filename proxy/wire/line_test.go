package wire_test

import (
	"encoding/binary"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"laconic/compact"
	"laconic/compact/promises"
	"laconic/compact/stage"
	"laconic/proxy/wire"
)

// form is how tests write the bodies of an API.
type form struct {
	wire   wire.Wire
	list   string                     // key of its list
	random func(source []byte) string // a body, as the bytes of source decide
}

var forms = []form{
	{wire.Chat, "messages", func(source []byte) string {
		w := &bodyWriter{source: source}
		w.body()
		return w.b.String()
	}},
	{wire.Messages, "messages", func(source []byte) string { return randomBlocks(seeded(source)) }},
	{wire.Responses, "input", func(source []byte) string { return randomItems(seeded(source)) }},
}

func seeded(source []byte) *rand.Rand {
	h := fnv.New64()
	_, _ = h.Write(source)
	return rand.New(rand.NewPCG(h.Sum64(), uint64(len(source))))
}

// FuzzLine sends a body of each API all the way: decode, compact, encode, decode,
// repair. The bytes of source decide what the body is like.
func FuzzLine(f *testing.F) {
	for n := range 40 {
		f.Add(sourceOf(rand.New(rand.NewPCG(3, uint64(n))), 20+20*n), uint16(n*997), uint8(n*7))
	}
	f.Fuzz(func(t *testing.T, source []byte, budget uint16, options uint8) {
		if len(source) > 2000 {
			return
		}
		for _, form := range forms {
			line(t, form, []byte(form.random(source)), int(budget), options)
		}
	})
}

func sourceOf(chance *rand.Rand, n int) []byte {
	source := make([]byte, n)
	for i := range source {
		source[i] = byte(chance.Uint32())
	}
	return source
}

// TestTheWholeLine is FuzzLine for a few thousand random bodies.
func TestTheWholeLine(t *testing.T) {
	for _, form := range forms {
		t.Run(form.wire.Name(), func(t *testing.T) {
			chance := rand.New(rand.NewPCG(5, 6))
			for n := 0; n < 2000 && !t.Failed(); n++ {
				line(t, form, []byte(form.random(sourceOf(chance, 10+chance.IntN(700)))), chance.IntN(4000), uint8(n))
			}
		})
	}
}

// remembering wants messages of one Sum to cost the same, however they were
// handled since they were read.
type remembering struct {
	compact.Counter
	t     *testing.T
	costs map[compact.Sum]int
}

func (r remembering) Message(m *compact.Message) int {
	n := compact.CostOfPieces(r.Counter, m)
	if m.Edited || m.Sum == (compact.Sum{}) {
		return n
	}
	if was, ok := r.costs[m.Sum]; ok && was != n {
		r.t.Errorf("a message that is not marked as edited costs %d, and %d before: %+v", n, was, m)
	}
	r.costs[m.Sum] = n
	return n
}

// sums gives every message a Sum of its bytes.
func sums(raw string) compact.Sum {
	h := fnv.New128()
	_, _ = h.Write([]byte(raw))
	sum := h.Sum(nil)
	return compact.Sum{Hash: [2]uint64{binary.LittleEndian.Uint64(sum), binary.LittleEndian.Uint64(sum[8:])}, Size: len(raw)}
}

// line checks the promises on one body.
func line(t *testing.T, form form, body []byte, budget int, options uint8) {
	t.Helper()
	r := decoded(t, form.wire, body)
	r.Sum(sums)
	c := remembering{compact.BytesPerToken(3.5), t, map[compact.Sum]int{}}
	p := &compact.Policy{Name: "adaptive", Ladder: stage.Default(), Repair: compact.RepairAnswer}
	if options&1 == 1 {
		p.Repair = compact.RepairDrop
	}
	if options&6 == 6 {
		p.Pins.Messages = []int{int(options>>3) % len(r.Conversation.Messages)}
	}
	in := r.Conversation
	in.Fixed = c.Fixed(r.Beside)
	b := compact.Budget{Tokens: 20 + budget}
	plan, report := compact.Compact(in, p, c, b)
	for _, err := range promises.Broken(in, p, c, b, &plan, report) {
		t.Errorf("%v\n%.4000s", err, body)
	}
	sent := plan.Apply("")
	if len(sent) == 0 {
		if report.MessagesAfter != 0 {
			t.Errorf("no message is left of %d reported\n%s", report.MessagesAfter, body)
		}
		return
	}
	out, err := r.Encode(sent)
	if len(sent) == 1 && sent[0].Role == compact.System && err != nil {
		return // nothing but what is beside the list would be left
	}
	if err != nil {
		t.Fatalf("%v\n%.4000s", err, body)
	}
	if report.Outcome == compact.Untouched && (len(out) != len(body) || &out[0] != &body[0]) {
		t.Errorf("untouched, but not the same slice\n%s", body)
	}
	back, err := form.wire.Decode(out)
	if err != nil {
		t.Fatalf("%v\n%.4000s\nbecame\n%.4000s", err, body, out)
	}
	if _, edits := back.Conversation.Rules.Repair(back.Conversation.Messages, p.Repair); len(edits) > 0 {
		t.Errorf("what was sent needs repair: %+v\n%.4000s\nbecame\n%.4000s", edits, body, out)
	}
	sameBeside(t, form, body, out)
	if form.wire == wire.Chat {
		// The slot and the text it follows are counted apart, each rounded.
		if cost := in.Fixed + compact.CostAll(c, back.Conversation.Messages); cost > report.After+1 {
			t.Errorf("%d tokens were sent, %d reported\n%.4000s\nbecame\n%.4000s", cost, report.After, body, out)
		}
		again(t, wire.Chat, out, sent)
		sameBytes(t, body, out, sent)
	}
	if form.wire == wire.Responses {
		for _, kept := range []string{`{"type":"additional_tools","role":"developer","tools":[]}`, `{"type":"compaction","encrypted_content":"x"}`} {
			if strings.Count(string(out), kept) != strings.Count(string(body), kept) {
				t.Errorf("%s left\n%s\nbecame\n%s", kept, body, out)
			}
		}
	}
	if t.Failed() {
		t.Logf("budget %d, repair %s, pins %v", b.Tokens, p.Repair, p.Pins.Messages)
	}
}

// sameBeside checks that all that is beside the list has the client's bytes.
func sameBeside(t testing.TB, form form, body, out []byte) {
	t.Helper()
	a, err := sjson.SetRawBytes(slices.Clone(body), form.list, []byte("0"))
	b, err2 := sjson.SetRawBytes(slices.Clone(out), form.list, []byte("0"))
	if err != nil || err2 != nil || string(a) != string(b) {
		t.Errorf("something beside the list changed:\n%s\nwas\n%s", b, a)
	}
}

// sameBytes checks that messages that were not edited have the client's bytes.
func sameBytes(t testing.TB, body, out []byte, sent []compact.Message) {
	t.Helper()
	was, is := gjson.GetBytes(body, "messages").Array(), gjson.GetBytes(out, "messages").Array()
	for i, m := range sent {
		if !m.Edited && (m.Origin < 0 || is[i].Raw != was[m.Origin].Raw) {
			t.Errorf("message %d was not edited, but is sent as\n%s", i, is[i].Raw)
		}
	}
}
