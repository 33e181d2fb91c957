package stage_test

import (
	"fmt"
	"strings"

	"laconic/compact"
	"laconic/compact/stage"
)

// Long tool results are cut, whatever the budget.
func ExampleTrimResults() {
	result := compact.Message{
		Role: compact.Tool, Shape: compact.String, Answers: "call_1",
		Parts: []compact.Part{{Text: compact.Plain("first line\n" + strings.Repeat("x", 5000) + "\nlast line")}},
	}
	short := stage.TrimResults([]compact.Message{result}, 40, 0.5)
	fmt.Println(short[0].Parts[0].Text)
	// Output:
	// first line
	// xxxxxxxxx
	// [trimmed: 5021 bytes of tool result, the first 20 and the last 20 are left]
	// xxxxxxxxxx
	// last line
}
