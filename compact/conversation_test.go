package compact_test

import (
	"testing"

	"laconic/compact"
	"laconic/compact/compacttest"
)

// TestTheTaskIsAllThatIsSaidBeforeAnAnswer: Codex sends AGENTS.md and its
// environment as messages of the user before the task.
func TestTheTaskIsAllThatIsSaidBeforeAnAnswer(t *testing.T) {
	f := func(transcript string, first, last int) {
		t.Helper()
		if a, b := compact.Task(compacttest.Messages(t, transcript)); a != first || b != last {
			t.Errorf("messages %d to %d tell the task, want %d to %d of\n%s", a, b, first, last, transcript)
		}
	}
	f("system: s\nuser: # AGENTS.md\nsystem: s\nuser: <environment_context>\nuser: mend it\nassistant: done\nuser: go on\n", 1, 4)
	f("user: mend it\nsystem: s\nassistant: done\nuser: go on\nuser: and on\n", 0, 0)
	f("assistant: hello\nuser: mend it\nuser: soon\nassistant: done\n", 1, 2)
	f("system: s\nassistant: done\n", -1, -1)
}
