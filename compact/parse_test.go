package compact_test

import (
	"fmt"
	"strings"
	"testing"

	"laconic/compact"
	"laconic/compact/compacttest"
)

// list parses a transcript.
func list(t *testing.T, transcript string) []compact.Message {
	t.Helper()
	msgs, err := compacttest.Parse(transcript)
	if err != nil {
		t.Fatal(err)
	}
	return msgs
}

// step returns one call and its result of about 700 bytes.
func step(t *testing.T, i int) []compact.Message {
	t.Helper()
	return list(t, fmt.Sprintf("assistant: step %d | call c%d read {\"path\":\"/src/file_%d.go\"}\ntool c%d: %s", i, i, i, i, strings.Repeat(fmt.Sprintf("line %d ", i), 100)))
}
