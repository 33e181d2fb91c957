package wire_test

import (
	"encoding/json"
	"testing"

	"laconic/compact"
	"laconic/proxy/wire"
)

// fields is an object as encoding/json reads it, case and all.
type fields map[string]json.RawMessage

func read(raw []byte) (f fields) {
	_ = json.Unmarshal(raw, &f)
	return f
}

// str is a string field, "" for anything else.
func (f fields) str(key string) (s string) {
	_ = json.Unmarshal(f[key], &s)
	return s
}

func (f fields) list(key string) (l []json.RawMessage) {
	_ = json.Unmarshal(f[key], &l)
	return l
}

// sameAsSlow compares what was decoded with a slow and simple reading.
func sameAsSlow(t testing.TB, r *wire.Request) {
	t.Helper()
	body := read(r.Body)
	if body == nil {
		t.Fatalf("encoding/json cannot read %.2000q", r.Body)
	}
	if got, want := r.Model, body.str("model"); got != want {
		t.Errorf("model %q, want %q", got, want)
	}
	if got, want := r.Stream, string(body["stream"]) == "true"; got != want {
		t.Errorf("stream %v, want %v", got, want)
	}
	for _, f := range []struct {
		key string
		got []byte
	}{{"tools", r.Tools}, {"functions", r.Functions}, {"response_format", r.Format}} {
		if want := string(body[f.key]); want != "null" && string(f.got) != want {
			t.Errorf("%s %q, want %q", f.key, f.got, want)
		}
	}
	list := body.list("messages")
	if len(list) != len(r.Conversation.Messages) {
		t.Fatalf("%d messages, want %d", len(r.Conversation.Messages), len(list))
	}
	for i := range list {
		sameMessage(t, i, &r.Conversation.Messages[i], read(list[i]))
	}
}

func sameMessage(t testing.TB, i int, m *compact.Message, f fields) {
	t.Helper()
	same := func(what, got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("message %d: %s is %q, want %q", i, what, got, want)
		}
	}
	same("role", m.RoleName(), f.str("role"))
	same("name", m.Name, f.str("name"))
	name, named := compact.NameIn(m.Answers)
	switch {
	case named:
		same("the function's name", name, f.str("name"))
	case m.Role == compact.Tool:
		same("tool_call_id", m.Answers, f.str("tool_call_id"))
	default:
		same("answers", m.Answers, "")
	}

	content, ok := f["content"]
	shape := compact.Absent
	var texts []string
	switch {
	case !ok:
	case string(content) == "null":
		shape = compact.Null
	case content[0] == '"':
		shape, texts = compact.String, []string{f.str("content")}
	default:
		shape = compact.Array
		for _, raw := range f.list("content") {
			if p := read(raw); p.str("type") == "text" {
				texts = append(texts, p.str("text"))
			} else {
				texts = append(texts, "")
			}
		}
	}
	if m.Shape != shape || len(m.Parts) != len(texts) {
		t.Fatalf("message %d: shape %d with %d parts, want %d with %d", i, m.Shape, len(m.Parts), shape, len(texts))
	}
	for n, p := range m.Parts {
		if p.Kind == compact.KindText && texts[n] != "" {
			same("the text of a part", p.Text.String(), texts[n])
		}
		if p.Kind != compact.KindText && texts[n] != "" {
			t.Errorf("message %d: part %d is of kind %d, want text", i, n, p.Kind)
		}
		if got, want := p.Text.Len(), len(p.Text.String()); got != want {
			t.Errorf("message %d: part %d has a length of %d, want %d", i, n, got, want)
		}
	}

	calls := f.list("tool_calls")
	want := len(calls)
	if legacy := read(f["function_call"]); legacy != nil {
		want++
	}
	if m.Role != compact.Assistant {
		want = 0 // nobody else calls
	}
	if len(m.Calls) != want {
		t.Fatalf("message %d: %d calls, want %d", i, len(m.Calls), want)
	}
	for n, c := range m.Calls {
		said, arguments := read(f["function_call"]), "arguments"
		if n < len(calls) {
			call := read(calls[n])
			same("id", c.ID, call.str("id"))
			said = read(call["function"])
			if call.str("type") == "custom" {
				said, arguments = read(call["custom"]), "input"
			}
		}
		same("the name of a call", c.Name, said.str("name"))
		if raw := said[arguments]; len(raw) > 0 && (raw[0] == '{' || raw[0] == '[') {
			same("arguments", c.Arguments.String(), string(raw))
		} else {
			same("arguments", c.Arguments.String(), said.str(arguments))
		}
		if got, want := c.Arguments.Len(), len(c.Arguments.String()); got != want {
			t.Errorf("message %d: call %d has a length of %d, want %d", i, n, got, want)
		}
	}
	_, has := f["tool_calls"]
	if want := has && len(calls) == 0 && m.Role == compact.Assistant; m.EmptyCalls != want {
		t.Errorf("message %d: EmptyCalls is %v, want %v", i, m.EmptyCalls, want)
	}
}
