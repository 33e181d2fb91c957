package wire

import (
	"github.com/tidwall/gjson"

	"laconic/compact"
)

// chatDialect writes pieces of messages as the chat API wants them.
type chatDialect struct{}

func (chatDialect) added(dst []byte, m *compact.Message, text string) []byte {
	dst = append(dst, `{"role":"`...)
	dst = append(dst, m.RoleName()...)
	dst = append(dst, '"')
	if m.Role == compact.Tool {
		_, key, _ := chatDialect{}.keys(m)
		dst = append(append(append(dst, `,"`...), key...), `":`...)
		id, _ := compact.NameIn(m.Answers)
		dst = appendQuoted(dst, id)
	}
	dst = append(dst, `,"content":`...)
	return append(appendQuoted(dst, text), '}')
}

// markers are what clients put on a part to say where the provider's cache
// ends. They outlive the part they were put on.
var markers = [...]string{"cache_control", "prompt_cache_breakpoint"}

func (chatDialect) part(dst []byte, text string, old []byte) []byte {
	return appendPart(dst, "text", text, old)
}

// appendPart appends a part of some type that is text, with the markers of old.
func appendPart(dst []byte, kind, text string, old []byte) []byte {
	dst = append(append(append(dst, `{"type":"`...), kind...), `","text":`...)
	dst = appendQuoted(dst, text)
	for _, key := range markers {
		if v := gjson.GetBytes(old, key); v.Exists() {
			dst = append(dst, `,"`...)
			dst = append(dst, key...)
			dst = append(dst, `":`...)
			dst = append(dst, v.Raw...)
		}
	}
	return append(dst, '}')
}

func (chatDialect) alone(m *compact.Message) (before, after string) {
	if _, named := compact.NameIn(m.Calls[0].ID); named {
		return `{"role":"assistant","content":null,`, "}" // the element has its key
	}
	return `{"role":"assistant","content":null,"tool_calls":[`, "]}"
}

func (chatDialect) keys(m *compact.Message) (id, answers, content string) {
	if _, named := compact.NameIn(m.Answers); named {
		return "id", "name", "content"
	}
	return "id", "tool_call_id", "content"
}
