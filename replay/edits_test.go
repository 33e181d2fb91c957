package replay

import (
	"encoding/json"
	"strings"
	"testing"

	"laconic/replay/replaytest"
)

// TestReplacedLines: which lines a call replaces, in the words of which tool.
func TestReplacedLines(t *testing.T) {
	f := func(arguments, want string) {
		t.Helper()
		if got := strings.Join(replacedBy(arguments), "|"); got != want {
			t.Errorf("%s: %q, want %q", arguments, got, want)
		}
	}
	f(`{"file_path":"a.go","old_string":"one\n\n\ttwo\r\n","new_string":"three"}`, "one|two")
	f(`{"command":"str_replace","old_str":"- one","new_str":"two"}`, "- one")
	f(`{"path":"a.go","edits":[{"oldText":"one","newText":"x"},{"oldText":"two","newText":"y"}]}`, "one|two")
	f(`{"search":"one","replace":"two"}`, "one")
	f(`{"file_path":"a.go","content":"- one\n-two"}`, "")
	f(`{"input":"*** Begin Patch\n*** Update File: a.go\n@@ func x\n one\n-two\n-\n+three\n*** Add File: b.go\n+- four\n-five\n*** End Patch"}`, "two")
	f("*** Begin Patch\n*** Update File: a.go\n-one\n+two\n*** End Patch", "one")
	f(`{"command":["bash","-lc","git apply <<E\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-one\n+two\n--- a/y\n-three\nE"]}`, "one")
	f(`{"diff":"<<<<<<< SEARCH\none\n two\n=======\nthree\n>>>>>>> REPLACE"}`, "one|two")
}

// TestShownEdits: an edit counts if the client showed its old lines, and is shown
// if all of them are in the request, whichever text has them and however they are
// escaped or numbered there.
func TestShownEdits(t *testing.T) {
	quoted := func(v any) string { return string(must(json.Marshal(v))) }
	message := func(call string, arguments map[string]string, result string) string {
		return `{"role":"assistant","tool_calls":[{"id":"` + call + `","type":"function","function":{"name":"f","arguments":` + quoted(quoted(arguments)) + `}}]},` +
			`{"role":"tool","tool_call_id":"` + call + `","content":` + quoted(result) + `},`
	}
	file := replaytest.Write(t, "a.jsonl", `{"id":"a","messages":[{"role":"user","content":"go"},`+
		message("c1", nil, quoted(map[string]string{"output": "7: if a {\n8: \"b\"" + strings.Repeat(" word", 200)}))+
		message("c2", nil, strings.Repeat("word ", 20))+
		message("c3", map[string]string{"old_string": "if a {\n  \"b\"", "new_string": "c"}, "done")+
		message("c4", map[string]string{"old_string": "never shown", "new_string": "c"}, "no such text")+
		`{"role":"assistant","content":"done"}]}`)
	f := func(text string, want int) {
		t.Helper()
		got := replayed1(t, rewriting(text), Budget{Tokens: 100}, file)
		if got.Edits != 1 || got.EditsShown != want {
			t.Errorf("%q: %d of %d edits, want %d of 1", text, got.EditsShown, got.Edits, want)
		}
	}
	f("gone", 0)
	f("if a {", 0)
	f("if a {\n\"b\"", 1)
	f(`["if a {\n  \"b\""]`, 1)
}
