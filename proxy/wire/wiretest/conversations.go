// Package wiretest has the recorded conversations, as clients of each API send them, for
// tests of every room.
package wiretest

import (
	"bytes"
	"cmp"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"laconic/compact"
	"laconic/proxy/wire"
)

// Recorded is one recorded conversation.
type Recorded struct {
	ID       string
	File     string // its name, without .jsonl
	Own      bool   // it is the repository's
	Messages []compact.Message
	Tools    []byte
}

// Conversations returns all recorded conversations.
func Conversations(t testing.TB) []Recorded {
	t.Helper()
	var all []Recorded
	larger := largerSet(t)
	for _, file := range ConversationFiles(t) {
		for line := range Lines(t, file) {
			r := recorded(t, line)
			all = append(all, Recorded{
				ID: gjson.GetBytes(r.Body, "id").Str, File: strings.TrimSuffix(filepath.Base(file), ".jsonl"),
				Own: larger == "" || !strings.HasPrefix(file, larger), Messages: r.Conversation.Messages, Tools: r.Tools,
			})
		}
	}
	return all
}

// ConversationFiles returns the files of recorded conversations, for [Lines]: those of
// the repository, with the one that `laconic demo` plays, and those of [LargerSet] where
// it is at hand.
func ConversationFiles(t testing.TB) []string {
	t.Helper()
	root := repository(t)
	own, _ := filepath.Glob(filepath.Join(root, "e2e", "testdata", "conversations", "*.jsonl"))
	if len(own) == 0 {
		t.Fatal("the repository has no conversations in e2e/testdata/conversations")
	}
	own = append(own, filepath.Join(root, "demo", "conversation.json"))
	if dir := largerSet(t); dir != "" {
		larger, _ := filepath.Glob(filepath.Join(dir, "*.jsonl"))
		own = append(own, larger...)
	}
	return own
}

// LargerSet returns the folder of a larger set: real conversations, with what
// their providers billed. It lies in ../shared/conversations beside the
// repository, or in $LACONIC_SHARED/conversations. Where it is missing the test
// is skipped, and fails with LACONIC_NO_SKIP.
func LargerSet(t testing.TB) string {
	t.Helper()
	dir := largerSet(t)
	if dir == "" {
		t.Skip("it needs a larger set of conversations; LACONIC_SHARED names the folder that holds conversations/")
	}
	return dir
}

// HasLargerSet reports whether the larger set is at hand. Where it is missing
// the test fails with LACONIC_NO_SKIP.
func HasLargerSet(t testing.TB) bool { return largerSet(t) != "" }

func largerSet(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(cmp.Or(os.Getenv("LACONIC_SHARED"), filepath.Join(repository(t), "..", "shared")), "conversations")
	_, err := os.Stat(dir)
	if err == nil {
		return dir
	}
	if os.Getenv("LACONIC_NO_SKIP") != "" {
		t.Fatalf("the larger set of conversations is missing: %v", err)
	}
	return ""
}

// repository returns the folder of go.mod.
func repository(t testing.TB) string {
	t.Helper()
	for dir, _ := os.Getwd(); ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("no go.mod above the test")
		}
	}
}

// As returns a chat conversation as clients of an API send it, its texts and calls.
func As(t testing.TB, w wire.Wire, chat []byte) []byte {
	t.Helper()
	switch w {
	case wire.Messages:
		system, list := Blocks(t, chat, false)
		return BlocksBody(t, system, list)
	case wire.Responses:
		items, _ := Items(t, chat, false)
		return ItemsBody(t, items)
	}
	return chat
}

// Lines returns the conversations of a file, one a line.
func Lines(t testing.TB, file string) iter.Seq[[]byte] {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if filepath.Ext(file) == ".json" { // the demo's has several lines, and no id
		text = append([]byte(`{"id":"demo",`), gjson.GetBytes(text, "@ugly").Raw[1:]...)
	}
	return bytes.Lines(text)
}

// recorded reads a recorded chat conversation.
func recorded(t testing.TB, chat []byte) *wire.Request {
	t.Helper()
	r, err := wire.Chat.Decode(chat)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// textOf returns what a message says, its parts joined.
func textOf(m *compact.Message) (text string) {
	for i := range m.Parts {
		text += m.Parts[i].Text.String()
	}
	return text
}
