package compact_test

import (
	"fmt"
	"strings"

	"laconic/compact"
	"laconic/compact/compacttest"
	"laconic/compact/stage"
)

// say returns a message of text, called one with a call, answered its result.
func say(role compact.Role, text string) compact.Message {
	return compact.Message{Role: role, Shape: compact.String, Parts: []compact.Part{{Text: compact.Plain(text)}}}
}

func called(id, tool, arguments string) compact.Message {
	call := compact.Call{ID: id, Name: tool, Arguments: compact.Plain(arguments)}
	return compact.Message{Role: compact.Assistant, Shape: compact.Null, Calls: []compact.Call{call}}
}

func answered(id, text string) compact.Message {
	m := say(compact.Tool, text)
	m.Answers = id
	return m
}

// Repair alone makes such a list legal, and says what it did.
func ExampleRepair() {
	repaired, edits := compact.Repair([]compact.Message{
		called("call_1", "calculator", `{"expr":"1+1"}`),
		say(compact.User, "Hello?"),
	}, compact.RepairAnswer)
	for _, m := range repaired {
		fmt.Printf("%s %q\n", m.Role, m.Answers)
	}
	for _, e := range edits {
		fmt.Println(e.Op, e.ID, "because:", e.Why)
	}
	// Output:
	// assistant ""
	// tool "call_1"
	// user ""
	// answer call_1 because: call without a result
}

// The worked example of the package comment: an agent reads three files under a
// budget of 400 tokens, and a token is a word.
func ExampleCompact() {
	words := func(n int) string { return strings.Repeat("word ", n) }
	conversation := []compact.Message{
		say(compact.System, words(10)),
		say(compact.User, words(20)),
		called("call_1", "read", "a.go"), answered("call_1", words(250)),
		called("call_2", "read", "b.go"), answered("call_2", words(120)),
		called("call_3", "read", "c.go"), answered("call_3", words(30)),
	}
	for i := range conversation {
		conversation[i].Origin = i
	}
	summarize, err := stage.New("summarize", []byte(`{"max_tokens": 64}`))
	if err != nil {
		panic(err)
	}
	policy := &compact.Policy{Land: 0.5, Ladder: []compact.Stage{summarize}, Summaries: true}

	for _, n := range []int{2, 4, 6, 8} { // the requests that the agent sends
		request := compact.Conversation{Messages: conversation[:n]}
		plan, r := compact.Compact(request, policy, compacttest.Words{}, compact.Budget{Tokens: 400})
		fmt.Printf("%d messages, %d tokens: %s, %d messages, %d tokens\n", n, r.Before, r.Outcome, r.MessagesAfter, r.After)
		if n < 6 {
			continue
		}
		e, s := plan.Epochs[0], plan.Slot
		fmt.Printf("  epoch at %d: %d → %d tokens, trigger %d, land %d\n", e.At, e.Before, e.After, e.Trigger, e.Land)
		fmt.Printf("  slot for messages [%d, %d), made at %d, %d tokens after the text of message %d\n", s.From, s.To, s.End, s.Size, s.At)
		for _, m := range plan.Apply("") {
			fmt.Print("  ", m.Origin, " ", m.Role)
		}
		fmt.Println()
	}
	// Output:
	// 2 messages, 30 tokens: untouched, 2 messages, 30 tokens
	// 4 messages, 282 tokens: untouched, 4 messages, 282 tokens
	// 6 messages, 404 tokens: compacted, 4 messages, 216 tokens
	//   epoch at 6: 404 → 216 tokens, trigger 380, land 216
	//   slot for messages [2, 4), made at 6, 64 tokens after the text of message 1
	//   0 system  1 user  4 assistant  5 tool
	// 8 messages, 436 tokens: compacted, 6 messages, 248 tokens
	//   epoch at 6: 404 → 216 tokens, trigger 380, land 216
	//   slot for messages [2, 4), made at 6, 64 tokens after the text of message 1
	//   0 system  1 user  4 assistant  5 tool  6 assistant  7 tool
}
