package wire

import (
	"strings"

	"github.com/tidwall/gjson"
)

// Detect returns the API that a body is written in, judged by its keys, or nil if no
// API has it. Chat and Anthropic's API differ in tools alone, so a body without
// them, and without a system prompt beside its messages, is one of the chat API.
func Detect(body []byte) Wire {
	list, items, anthropic := Wire(nil), false, false
	gjson.Parse(lent(body)).ForEach(func(key, value gjson.Result) bool {
		switch key.Str {
		case "messages":
			list = apiOf(value)
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
	case list == nil && items:
		return Responses
	case list == Chat && anthropic:
		return Messages
	}
	return list
}

// DetectList returns the API that a list of messages is written in, or nil if it is not
// a list.
func DetectList(list []byte) Wire { return apiOf(gjson.Parse(lent(list))) }

func apiOf(list gjson.Result) Wire {
	if !list.IsArray() {
		return nil
	}
	found := Chat
	list.ForEach(func(_, m gjson.Result) bool {
		kind := m.Get("type").Str
		if m.Get("role").Str == "" && kind != "" && kind != "message" {
			found = Responses
		}
		if content := m.Get("content"); content.IsArray() {
			content.ForEach(func(_, block gjson.Result) bool {
				switch kind := block.Get("type").Str; {
				case strings.HasSuffix(kind, "tool_use"), strings.HasSuffix(kind, "tool_result"), kind == "image" && block.Get("source").Exists():
					found = Messages
				case kind == "input_text" || kind == "output_text":
					found = Responses
				}
				return found == Chat
			})
		}
		return found == Chat
	})
	return found
}
