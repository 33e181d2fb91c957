package wiretest

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"testing"

	"laconic/compact"
)

// Blocks returns the elements of a recorded chat conversation as agents of the
// messages API send them, and the instructions beside the list. The results of an
// answer are one element, with the user's words behind them. signed gives every
// answer bound thinking.
func Blocks(t testing.TB, chat []byte, signed bool) (system string, list []any) {
	t.Helper()
	seen, now := map[string]int{}, map[string]string{} // id of a call: its id in the list, where none occurs twice
	var results []any
	flush := func() {
		if results != nil {
			list, results = append(list, Fields{"role": "user", "content": results}), nil
		}
	}
	for n, m := range recorded(t, chat).Conversation.Messages {
		text := textOf(&m)
		switch m.Role {
		case compact.Tool:
			results = append(results, Fields{"type": "tool_result", "tool_use_id": now[m.Answers], "content": text})
		case compact.Assistant:
			flush()
			var blocks []any
			if signed {
				blocks = append(blocks, Fields{"type": "thinking", "thinking": "so", "signature": fmt.Sprint("s", n)})
			}
			if text != "" || len(m.Calls) == 0 {
				blocks = append(blocks, Fields{"type": "text", "text": text})
			}
			for _, c := range m.Calls {
				id, arguments := foreign.ReplaceAllString(c.ID, "_"), c.Arguments.String()
				if seen[c.ID]++; seen[c.ID] > 1 {
					id = fmt.Sprintf("%s-%d", id, seen[c.ID])
				}
				now[c.ID] = id
				var input Fields
				if json.Unmarshal([]byte(arguments), &input) != nil || input == nil {
					input = Fields{"input": arguments}
				}
				blocks = append(blocks, Fields{"type": "tool_use", "id": id, "name": c.Name, "input": input})
			}
			list = append(list, Fields{"role": "assistant", "content": blocks})
		case compact.System, compact.Developer:
			if list == nil && system == "" {
				system = text
				continue
			}
			flush()
			list = append(list, Fields{"role": "system", "content": text})
		default:
			if results != nil {
				results = append(results, Fields{"type": "text", "text": text})
				continue
			}
			list = append(list, Fields{"role": "user", "content": text})
		}
	}
	flush()
	return system, list
}

// foreign are the characters that an id of the messages API may not have.
var foreign = regexp.MustCompile(`[^\w-]`)

// BlocksBody returns a request of the messages API. As Claude Code does it, the newest
// words carry a mark of the cache, for which a text becomes a block.
func BlocksBody(t testing.TB, system string, list []any) []byte {
	t.Helper()
	f := Fields{"model": "claude-sonnet-5", "max_tokens": 1000, "messages": list}
	if system != "" {
		f["system"] = []any{Fields{"type": "text", "text": system, "cache_control": Fields{"type": "ephemeral"}}}
	}
	last := maps.Clone(list[len(list)-1].(Fields))
	if text, ok := last["content"].(string); ok {
		last["content"] = []any{Fields{"type": "text", "text": text, "cache_control": Fields{"type": "ephemeral"}}}
	} else if blocks := last["content"].([]any); len(blocks) > 0 {
		marked := maps.Clone(blocks[len(blocks)-1].(Fields))
		marked["cache_control"] = Fields{"type": "ephemeral"}
		last["content"] = append(append([]any(nil), blocks[:len(blocks)-1]...), marked)
	}
	f["messages"] = append(append([]any(nil), list[:len(list)-1]...), last)
	return body(t, f)
}
