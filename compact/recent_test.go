package compact_test

import (
	"fmt"
	"testing"

	"laconic/compact"
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
