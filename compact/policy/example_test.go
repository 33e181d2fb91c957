package policy_test

import (
	"fmt"
	"strings"

	"laconic/compact"
	"laconic/compact/policy"
)

// A policy that people know, by its name.
func ExampleNew() {
	p, err := policy.New("layered", []byte(`{"threshold": 0.7, "keep": 4}`))
	fmt.Println(p.Name, err)
	_, err = policy.New("layered", []byte(`{"threshold": 0.3}`))
	fmt.Println(err)
	// Output:
	// layered <nil>
	// layered: threshold must be between 0.5 and 0.95
}

// The budget of tool results alone, without a policy.
func ExampleTrimResults() {
	result := compact.Message{
		Role: compact.Tool, Shape: compact.String, Answers: "call_1",
		Parts: []compact.Part{{Text: compact.Plain(strings.Repeat("0123456789", 1000))}},
	}
	msgs, cut := policy.TrimResults([]compact.Message{result}, 20)
	fmt.Printf("%d: %q\n", cut, msgs[0].Parts[0].Text)
	_, cut = policy.TrimResults(msgs, 20)
	fmt.Println(cut)
	// Output:
	// 1: "01234567890123456789\n\n[Truncated: 10000 chars total, showing first 20]"
	// 0
}

// With a pin of their role every turn of the user stays, as in helexa, whatever leaves
// around them.
func ExampleNew_everyUserTurnStays() {
	p, err := policy.New("adaptive", nil)
	if err != nil {
		panic(err)
	}
	var msgs []compact.Message
	add := func(role compact.Role, text string) {
		msgs = append(msgs, compact.Message{Role: role, Shape: compact.String, Parts: []compact.Part{{Text: compact.Plain(text)}}, Origin: len(msgs)})
	}
	for i := range 40 {
		add(compact.User, fmt.Sprint("Do step ", i, "."))
		add(compact.Assistant, strings.Repeat("It was done. ", 40))
	}
	for _, roles := range [][]string{nil, {"user"}} {
		p.Pins.Roles = roles
		plan, report := compact.Compact(compact.Conversation{Messages: msgs}, p, compact.BytesPerToken(4), compact.Budget{Tokens: 2000})
		users := 0
		for _, m := range plan.Apply() {
			if m.Role == compact.User {
				users++
			}
		}
		fmt.Println(report.Outcome, users)
	}
	// Output:
	// compacted 6
	// compacted 40
}
