package fold_test

import (
	"fmt"
	"strings"

	"laconic/compact"
	"laconic/fold"
)

// agent returns the body of a request after some rounds of an agent.
func agent(rounds int) []byte {
	var b strings.Builder
	b.WriteString(`{"model":"gpt-4o","temperature":0.10,"messages":[{"role":"system","content":"You are a careful engineer."},{"role":"user","content":"Fix the build."}`)
	for i := range rounds {
		fmt.Fprintf(&b, `,{"role":"assistant","content":null,"tool_calls":[{"id":"call_%d","type":"function","function":{"name":"read","arguments":"{\"path\":\"f%d.go\"}"}}]}`, i, i)
		fmt.Fprintf(&b, `,{"role":"tool","tool_call_id":"call_%d","content":"%s"}`, i, strings.Repeat(fmt.Sprintf("line %d of a file\\n", i), 60))
	}
	b.WriteString(`],"tools":[{"type":"function","function":{"name":"read","parameters":{"type":"object","properties":{"path":{"type":"string"}}}}}]}`)
	return []byte(b.String())
}

// A program that sends its requests itself compacts each body before it is sent.
func ExampleCompact() {
	body := agent(40)
	smaller, report, err := fold.Compact(body, fold.Options{Limits: compact.Limits{Window: 16_000}})
	if err != nil {
		fmt.Println(err) // body is sent as it is
	}
	fmt.Println(report.Outcome)
	fmt.Println("fits:", report.After <= report.Budget, "and is smaller:", len(smaller) < len(body)/2)
	fmt.Println("the rest is as it was:", strings.Contains(string(smaller), `"temperature":0.10`))
	// Output:
	// compacted
	// fits: true and is smaller: true
	// the rest is as it was: true
}

// A gateway that has the messages alone says what the rest of the prompt costs.
func ExampleMessages() {
	list := []byte(`[{"role":"user","content":"Hello"}]`)
	same, report, err := fold.Messages(list, "gpt-4o", fold.Options{Overhead: 12_000})
	fmt.Println(report.Outcome, &same[0] == &list[0], report.Before > 12_000, err)
	// Output:
	// untouched true true <nil>
}
