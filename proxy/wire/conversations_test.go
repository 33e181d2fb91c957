package wire_test

import (
	"bufio"
	"os"
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
		for body := range lines(t, file) {
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

// lines yields the lines of a file, each as a slice of its own.
func lines(t testing.TB, file string) func(yield func([]byte) bool) {
	return func(yield func([]byte) bool) {
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		s := bufio.NewScanner(f)
		s.Buffer(nil, 64<<20)
		for s.Scan() && yield(slices.Clone(s.Bytes())) {
		}
		if err := s.Err(); err != nil {
			t.Fatal(err)
		}
	}
}
