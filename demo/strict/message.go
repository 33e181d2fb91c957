package strict

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Message is what the model reads of one message.
type Message struct {
	Role       string
	Name       string
	Text       string // content; the text parts of an array joined by newlines
	Media      int    // parts that are neither text nor refusal
	Calls      []Call // tool_calls
	Function   *Call  // legacy function_call; ID and Type are empty
	ToolCallID string
	Thinking   string // of thinking_blocks
	Tokens     int    // what it costs with the upstream's own count
}

// Same says whether the model reads the same in both.
func (m Message) Same(o Message) bool {
	if (m.Function == nil) != (o.Function == nil) || m.Function != nil && *m.Function != *o.Function {
		return false
	}
	return m.Role == o.Role && m.Name == o.Name && m.Text == o.Text && m.Media == o.Media &&
		m.ToolCallID == o.ToolCallID && slices.Equal(m.Calls, o.Calls)
}

// decodeMessage reads the message at index i and checks its fields.
func decodeMessage(i int, raw json.RawMessage) (m Message, r *Refusal) {
	var o object
	if typeOf(raw) != "an object" || json.Unmarshal(raw, &o) != nil {
		return m, wrongType(at(i, ""), "an object", raw)
	}
	if m.Role, r = requiredString(o, at(i, ".role"), "role"); r != nil {
		return m, r
	}
	if v, ok := given(o, "name"); ok && json.Unmarshal(v, &m.Name) != nil {
		return m, wrongType(at(i, ".name"), "a string", v)
	}
	excused := false // may the content be null?
	switch m.Role {
	case "system", "developer", "user":
	case "assistant":
		if m.Calls, r = toolCalls(i, o); r != nil {
			return m, r
		}
		if m.Function, r = functionCall(i, o); r != nil {
			return m, r
		}
		m.Thinking = thoughts(o)
		_, refusal := given(o, "refusal")
		_, audio := given(o, "audio")
		excused = m.Calls != nil || m.Function != nil || refusal || audio
	case "tool":
		v, ok := given(o, "tool_call_id")
		if !ok { // langchain-ai/langchain#22600
			return m, refuse(KindPairs, dotted(i, ".tool_call_id"), "",
				"Missing parameter 'tool_call_id': messages with role 'tool' must have a 'tool_call_id'")
		}
		if json.Unmarshal(v, &m.ToolCallID) != nil {
			return m, wrongType(at(i, ".tool_call_id"), "a string", v)
		}
	case "function":
		if m.Name == "" {
			return m, missing(at(i, ".name"))
		}
	default:
		return m, refuse(KindShape, at(i, ".role"), "invalid_value",
			"Invalid value: '%s'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.", m.Role)
	}
	v, ok := given(o, "content")
	if !ok {
		if excused {
			return m, nil
		}
		return m, refuse(KindShape, dotted(i, ".content"), "", // run-llama/llama_index#17555
			"Invalid value for 'content': expected a string, got null.")
	}
	m.Text, m.Media, r = content(at(i, ".content"), v)
	return m, r
}

// content reads a string or an array of parts.
func content(where string, v json.RawMessage) (text string, media int, r *Refusal) {
	if typeOf(v) == "a string" {
		return asString(v), 0, nil
	}
	var parts []json.RawMessage
	if json.Unmarshal(v, &parts) != nil {
		return "", 0, wrongType(where, "one of a string or array of objects", v)
	}
	if len(parts) == 0 {
		return "", 0, emptyArray(where)
	}
	var texts []string
	for n, raw := range parts {
		part := fmt.Sprintf("%s[%d]", where, n)
		var p object
		if typeOf(raw) != "an object" || json.Unmarshal(raw, &p) != nil {
			return "", 0, wrongType(part, "an object", raw)
		}
		kind, r := requiredString(p, part+".type", "type")
		if r != nil {
			return "", 0, r
		}
		switch kind {
		case "text", "refusal":
			t, r := requiredString(p, part+"."+kind, kind)
			if r != nil {
				return "", 0, r
			}
			texts = append(texts, t)
		default: // images, audio, files and kinds to come
			media++
		}
	}
	return strings.Join(texts, "\n"), media, nil
}

func requiredString(o object, where, key string) (s string, r *Refusal) {
	v, ok := o[key]
	if !ok {
		return "", missing(where)
	}
	if typeOf(v) != "a string" {
		return "", wrongType(where, "a string", v)
	}
	return asString(v), nil
}

// asString reads a value that is known to be a string.
func asString(v json.RawMessage) (s string) {
	if err := json.Unmarshal(v, &s); err != nil {
		panic("BUG: a valid JSON string did not decode: " + err.Error())
	}
	return s
}
