package wire

import "laconic/compact"

// messagesDialect writes pieces of messages as the messages API wants them.
type messagesDialect struct{ chatDialect }

func (messagesDialect) added(dst []byte, m *compact.Message, text string) []byte {
	if m.Role == compact.Tool {
		dst = append(dst, `{"role":"user","content":[{"type":"tool_result","tool_use_id":`...)
		dst = append(appendQuoted(dst, m.Answers), `,"content":`...)
		return append(appendQuoted(dst, text), `}]}`...)
	}
	// Instructions stand beside the list; not every upstream takes one in it.
	role := compact.User
	if m.Role == compact.Assistant {
		role = m.Role
	}
	dst = append(append(append(dst, `{"role":"`...), role.String()...), `","content":`...)
	return append(appendQuoted(dst, text), '}')
}

func (messagesDialect) alone(m *compact.Message) (before, after string) {
	if m.Role == compact.Assistant {
		return `{"role":"assistant","content":[`, "]}"
	}
	return `{"role":"user","content":[`, "]}"
}

func (messagesDialect) keys(*compact.Message) (id, answers, content string) {
	return "id", "tool_use_id", "content"
}
