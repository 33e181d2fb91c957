package compact_test

import (
	"fmt"
	"strings"
	"testing"

	"laconic/compact"
	"laconic/compact/compacttest"
	"laconic/compact/stage"
)

// Thousands of very short messages are few tokens. What is recent by its
// tokens alone would be more messages than may be sent.
func TestShortMessagesDoNotAllCountAsRecent(t *testing.T) {
	for _, perMessage := range []int{1, 4, 8, 20} {
		msgs := []compact.Message{say(compact.User, "begin")}
		for i := range 5_000 {
			msgs = append(msgs, say(compact.Assistant, fmt.Sprint("a", i)), say(compact.User, fmt.Sprint("u", i)))
		}
		p := &compact.Policy{Name: "test", Ladder: stage.Default()}
		_, r := compact.Compact(compact.Conversation{Messages: msgs}, p, compact.Estimator{PerToken: 4, PerMessage: perMessage}, compact.Limits{}.For(0))
		if r.Outcome != compact.Compacted || r.MessagesAfter > compact.DefaultMaxMessages {
			t.Errorf("%d tokens a message: %s, %d messages are left", perMessage, r.Outcome, r.MessagesAfter)
		}
	}
}

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

func TestEstimatorCounts(t *testing.T) {
	f := func(e compact.Estimator, transcript string, want int) {
		t.Helper()
		if n := compact.CostAll(e, compacttest.Messages(t, transcript)); n != want {
			t.Errorf("%s: %d tokens, want %d", transcript, n, want)
		}
	}
	f(compact.BytesPerToken(3.5), "user: sevenbb", 8+2)
	f(compact.BytesPerToken(4), "assistant: | call abcd name {\"a\":12}", 8+4)
	f(compact.Estimator{PerToken: 1}, "tool abc: xy", 5)
	f(compact.Estimator{PerToken: 1, Characters: true}, "user: äöü", 3)
	f(compact.Estimator{PerToken: 1}, "user: äöü", 6)
	f(compact.Estimator{}, "user: u | image data:image/png;base64,"+strings.Repeat("A", 9000), 512)
	f(compact.Estimator{PerMedia: 85}, "user: u | image http://x/y.png", 85)
	if n := compact.BytesPerToken(4).Fixed(compact.Beside{Tools: []byte("12345678"), Format: []byte("1234")}); n != 3 {
		t.Errorf("fixed: %d", n)
	}
}
