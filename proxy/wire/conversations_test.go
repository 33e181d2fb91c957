package wire_test

import (
	"slices"
	"testing"

	"laconic/proxy/wire"
	"laconic/proxy/wire/wiretest"
)

// TestConversations reads every real conversation: back to the same bytes where
// nothing is edited, and to what was meant where something is.
func TestConversations(t *testing.T) {
	n := 0
	for _, file := range wiretest.ConversationFiles(t) {
		for body := range wiretest.Lines(t, file) {
			n++
			came := slices.Clone(body)
			r, err := wire.Chat.Decode(body)
			if err != nil {
				t.Errorf("%s: %v", file, err)
				continue
			}
			unedited(t, r)
			for _, source := range []string{"a", "the quick brown fox", "\x05\x06\x07\x03\x02\x01\x00\x09\x0b"} {
				shuffled(t, forms[0], r, []byte(source))
			}
			if !slices.Equal(came, r.Body) {
				t.Fatalf("%s: the client's bytes were written to", file)
			}
		}
	}
	if n < 10 {
		t.Errorf("only %d conversations were read", n)
	}
}
