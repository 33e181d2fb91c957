package strict

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// itemKinds are the types of items, and what pairs some of them: the type of the call
// that an output answers.
var itemKinds = map[string]string{
	"message": "", "reasoning": "", "compaction": "", "compaction_trigger": "", "additional_tools": "", "web_search_call": "",
	"function_call": "", "custom_tool_call": "", "local_shell_call": "", "shell_call": "", "apply_patch_call": "",
	"function_call_output": "function_call", "custom_tool_call_output": "custom_tool_call", "shell_call_output": "shell_call",
	"apply_patch_call_output": "apply_patch_call",
}

// mostCallID is the length of the longest call_id.
const mostCallID = 64

// readItems reads a request of the API of responses. A message is an item.
func (u *Upstream) readItems(body []byte) (*Request, *Refusal) {
	req, o, r := begin(body, refuse(KindField, "model", "missing_required_parameter", "Missing required parameter: 'model'."), "max_output_tokens")
	if r != nil {
		return nil, r
	}
	req.Items = true
	var instructions string
	if o.read("instructions", &instructions) {
		req.Messages = append(req.Messages, Message{Role: "system", Text: instructions})
	}
	var tools []json.RawMessage
	if o.read("tools", &tools) && len(tools) > 0 {
		req.Tools = o.fields["tools"]
	}
	var include []string
	o.read("include", &include)
	req.reasons = slices.Contains(include, "reasoning.encrypted_content")
	var text string
	var items []map[string]json.RawMessage
	switch input := o.fields["input"]; {
	case len(input) == 0 || string(input) == "null":
		o.refuse("input", "missing_required_parameter", "Missing required parameter: 'input'.")
	case json.Unmarshal(input, &text) == nil:
		req.Messages = append(req.Messages, Message{Role: "user", Text: text})
	case o.read("input", &items) && len(items) == 0:
		o.empty("input")
	}
	for i, fields := range items {
		req.Messages = append(req.Messages, object{fields, fmt.Sprintf("input[%d].", i), o.fault}.item())
	}
	return u.judged(req, *o.fault, itemPairs)
}

// item reads one item as a message: Role is its type, or the role of a message.
func (o object) item() (m Message) {
	kind := "message"
	o.read("type", &kind)
	if _, known := itemKinds[kind]; !known {
		o.refuse("type", "invalid_value", "Invalid value: '%s'.", kind)
		return m
	}
	m.Role = kind
	o.read("id", &m.ItemID)
	o.read("call_id", &m.ToolCallID)
	pairs := itemKinds[kind] != "" || strings.HasSuffix(kind, "_call") && kind != "web_search_call"
	if n := utf8.RuneCountInString(m.ToolCallID); pairs && (n == 0 || n > mostCallID) {
		o.refuse("call_id", "invalid_value", "Invalid '%scall_id': expected a string of 1 to %d characters, but got %d.", o.at, mostCallID, n)
	}
	var call Call
	switch kind {
	case "message":
		if !o.read("role", &m.Role) || !slices.Contains([]string{"user", "system", "developer", "assistant"}, m.Role) {
			o.refuse("role", "invalid_value", "Invalid value: '%s'.", m.Role)
		}
		m.Text, m.Media = o.itemText("content")
	case "function_call", "custom_tool_call":
		key := "arguments"
		if kind == "custom_tool_call" {
			key = "input"
		}
		if !o.read("name", &call.Name) || !o.read(key, &call.Arguments) {
			o.refuse(key, "missing_required_parameter", "Missing required parameter: '%s%s'.", o.at, key)
		}
		call.ID, call.Type = m.ToolCallID, kind
		m.Calls = []Call{call}
	case "reasoning":
		var summary []struct{ Text string }
		if !o.read("summary", &summary) {
			o.refuse("summary", "missing_required_parameter", "Missing required parameter: '%ssummary'.", o.at)
		}
		for _, s := range summary {
			m.Thinking += s.Text
		}
	case "shell_call", "local_shell_call", "apply_patch_call", "additional_tools", "compaction":
		raw, _ := json.Marshal(o.fields)
		m.Text = string(raw)
	case "compaction_trigger", "web_search_call":
	default: // outputs
		if o.fields["output"] == nil {
			o.refuse("output", "missing_required_parameter", "Missing required parameter: '%soutput'.", o.at)
		}
		m.Text, m.Media = o.itemText("output")
	}
	return m
}

