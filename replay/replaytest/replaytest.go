// Package replaytest has a small recorded conversation and policies for tests of
// replay. Every number about them can be worked out by hand.
package replaytest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"laconic/compact"
	"laconic/compact/compacttest"
)

// Errand is a line of a JSONL file: a conversation whose numbers a reader can
// check. A token is a word; the costs are 2, 4, 3, 8, 3, 1, 3, 1, 1, so the four
// requests cost 6, 17, 21 and 25. The calls used alpha_one.txt, beta_two.txt and
// code_4711.
var Errand = strings.ReplaceAll(`{"id":"errand","messages":[
{"role":"system","content":"be brief"},
{"role":"user","content":"read alpha_one.txt and beta_two.txt"},
{"role":"assistant","content":"ok","tool_calls":[{"id":"c1","type":"function","function":{"name":"read","arguments":"{\"path\":\"alpha_one.txt\"}"}}]},
{"role":"tool","tool_call_id":"c1","content":"the secret is code_4711 and nothing else here"},
{"role":"assistant","content":"hm","tool_calls":[{"id":"c2","type":"function","function":{"name":"read","arguments":"{\"path\":\"beta_two.txt\"}"}}]},
{"role":"tool","tool_call_id":"c2","content":"empty"},
{"role":"assistant","content":"so","tool_calls":[{"id":"c3","type":"function","function":{"name":"send","arguments":"{\"code\":\"code_4711\"}"}}]},
{"role":"tool","tool_call_id":"c3","content":"sent"},
{"role":"assistant","content":"done"}]}`, "\n", "") + "\n"

// Words counts words, whatever the model, of which nothing else is known.
func Words(string) (compact.Counter, compact.Limits) { return compacttest.Words{}, compact.Limits{} }

// Write puts a file into a folder that the test removes, and returns its path.
func Write(t testing.TB, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Rewriting returns a policy that rewrites old tool results to a text.
func Rewriting(text string) *compact.Policy {
	return &compact.Policy{Ladder: []compact.Stage{rewrite(func() string { return text })}}
}

// Fickle returns a policy that writes another text at every request, so that it
// breaks the promise "stable": it remembers how often it was asked, as no honest one does.
func Fickle() *compact.Policy {
	asked := 0
	return &compact.Policy{Ladder: []compact.Stage{rewrite(func() string {
		asked++
		return fmt.Sprint("gone ", asked)
	})}}
}

// rewrite rewrites tool results, the oldest first, until there is room.
type rewrite func() string

func (rewrite) Name() string { return "rewrite" }

func (text rewrite) Shrink(d *compact.Draft) {
	for ref := range d.Results() {
		if d.Over() == 0 {
			return
		}
		d.Rewrite(ref, text(), "test")
	}
}
