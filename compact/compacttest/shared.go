package compacttest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"laconic/compact"
)

// Recorded is one real conversation.
type Recorded struct {
	ID       string
	File     string
	Messages []compact.Message
	Tools    []byte
}

// Shared reads the real agent conversations that lie beside the repository, or
// where LACONIC_SHARED says. Where they are missing the test is skipped, but
// fails under CI.
func Shared(t testing.TB) []Recorded {
	t.Helper()
	dir := SharedDir(t)
	files, _ := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	var all []Recorded
	for _, f := range files {
		all = append(all, readConversations(t, f)...)
	}
	if len(all) == 0 {
		t.Fatalf("no conversations in %s", dir)
	}
	return all
}

// SharedDir is the folder of the real conversations.
func SharedDir(t testing.TB) string {
	t.Helper()
	root := os.Getenv("LACONIC_SHARED")
	if root == "" {
		dir, err := os.Getwd()
		if err != nil {
			t.Fatal(err)
		}
		for {
			if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
				root = filepath.Join(dir, "..", "shared")
				break
			}
			up := filepath.Dir(dir)
			if up == dir {
				t.Fatal("no go.mod above the test")
			}
			dir = up
		}
	}
	dir := filepath.Join(root, "conversations")
	if _, err := os.Stat(dir); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("the real conversations are missing: %v", err)
		}
		t.Skipf("the real conversations are not here (set LACONIC_SHARED to the folder that holds conversations/): %v", err)
	}
	return dir
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
		r := Recorded{ID: c.ID, File: strings.TrimSuffix(filepath.Base(file), ".jsonl"), Tools: c.Tools}
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
	m.Name = r.Name
	m.Answers = r.ToolCallID
	if m.Role == compact.Function {
		m.Answers = r.Name
	}
	m.Reasoning = compact.Plain(r.Reasoning)
	m.Sealed = r.Reasoning != ""
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
