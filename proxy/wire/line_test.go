package wire_test

import (
	"encoding/binary"
	"fmt"
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

// FuzzLine sends a body all the way: decode, compact, encode, decode, repair.
// The bytes of source decide what the body is like.
func FuzzLine(f *testing.F) {
	chance := rand.New(rand.NewPCG(3, 4))
	for n := range 40 {
		source := make([]byte, 20+20*n)
		for i := range source {
			source[i] = byte(chance.Uint32())
		}
		f.Add(source, uint16(chance.Uint32()), uint8(chance.Uint32()))
	}
	f.Fuzz(func(t *testing.T, source []byte, budget uint16, options uint8) {
		if len(source) > 2000 {
			return
		}
		w := &bodyWriter{source: source}
		w.body()
		line(t, []byte(w.b.String()), int(budget), options)
	})
}

// TestTheWholeLine is FuzzLine for a few thousand random bodies.
func TestTheWholeLine(t *testing.T) {
	chance := rand.New(rand.NewPCG(5, 6))
	for n := 0; n < 3000 && !t.Failed(); n++ {
		source := make([]byte, 10+chance.IntN(700))
		for i := range source {
			source[i] = byte(chance.Uint32())
		}
		w := &bodyWriter{source: source}
		w.body()
		line(t, []byte(w.b.String()), chance.IntN(4000), uint8(n))
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

// line checks the promises on one body.
func line(t *testing.T, body []byte, budget int, options uint8) {
	t.Helper()
	r, err := wire.Chat.Decode(body)
	if err != nil {
		t.Fatalf("%v\n%.4000s", err, body)
	}
	r.Sum(func(raw string) compact.Sum {
		h := fnv.New128()
		_, _ = h.Write([]byte(raw))
		sum := h.Sum(nil)
		return compact.Sum{Hash: [2]uint64{binary.LittleEndian.Uint64(sum), binary.LittleEndian.Uint64(sum[8:])}, Size: len(raw)}
	})
	c := remembering{compact.BytesPerToken(3.5), t, map[compact.Sum]int{}}
	p := &compact.Policy{Name: "adaptive", Ladder: stage.Default(), Repair: compact.RepairAnswer}
	if options&1 == 1 {
		p.Repair = compact.RepairDrop
	}
	if options&6 == 6 && len(r.Conversation.Messages) > 0 {
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
	if err != nil {
		t.Fatalf("%v\n%.4000s", err, body)
	}
	if report.Outcome == compact.Untouched && (len(out) != len(body) || &out[0] != &body[0]) {
		t.Errorf("untouched, but not the same slice\n%s", body)
	}
	again(t, wire.Chat, out, sent)
	back, err := wire.Chat.Decode(out)
	if err != nil {
		t.Fatalf("%v\n%.4000s\nbecame\n%.4000s", err, body, out)
	}
	if _, edits := compact.Repair(back.Conversation.Messages, p.Repair); len(edits) > 0 {
		t.Errorf("what was sent needs repair: %+v\n%.4000s\nbecame\n%.4000s", edits, body, out)
	}
	// The slot and the text it follows are counted apart, each rounded.
	if cost := in.Fixed + compact.CostAll(c, back.Conversation.Messages); cost > report.After+1 {
		t.Errorf("%d tokens were sent, %d reported\n%.4000s\nbecame\n%.4000s", cost, report.After, body, out)
	}
	sameBytes(t, body, out, sent)
	if t.Failed() {
		t.Logf("budget %d, repair %s, pins %v", b.Tokens, p.Repair, p.Pins.Messages)
	}
}

// sameBytes checks that messages that were not edited, and all that is beside
// the messages, have the client's bytes.
func sameBytes(t *testing.T, body, out []byte, sent []compact.Message) {
	t.Helper()
	was, is := gjson.GetBytes(body, "messages").Array(), gjson.GetBytes(out, "messages").Array()
	for i, m := range sent {
		if !m.Edited && (m.Origin < 0 || is[i].Raw != was[m.Origin].Raw) {
			t.Errorf("message %d was not edited, but is sent as\n%s", i, is[i].Raw)
		}
	}
	a, err := sjson.SetRawBytes(slices.Clone(body), "messages", []byte("0"))
	b, err2 := sjson.SetRawBytes(slices.Clone(out), "messages", []byte("0"))
	if err != nil || err2 != nil || string(a) != string(b) {
		t.Errorf("something beside the messages changed:\n%s\nwas\n%s", b, a)
	}
}

// bodyWriter writes the body of a chat request, as the bytes of source decide;
// when they are used up it comes to an end.
type bodyWriter struct {
	source []byte
	b      strings.Builder
	calls  int
}

func (w *bodyWriter) chance(n int) int {
	if len(w.source) == 0 {
		return 0
	}
	c := int(w.source[0])
	w.source = w.source[1:]
	return c % n
}

func (w *bodyWriter) pick(of ...string) string { return of[w.chance(len(of))] }

// list writes n things with commas and any space between them.
func (w *bodyWriter) list(open, end string, n int, one func(i int)) {
	w.b.WriteString(open)
	for i := range n {
		if i > 0 {
			w.b.WriteString(w.pick(",", ", ", " ,\n\t"))
		}
		one(i)
	}
	w.b.WriteString(end)
}

func (w *bodyWriter) body() {
	w.b.WriteString(w.pick("", " ") + `{"model":"m", "x_vendor" : 1e0,"messages"` + w.pick(":", " : "))
	w.b.WriteString("[")
	for first := true; first || len(w.source) > 0; first = false {
		if !first {
			w.b.WriteString(w.pick(",", ",\n "))
		}
		w.message()
	}
	w.b.WriteString("]" + w.pick("", `,"tools":[{"type":"function","function":{"name":"f"}}]`, `, "stream":true `) + "}")
}

func (w *bodyWriter) message() {
	role := w.pick("assistant", "tool", "user", "assistant", "tool", "system", "function", "developer", "assistant", "tool")
	fields := []func(){func() { w.b.WriteString(`"role":"` + role + `"`) }}
	add := func(one int, of int, f func()) {
		if w.chance(of) < one {
			fields = append(fields, f)
		}
	}
	text := func(s string) func() { return func() { w.b.WriteString(s) } }
	add(9, 10, w.content)
	add(1, 8, func() { fmt.Fprintf(&w.b, `"vendor":%d`, w.b.Len()) })
	switch role {
	case "tool":
		add(7, 8, func() { w.b.WriteString(`"tool_call_id":` + w.id()) })
		add(1, 30, text(`"tool_calls":[]`))
	case "function":
		add(7, 8, func() { w.b.WriteString(`"name":"` + w.pick("f", "g") + `"`) })
	case "user":
		add(1, 30, text(`"tool_calls":[{"id":"c1","function":{"name":"f","arguments":"{}"}}]`))
		add(1, 30, text(`"function_call":{"name":"f","arguments":"{}"}`))
	case "assistant":
		add(2, 3, w.toolCalls)
		add(1, 12, text(`"function_call":{"name":"`+w.pick("f", "g")+`","arguments":"{}"}`))
		add(1, 12, text(`"reasoning_content":`+w.pick(`""`, `"hmm"`, `null`)))
		add(1, 6, func() {
			w.b.WriteString(`"thinking_blocks":[{"type":"thinking","thinking":"` + strings.Repeat("so ", w.chance(30)) + `","signature":` + w.pick(`"s"`, `"s"`, `""`, `null`) + `}` + w.pick("", ` , {"type":"redacted_thinking","data":"AA=="}`) + "]")
		})
		add(1, 9, func() {
			w.b.WriteString(`"reasoning_details" : [` + w.pick("", `{"type":"reasoning.text","text":"first ","format":"anthropic-claude-v1","index":0},`) +
				`{"type":"reasoning.text","text":"hm","signature":` + w.pick(`"s"`, `"s"`, `null`) + w.pick("", `,"format":"anthropic-claude-v1"`, `,"format":"google-gemini-v1"`, `,"format":null`) + "}]")
		})
		add(1, 20, text(`"thought_signature":"s"`))
		add(1, 16, text(`"refusal":`+w.pick(`"no"`, `null`)))
		add(1, 16, text(`"prefix":true`))
		add(1, 16, text(`"audio":{"id":"a"}`))
	}
	for i := len(fields) - 1; i > 0; i-- { // in any order
		k := w.chance(i + 1)
		fields[i], fields[k] = fields[k], fields[i]
	}
	w.list("{"+w.pick("", " "), w.pick("", " ")+"}", len(fields), func(i int) { fields[i]() })
}

func (w *bodyWriter) id() string {
	return w.pick(`"c1"`, `"c2"`, `"c3"`, `"c1_2"`, `"call_1"`, `""`, `"abcdefghi"`, `7`, `"c\u0031"`, `"c4"`, `"c5"`)
}

func (w *bodyWriter) content() {
	w.b.WriteString(`"content":`)
	switch w.chance(8) {
	case 0:
		w.b.WriteString(w.pick("null", `""`, "[]"))
	case 1, 2:
		w.list("[", w.pick("", " ")+"]", 1+w.chance(4), func(int) { w.part() })
	default:
		w.text()
	}
}

func (w *bodyWriter) part() {
	switch w.chance(8) {
	case 0:
		w.b.WriteString(`{"type":"image_url","image_url":{"url":"data:image/png;base64,` + strings.Repeat("A", 40*w.chance(100)) + `"},"cache_control":{"type":"ephemeral"}}`)
	case 1:
		w.b.WriteString(`{"type":"weird","x":1}`)
	case 2:
		w.b.WriteString(`{"type":"thinking","thinking":"so"` + w.pick("", `,"signature":"s"`, `,"signature":""`) + "}")
	case 3:
		w.b.WriteString(`{"type":"text","text":""}`)
	case 4:
		w.b.WriteString(`{"type":"input_audio","input_audio":{"data":"` + strings.Repeat("A", 40*w.chance(100)) + `","format":"wav"}}`)
	default:
		w.b.WriteString(`{"type":"text","text":`)
		w.text()
		if w.chance(4) == 0 {
			fmt.Fprintf(&w.b, `,"cache_control":{"type":"ephemeral"},"vendor":%d`, w.b.Len())
		}
		w.b.WriteString("}")
	}
}

// text writes a string.
func (w *bodyWriter) text() {
	n := w.chance(12)
	if w.chance(8) == 0 {
		n *= 40
	}
	s := w.pick("read it. ", `src/a.go:12\t`, `\n\n \t`, `{\"port\": 48213} `, `\u00e9漢\ud83d\ude00 `, `\\n\" `, `[Record of `, `never do that\n`, "same ")
	w.b.WriteString(`"` + strings.Repeat(s, n) + `"`)
}

func (w *bodyWriter) toolCalls() {
	w.b.WriteString(`"tool_calls":`)
	if w.chance(16) == 0 {
		w.b.WriteString(w.pick("null", "[]"))
		return
	}
	w.list("[", w.pick("", " ")+"]", 1+w.chance(4), func(int) { w.call() })
}

func (w *bodyWriter) call() {
	w.calls++
	fmt.Fprintf(&w.b, `{"vendor":%d`, w.calls)
	if w.chance(6) > 0 {
		w.b.WriteString(`,"id":` + w.id())
	}
	switch w.chance(8) {
	case 0:
		w.b.WriteString(`,"type":"custom","custom":{"name":"f","input":"go"}`)
	case 1:
		w.b.WriteString(`,"type":"function","function":{"name":"f","arguments":{"p":"x"}}`)
	case 2:
		w.b.WriteString(`,"function":{"name":"g"}`)
	default:
		w.b.WriteString(`,"type":"function","function":{"name":"` + w.pick("f", "g") + `","arguments":"{\"path\":\"` + strings.Repeat("long/", 60*w.chance(6)) + `\"}"}`)
	}
	if w.chance(12) == 0 {
		w.b.WriteString(`,"extra_content":{"google":{"thought_signature":"s"}}`)
	}
	w.b.WriteString("}")
}
