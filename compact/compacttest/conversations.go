package compacttest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"laconic/compact"
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
	for _, f := range ConversationFiles(t) {
		all = append(all, readConversations(t, f)...)
	}
	return all
}

// ConversationFiles returns the files of recorded conversations, one a line: those
// of the repository, and those of [LargerSet] where it is at hand.
func ConversationFiles(t testing.TB) []string {
	t.Helper()
	root := repository(t)
	own, _ := filepath.Glob(filepath.Join(root, "e2e", "testdata", "conversations", "*.jsonl"))
	if len(own) == 0 {
		t.Fatal("the repository has no conversations in e2e/testdata/conversations")
	}
	own = append(own, demo(t, root))
	if !HasLargerSet(t) {
		return own
	}
	larger, _ := filepath.Glob(filepath.Join(largerSet(root), "*.jsonl"))
	return append(own, larger...)
}

// demo returns a file with the conversation that `laconic demo` plays, as one
// line.
func demo(t testing.TB, root string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(root, "demo", "conversation.json"))
	if err != nil {
		t.Fatal(err)
	}
	var line bytes.Buffer
	if err := json.Compact(&line, append([]byte(`{"id":"demo",`), raw[bytes.IndexByte(raw, '{')+1:]...)); err != nil {
		t.Fatal(err)
	}
	line.WriteByte('\n')
	file := filepath.Join(t.TempDir(), "demo.jsonl")
	if err := os.WriteFile(file, line.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// LargerSet returns the folder of a larger set: real conversations, with what
// their providers billed. It lies in ../shared/conversations beside the
// repository, or in $LACONIC_SHARED/conversations. Where it is missing the test
// is skipped, and fails with LACONIC_NO_SKIP.
func LargerSet(t testing.TB) string {
	t.Helper()
	if !HasLargerSet(t) {
		t.Skip("it needs a larger set of conversations; LACONIC_SHARED names the folder that holds conversations/")
	}
	return largerSet(repository(t))
}

// HasLargerSet reports whether the larger set is at hand. Where it is missing
// the test fails with LACONIC_NO_SKIP.
func HasLargerSet(t testing.TB) bool {
	t.Helper()
	dir := largerSet(repository(t))
	_, err := os.Stat(dir)
	if err != nil && os.Getenv("LACONIC_NO_SKIP") != "" {
		t.Fatalf("the larger set of conversations is missing: %v", err)
	}
	return err == nil
}

func largerSet(root string) string {
	shared := os.Getenv("LACONIC_SHARED")
	if shared == "" {
		shared = filepath.Join(root, "..", "shared")
	}
	return filepath.Join(shared, "conversations")
}

// repository returns the folder of go.mod.
func repository(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal("no go.mod above the test")
		}
		dir = up
	}
}

type recordedMessage struct {
	Role       string          `json:"role"`
	Content    json.RawMessage `json:"content"`
	ToolCallID string          `json:"tool_call_id"`
	Reasoning  string          `json:"reasoning_content"`
	Name       string          `json:"name"`
	ToolCalls  []struct {
		ID       string `json:"id"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

func readConversations(t testing.TB, file string) []Recorded {
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	own := !strings.HasPrefix(file, largerSet(repository(t)))
	var all []Recorded
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var c struct {
			ID       string
			Messages []recordedMessage
			Tools    json.RawMessage
		}
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		r := Recorded{ID: c.ID, File: strings.TrimSuffix(filepath.Base(file), ".jsonl"), Own: own, Tools: c.Tools}
		for _, m := range c.Messages {
			msg, err := m.message()
			if err != nil {
				t.Fatalf("%s: %s: %v", file, c.ID, err)
			}
			msg.Origin = len(r.Messages)
			r.Messages = append(r.Messages, msg)
		}
		all = append(all, r)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

func (r *recordedMessage) message() (m compact.Message, err error) {
	var ok bool
	if m.Role, ok = compact.RoleNamed(r.Role); !ok {
		return m, fmt.Errorf("role %q", r.Role)
	}
	m.Name, m.Answers = r.Name, r.ToolCallID
	m.Reasoning = compact.Plain(r.Reasoning)
	if r.Reasoning != "" {
		m.Seal = compact.SealText | compact.SealArguments
	}
	switch c := strings.TrimSpace(string(r.Content)); {
	case c == "":
		m.Shape = compact.Absent
	case c == "null":
		m.Shape = compact.Null
	case c[0] == '"':
		m.Shape = compact.String
		var s string
		if err := json.Unmarshal(r.Content, &s); err != nil {
			return m, err
		}
		m.Parts = []compact.Part{{Text: compact.Plain(s)}}
	default:
		m.Shape = compact.Array
		var parts []struct {
			Type, Text string
			ImageURL   struct{ URL string } `json:"image_url"`
		}
		if err := json.Unmarshal(r.Content, &parts); err != nil {
			return m, err
		}
		for _, p := range parts {
			if p.Type == "text" {
				m.Parts = append(m.Parts, compact.Part{Text: compact.Plain(p.Text)})
			} else {
				m.Parts = append(m.Parts, compact.Part{Kind: compact.KindImage, Text: compact.Plain(p.ImageURL.URL)})
			}
		}
	}
	for _, c := range r.ToolCalls {
		m.Calls = append(m.Calls, compact.Call{ID: c.ID, Name: c.Function.Name, Arguments: compact.Plain(c.Function.Arguments)})
	}
	return m, nil
}
