package stories

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// writeBytes: bytes FILE TEXT writes a file without an end of line. In the text
// \xff, \n and the like stand for what they do in Go.
func writeBytes(ts *testscript.TestScript, args []string) {
	rest := flags(ts, args, 2, 2, nil)
	text, err := strconv.Unquote(`"` + strings.ReplaceAll(rest[1], `"`, `\"`) + `"`)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(rest[0]), []byte(text), 0o666))
}

// long bodies by name, of n of what the name says.
var longBodies = map[string]func(n int) string{
	"brackets": func(n int) string { return strings.Repeat("[", n) },
	"nested": func(n int) string {
		return `{"model":"gpt-4o","messages":[{"role":"user","content":"x"}],"x":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `}`
	},
	"messages": func(n int) string {
		return chatOf(strings.Repeat(`{"role":"user","content":"hello"},{"role":"assistant","content":"hello to you"},`, n/2) + `{"role":"user","content":"bye"}`)
	},
	"calls":      func(n int) string { return manyCalls(n, n) },
	"unanswered": func(n int) string { return manyCalls(n, n-1) },
	"letters":    func(n int) string { return chatOf(`{"role":"user","content":"` + strings.Repeat("a", n) + `"}`) },
}

func chatOf(messages string) string { return `{"model":"gpt-4o","messages":[` + messages + `]}` }

// manyCalls is a chat whose one answer makes n calls, of which some have their
// result.
func manyCalls(n, results int) string {
	var calls, answers strings.Builder
	for i := range n {
		fmt.Fprintf(&calls, `,{"id":"call_%d","type":"function","function":{"name":"f","arguments":"{}"}}`, i)
	}
	for i := range results {
		fmt.Fprintf(&answers, `,{"role":"tool","tool_call_id":"call_%d","content":"done"}`, i)
	}
	return chatOf(`{"role":"user","content":"x"},{"role":"assistant","content":null,"tool_calls":[` + calls.String()[1:] + `]}` + answers.String())
}

// writeLong: long FILE KIND N writes a long body: brackets, nested, messages,
// calls, unanswered (calls, of which one is) or letters.
func writeLong(ts *testscript.TestScript, args []string) {
	rest := flags(ts, args, 3, 3, nil)
	make, ok := longBodies[rest[1]]
	if !ok {
		ts.Fatalf("there is no long body %s", rest[1])
	}
	n, err := strconv.Atoi(rest[2])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(rest[0]), []byte(make(n)), 0o666))
}

// holds: holds FILE PART… checks that the bytes of the other files stand in the
// first, in this order. A last end of line, which editors add, does not count.
func holdsParts(ts *testscript.TestScript, neg bool, args []string) {
	rest := flags(ts, args, 2, 20, nil)
	whole := []byte(ts.ReadFile(rest[0]))
	for _, name := range rest[1:] {
		part := bytes.TrimSuffix([]byte(ts.ReadFile(name)), []byte("\n"))
		at := bytes.Index(whole, part)
		if (at < 0) != neg {
			ts.Fatalf("%s in %s: found at %d", name, rest[0], at)
		}
		if at >= 0 {
			whole = whole[at+len(part):]
		}
	}
}
