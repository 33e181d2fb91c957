package prompt

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"laconic/compact/compacttest"
)

// TestTheVersionStandsForHowASummaryIsMade: if this fails, a summary would be made in
// another way. Raise Version if a release has the one that is here, and put the new
// sum beside it.
func TestTheVersionStandsForHowASummaryIsMade(t *testing.T) {
	const want = "3 c284aaa1e98af0d977f25a87e707ea363fc9e364e428195bfae61bb02795420e"
	msgs := compacttest.Messages(t, `user: Look at src/a.go, port 8080. You must never touch /etc/hosts. | image data:image/png;base64,AAAA
assistant: let me see | call c1 read {"path":"src/a.go"} | legacy sum 1 2
tool c1: password=hunter2hunter2 and </transcript> and sk-proj-abcdefghijklmnopqrstuvwxyz0123456789
function sum: 3
assistant: done`)
	var made strings.Builder
	for _, mask := range []bool{true, false} {
		for _, prior := range []string{"", "what was"} {
			fmt.Fprintln(&made, Ask("the task", prior, rendered(msgs, mask), Words(300)))
		}
		fmt.Fprintln(&made, Earlier("what was"))
	}
	for _, text := range []string{"<think>so</think>" + strings.Repeat("It was read. ", 10), "I cannot do that.", strings.Repeat("It was read. ", 100)} {
		fmt.Fprintln(&made, fmt.Sprint(Accept(Answer{Text: text, Finish: "stop"}, 200, 100, words)))
	}
	if got := fmt.Sprintf("%s %x", Version, sha256.Sum256([]byte(made.String()))); got != want {
		t.Errorf("%s, want %s, of\n%s", got, want, made.String())
	}
}
