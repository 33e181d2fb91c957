package digest

import (
	"testing"

	"laconic/compact"
	"laconic/compact/agent"
	"laconic/compact/compacttest"
)

// Lines keep their text without their numbers and what harnesses put around them.
func TestResults(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		if r := agent.ResultOf(text, agent.Reads); r.Text != want {
			t.Errorf("%s\nreads\n%q, want\n%q", text, r.Text, want)
		}
	}
	f("<tool_use_error>File has not been read yet. Read it first.</tool_use_error>", "<tool_use_error>File has not been read yet. Read it first.</tool_use_error>")
	f("     1\t# Ticket\n     2\t* Leave it alone.\n     3\t\n     4\t* Never.\n     5", "# Ticket\n* Leave it alone.\n\n* Never.")
	f("     1→a = 1\n     2→b = 2\n", "a = 1\nb = 2")
	f("120\tsrc\n3400\tlib\n9000\tdist", "120\tsrc\n3400\tlib\n9000\tdist")
	f("[{\"query\": \"cat x\", \"result\": \"# Ticket\\n* Never.\\n\"}]", "# Ticket\n* Never.")
	f("{\"output\":\"one line\",\"metadata\":{\"exit_code\":0}}", "one line")
	f("Chunk ID: a1\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\nport = 8080\n", "port = 8080")
	f("a = 1\nb = 2\n\n[61 more lines in file. Use offset=3 to continue.]", "a = 1\nb = 2")
}

// TestAResultIsReadByItsCall, although the call stays and only the result was shortened.
func TestAResultIsReadByItsCall(t *testing.T) {
	all := conversation([]compact.Message{user("Why does serve listen on another port than 8080?")}, exchange(1, "read_file", `{"path":"serve.go"}`, "     1→package main\n     2→\n     3→func serve(port int) error {\n     4→\treturn listen(port + 1)\n     5→}\n"))
	kept := append(all[:2:2], all[2])
	kept[2].Parts = []compact.Part{{Text: compact.Plain("     1→package main\n…")}}
	tells(t, "shortened", NewRecord(compacttest.Bytes{}).Add(all[2:], kept, 400, false), "read serve.go (5 lines)\n … line 3\n func serve(port int) error {\n")
	lost := []compact.Message{all[2], all[1]} // as they left
	tells(t, "left first", NewRecord(compacttest.Bytes{}).Add(lost, all[:1], 400, false), "\n func serve(port int) error {\n")
}