// itemText reads a text, or a list of parts.
func (o object) itemText(key string) (text string, media int) {
	if json.Unmarshal(o.fields[key], &text) == nil {
		return text, 0
	}
	var parts []struct{ Type, Text, Refusal, Stdout, Stderr string }
	o.read(key, &parts)
	var texts []string
	for n, p := range parts {
		switch p.Type {
		case "input_text", "output_text", "refusal", "":
			texts = append(texts, p.Text+p.Refusal+p.Stdout+p.Stderr)
		case "input_image", "input_file", "input_audio":
			media++
		default:
			o.refuse(key, "invalid_value", "Invalid value: '%s' at '%s%s[%d].type'.", p.Type, o.at, key, n)
		}
	}
	return strings.Join(texts, "\n"), media
}

// itemPairs refuses a list unless every call has one output behind it, every output a
// call of its kind before it, every id occurs once, and reasoning stands with what it
// was written for.
func itemPairs(items []Message) *Refusal {
	refusal := func(format string, args ...any) *Refusal { return refuse(KindPairs, "input", "", format, args...) }
	calls, answered, ids := map[string]string{}, map[string]bool{}, map[string]bool{}
	for i, m := range items {
		if m.ItemID != "" && ids[m.ItemID] {
			return refusal("Duplicate item found with id %s. Remove duplicate items from your input and try again.", m.ItemID)
		}
		ids[m.ItemID] = true
		switch wants := itemKinds[m.Role]; {
		case wants != "":
			made := calls[m.ToolCallID]
			local := made == "local_shell_call" && m.Role == "function_call_output"
			if made != wants && !local {
				return refusal("No tool call found for %s with call_id %s.", strings.ReplaceAll(m.Role, "_", " "), m.ToolCallID)
			}
			if answered[m.ToolCallID] {
				return refusal("Duplicate tool output found for call_id %s.", m.ToolCallID)
			}
			answered[m.ToolCallID] = true
		case m.ToolCallID != "":
			if calls[m.ToolCallID] != "" {
				return refusal("Duplicate tool call found with call_id %s.", m.ToolCallID)
			}
			calls[m.ToolCallID] = m.Role
		case m.Role == "reasoning":
			if i+1 == len(items) || !followsReasoning(&items[i+1]) {
				return refusal("Item '%s' of type 'reasoning' was provided without its required following item.", m.ItemID)
			}
		}
		if _, of, thought := strings.Cut(m.ItemID, thoughtOf); thought {
			of, _, _ = strings.Cut(of, "_")
			if !ids[reasoningID+of] {
				return refusal("Item '%s' of type '%s' was provided without its required 'reasoning' item: '%s'.", m.ItemID, m.Role, reasoningID+of)
			}
		}
		if m.Role == "compaction_trigger" && i+1 < len(items) {
			return refusal("Item of type 'compaction_trigger' must be the last.")
		}
	}
	for _, m := range items {
		if id := m.ToolCallID; calls[id] != "" && !answered[id] {
			return refusal("No tool output found for function call %s.", id)
		}
	}
	return nil
}

// Ids of this upstream: of reasoning, and within the id of an item that was written
// with reasoning.
const (
	reasoningID = "rs_"
	thoughtOf   = "_rs"
)

// followsReasoning reports whether reasoning may stand directly before an item.
func followsReasoning(m *Message) bool {
	return m.Role == "assistant" || m.Role == "reasoning" || itemKinds[m.Role] == "" && strings.HasSuffix(m.Role, "_call")
}
