package fold

import (
	"strings"
	"unsafe"

	"github.com/tidwall/gjson"

	"laconic/proxy/wire"
)

// The names of the APIs that a shape tells apart.
const (
	chat      = "chat"
	messages  = "messages"  // Anthropic's
	responses = "responses" // OpenAI's newer one
)

// wireNamed returns the wire with a name, nil if there is none.
func wireNamed(name string) wire.Wire {
	for _, w := range wire.All {
		if w.Name() == name {
			return w
		}
	}
	return nil
}

// WireOf returns the API whose request a body is, by its shape; nil if it is none
// that is read. Chat and Anthropic's API differ in tools alone, so a body without
// them, and without a system prompt beside its messages, is one of the chat API.
func WireOf(body []byte) wire.Wire { return wireNamed(shapeOf(body)) }

func shapeOf(body []byte) string {
	list, items, anthropic := "", false, false
	gjson.Parse(lent(body)).ForEach(func(key, value gjson.Result) bool {
		switch key.Str {
		case "messages":
			list = shapeOfList(value)
		case "input":
			items = true
		case "system", "anthropic_version", "stop_sequences":
			anthropic = true
		case "tools":
			anthropic = anthropic || value.Get("0.input_schema").Exists()
		}
		return true
	})
	switch {
	case list == "" && items:
		return responses
	case list == chat && anthropic:
		return messages
	}
	return list
}

// shapeOfList returns the name of the API that a list of messages is written in, or
// "" if it is no list.
func shapeOfList(list gjson.Result) string {
	if !list.IsArray() {
		return ""
	}
	found := chat
	list.ForEach(func(_, m gjson.Result) bool {
		role, kind, content := "", "", gjson.Result{}
		m.ForEach(func(key, value gjson.Result) bool {
			switch key.Str {
			case "role":
				role = value.Str
			case "type":
				kind = value.Str
			case "content":
				content = value
			}
			return true
		})
		if role == "" && kind != "" && kind != "message" {
			found = responses
			return false
		}
		if content.IsArray() {
			content.ForEach(func(_, block gjson.Result) bool {
				switch kind := block.Get("type").Str; {
				case strings.HasSuffix(kind, "tool_use"), strings.HasSuffix(kind, "tool_result"), kind == "image" && block.Get("source").Exists():
					found = messages
				case kind == "input_text" || kind == "output_text":
					found = responses
				}
				return found == chat
			})
		}
		return found == chat
	})
	return found
}

// lent returns the bytes as a string, to be read while they do not change.
func lent(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
