package wire_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/sjson"

	"laconic/compact"
	"laconic/compact/promises"
	"laconic/compact/stage"
	"laconic/proxy/wire"
)

// randomItems is the body of a request with items of every type, in any order.
func randomItems(r *rand.Rand) string {
	text := func() string { return strings.Repeat("word ", 1+r.IntN(60)) }
	id := func() string { return fmt.Sprintf("call_%d", r.IntN(12)) }
	var items []string
	for n := range 2 + r.IntN(40) {
		switch r.IntN(16) {
		case 0, 1:
			items = append(items, fmt.Sprintf(`{"type":"message","role":"user","content":[{"type":"input_text","text":%q}]}`, text()))
		case 2:
			items = append(items, fmt.Sprintf(`{ "role":"user", "content":%q }`, text()))
		case 3:
			items = append(items, fmt.Sprintf(`{"type":"message","id":"msg_%d","role":"assistant","content":[{"type":"output_text","text":%q},{"type":"refusal","refusal":"no"}]}`, n, text()))
		case 4:
			items = append(items, fmt.Sprintf(`{"type":"reasoning","id":"rs_%d","summary":[{"type":"summary_text","text":%q}]}`, n, text()))
		case 5, 6, 7:
			items = append(items, fmt.Sprintf(`{"type":"function_call","call_id":%q,"name":"f","arguments":"{\"text\":\"%s\"}"}`, id(), text()))
			if r.IntN(8) == 0 {
				items = append(items, fmt.Sprintf(`{"type":"function_call","call_id":"async_%d","name":"f","arguments":%q,"async":true}`, n, text()))
			}
		case 8:
			items = append(items, fmt.Sprintf(`{"type":"custom_tool_call","call_id":%q,"name":"apply_patch","input":%q}`, id(), text()))
		case 9, 10, 11:
			items = append(items, fmt.Sprintf(`{"type":"function_call_output","call_id":%q,"output":%q}`, id(), text()))
		case 12:
			items = append(items, fmt.Sprintf(`{"type":"custom_tool_call_output","call_id":%q,"output":[{"type":"input_text","text":%q},{"type":"input_image","image_url":"data:x"}]}`, id(), text()))
		case 13:
			items = append(items, `{"type":"web_search_call","id":"ws","status":"completed"}`, `{"type":"shell_call","call_id":"s`+fmt.Sprint(n)+`","action":{}}`)
		case 14:
			items = append(items, `{"type":"additional_tools","role":"developer","tools":[]}`)
		case 15:
			if r.IntN(3) == 0 {
				items = append(items, `{"type":"compaction","encrypted_content":"x"}`)
			} else {
				items = append(items, fmt.Sprintf(`{"type":"message","role":"developer","content":%q}`, text()))
			}
		}
	}
	return `{"model":"m","input":[` + strings.Join(items, " , ") + `],"store":false,"instructions":"be brief"}`
}

// TestTheWholeLineOfItems sends a few thousand random lists all the way: decode,
// compact, encode, decode. The promises hold, what is kept is there byte for byte, and
// nothing but the list changed.
func TestTheWholeLineOfItems(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	c := compact.BytesPerToken(3.5)
	for n := 0; n < 3000 && !t.Failed(); n++ {
		body := []byte(randomItems(r))
		q, err := wire.Responses.Decode(body)
		if err != nil {
			t.Fatalf("%v\n%s", err, body)
		}
		unedited(t, q)
		p := &compact.Policy{Name: "adaptive", Ladder: stage.Default(), Repair: []compact.RepairMode{compact.RepairAnswer, compact.RepairDrop}[n%2]}
		b := compact.Budget{Tokens: 20 + r.IntN(1500)}
		plan, report := compact.Compact(q.Conversation, p, c, b)
		for _, err := range promises.Broken(q.Conversation, p, c, b, &plan, report) {
			t.Errorf("%v\n%s", err, body)
		}
		sent := plan.Apply("")
		if len(sent) == 0 {
			continue
		}
		out, err := q.Encode(sent)
		if len(sent) == 1 && sent[0].Role == compact.System && err != nil {
			continue // nothing but the instructions would be left
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, body)
		}
		for _, kept := range []string{`{"type":"additional_tools","role":"developer","tools":[]}`, `{"type":"compaction","encrypted_content":"x"}`} {
			if strings.Count(string(out), kept) != strings.Count(string(body), kept) {
				t.Errorf("%s left\n%s\nbecame\n%s", kept, body, out)
			}
		}
		back, err := wire.Responses.Decode(out)
		if err != nil {
			t.Fatalf("%v\n%s\nbecame\n%s", err, body, out)
		}
		if _, edits := back.Conversation.Rules.Repair(back.Conversation.Messages, p.Repair); len(edits) > 0 {
			t.Errorf("what was sent needs repair: %+v\n%s\nbecame\n%s", edits, body, out)
		}
		was, err := sjson.SetRawBytes(slices.Clone(body), "input", []byte("0"))
		is, err2 := sjson.SetRawBytes(slices.Clone(out), "input", []byte("0"))
		if err != nil || err2 != nil || string(was) != string(is) {
			t.Errorf("something beside the list changed:\n%s\nwas\n%s", is, was)
		}
	}
}
