package digest

import (
	"testing"

	"laconic/compact"
)

// TestActionIsWhatACallIsAbout, however deep a client writes it.
func TestActionIsWhatACallIsAbout(t *testing.T) {
	for arguments, want := range map[string]string{
		`{"file_path":"src/a.go","limit":20}`:                           "tool src/a.go",
		`{"files":[{"path":"config/limits.json"},{"path":"src/a.go"}]}`: "tool config/limits.json",
		`{"files":[ {"range":[1,2],"path":"src/b.go"} ]}`:               "tool src/b.go",
		`{"options":{"pattern":"retry","path":"src"}}`:                  "tool retry in src",
		`{"command":["bash","-lc","cat NOTES.md"]}`:                     "tool cat NOTES.md",
		`{"a":{"a":{"a":{"a":{"a":"deep"}}}}}`:                          `tool {"a":{"a":{"a":{"a":"deep"}}}}`,
	} {
		a, _ := actionOf(&compact.Call{Name: "tool", Arguments: compact.Plain(arguments)})
		if got := a.name(); got != want {
			t.Errorf("%s: %q, want %q", arguments, got, want)
		}
	}
}

// TestNoErrorIsNone: shells of agents say so at the end of each result.
func TestNoErrorIsNone(t *testing.T) {
	for text, want := range map[string]string{
		"Output: 7\nError: (none)\nExit Code: 0":                 "",
		"error: none\nok":                                        "",
		"Error: (none)\nmain.go:3: undefined: x":                 "main.go:3: undefined: x",
		"Error: nonesuch is not a command":                       "Error: nonesuch is not a command",
		" FAIL  src/a.test.ts > it waits\nError: (none)\n":       " FAIL  src/a.test.ts > it waits",
		"Error:\n  the message is on the line behind":            "Error:",
		"2026-11-22 ERROR 0 of 3 replicas answered\nError: null": "2026-11-22 ERROR 0 of 3 replicas answered",
	} {
		if line, _ := errorLine(text); line != want {
			t.Errorf("%q: %q, want %q", text, line, want)
		}
	}
}
