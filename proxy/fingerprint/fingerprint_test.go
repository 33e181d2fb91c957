package fingerprint

import (
	"testing"

	"laconic/compact"
)

// TestAMessageHasOneHash however it was written, and every other has another.
func TestAMessageHasOneHash(t *testing.T) {
	text := func(s string) compact.Message {
		return compact.Message{Role: compact.Assistant, Parts: []compact.Part{{Text: compact.Plain(s)}}}
	}
	of := func(msgs ...compact.Message) string {
		list := NewChain(nil)
		for i := range msgs {
			list.Add(&msgs[i])
		}
		return list.Sum()
	}
	escaped := text("")
	escaped.Parts[0].Text = compact.Encoded(`\u0061b`, 2, &compact.Coding{Decode: func(string) string { return "ab" }})
	if of(escaped) != of(text("ab")) {
		t.Error("another way to write it has another hash")
	}
	called, refused := text("ab"), text("ab")
	called.Calls = []compact.Call{{ID: "c", Name: "f", Arguments: compact.Plain("{}")}}
	refused.Refusal = compact.Plain("no")
	seen := map[string]int{}
	for i, list := range [][]compact.Message{
		{}, {text("")}, {text("ab")}, {text("a"), text("b")}, {text("ab"), text("")}, {called}, {refused}, {{Role: compact.User, Parts: text("ab").Parts}},
	} {
		if other, ok := seen[of(list...)]; ok {
			t.Errorf("lists %d and %d have the same hash", other, i)
		}
		seen[of(list...)] = i
	}
}
