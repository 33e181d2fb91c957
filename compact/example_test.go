package compact_test

import (
	"fmt"

	"laconic/compact"
)

// say returns a message of text, called one with a call.
func say(role compact.Role, text string) compact.Message {
	return compact.Message{Role: role, Shape: compact.String, Parts: []compact.Part{{Text: compact.Plain(text)}}}
}

func called(id, tool, arguments string) compact.Message {
	call := compact.Call{ID: id, Name: tool, Arguments: compact.Plain(arguments)}
	return compact.Message{Role: compact.Assistant, Shape: compact.Null, Calls: []compact.Call{call}}
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
