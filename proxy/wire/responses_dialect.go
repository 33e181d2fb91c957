package wire

import (
	"strings"

	"laconic/compact"
)

// responsesDialect writes items as the API of responses wants them.
type responsesDialect struct {
	kinds map[string]string // type of the item that answers a call, by its id
}

func (w responsesDialect) added(dst []byte, m *compact.Message, text string) []byte {
	if m.Role == compact.Tool {
		return w.result(dst, m.Answers, text)
	}
	dst = append(dst, `{"type":"message","role":"`...)
	dst = append(append(dst, m.Role.String()...), `","content":`...)
	if m.Role == compact.Assistant {
		return append(append(appendPart(append(dst, '['), "output_text", text, nil), ']'), '}')
	}
	return append(appendQuoted(dst, text), '}')
}

// result writes the item that answers a call.
func (w responsesDialect) result(dst []byte, id, text string) []byte {
	kind := w.kinds[id]
	if kind == "" {
		kind = "function_call_output"
		if i := strings.LastIndexByte(id, '_'); i > 0 && w.kinds[id[:i]] != "" {
			kind = w.kinds[id[:i]] // it was renamed
		}
	}
	dst = append(append(append(dst, `{"type":"`...), kind...), `","call_id":`...)
	dst = append(appendQuoted(dst, id), `,"output":`...)
	switch kind {
	case "shell_call_output":
		dst = append(dst, `[{"stdout":"","stderr":`...)
		return append(appendQuoted(dst, text), `,"outcome":{"type":"exit","exit_code":1}}]}`...)
	case "apply_patch_call_output":
		return append(appendQuoted(dst, text), `,"status":"failed"}`...)
	}
	return append(appendQuoted(dst, text), '}')
}

func (responsesDialect) part(dst []byte, text string, old []byte) []byte {
	return appendPart(dst, "input_text", text, old)
}

func (responsesDialect) alone(*compact.Message) (before, after string) { return "", "" }

func (responsesDialect) keys(m *compact.Message) (id, answers, content string) {
	switch m.Role {
	case compact.Tool:
		return "call_id", "call_id", "output"
	case compact.Assistant:
		return "call_id", "call_id", "" // what it says is an item of its own
	}
	return "call_id", "call_id", "content"
}
