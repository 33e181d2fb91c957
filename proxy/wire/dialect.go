package wire

import (
	"cmp"
	"fmt"

	"github.com/tidwall/gjson"

	"laconic/compact"
)

// dialect is how a [Wire] writes what the client did not send.
type dialect interface {
	Name() string
	// added returns a message: a text with a role, or a result, of a type if the API has
	// several.
	added(m *compact.Message, kind, text string) []byte
	// alone returns what stands before and behind the pieces of a message that get an
	// element of the list to themselves: a call, or pieces that shared one.
	alone(m *compact.Message) (before, after string)
	// keys returns the keys of a call's id, of what a result answers, and of content.
	keys(m *compact.Message) (id, answers, content string)
}

// markers are what clients put on a part to say where the provider's cache
// ends. They outlive the part they were put on.
var markers = [...]string{"cache_control", "prompt_cache_breakpoint"}

// appendPart appends a part of some type that is text, with the markers of old, which
// may be nil.
func appendPart(dst []byte, kind, text string, old []byte) []byte {
	dst = fmt.Appendf(dst, `{"type":"%s","text":%s`, kind, quoted(text))
	for _, key := range markers {
		if v := gjson.GetBytes(old, key); v.Exists() {
			dst = fmt.Appendf(dst, `,"%s":%s`, key, v.Raw)
		}
	}
	return append(dst, '}')
}

func (w *chat) added(m *compact.Message, _, text string) []byte {
	dst := fmt.Appendf(nil, `{"role":"%s"`, m.RoleName())
	if m.Role == compact.Tool {
		_, key, _ := w.keys(m)
		id, _ := compact.NameIn(m.Answers)
		dst = fmt.Appendf(dst, `,"%s":%s`, key, quoted(id))
	}
	return fmt.Appendf(dst, `,"content":%s}`, quoted(text))
}

func (*chat) alone(m *compact.Message) (before, after string) {
	if _, named := compact.NameIn(m.Calls[0].ID); named {
		return `{"role":"assistant","content":null,`, "}" // the element has its key
	}
	return `{"role":"assistant","content":null,"tool_calls":[`, "]}"
}

func (*chat) keys(m *compact.Message) (id, answers, content string) {
	if _, named := compact.NameIn(m.Answers); named {
		return "id", "name", "content"
	}
	return "id", "tool_call_id", "content"
}

func (*messages) added(m *compact.Message, _, text string) []byte {
	role := compact.User // instructions stand beside the list; not every upstream takes one in it
	switch m.Role {
	case compact.Tool:
		return fmt.Appendf(nil, `{"role":"user","content":[{"type":"tool_result","tool_use_id":%s,"content":%s}]}`, quoted(m.Answers), quoted(text))
	case compact.Assistant:
		role = m.Role
	}
	return fmt.Appendf(nil, `{"role":"%s","content":%s}`, role, quoted(text))
}

func (*messages) alone(m *compact.Message) (before, after string) {
	if m.Role == compact.Assistant {
		return `{"role":"assistant","content":[`, "]}"
	}
	return `{"role":"user","content":[`, "]}"
}

func (*messages) keys(*compact.Message) (id, answers, content string) {
	return "id", "tool_use_id", "content"
}

func (*responses) added(m *compact.Message, kind, text string) []byte {
	switch m.Role {
	case compact.Tool:
		output, status := quoted(text), ""
		switch kind {
		case "shell_call_output":
			output = fmt.Appendf(nil, `[{"stdout":"","stderr":%s,"outcome":{"type":"exit","exit_code":1}}]`, output)
		case "apply_patch_call_output":
			status = `,"status":"failed"`
		}
		return fmt.Appendf(nil, `{"type":"%s","call_id":%s,"output":%s%s}`, cmp.Or(kind, "function_call_output"), quoted(m.Answers), output, status)
	case compact.Assistant:
		return fmt.Appendf(nil, `{"type":"message","role":"assistant","content":[%s]}`, appendPart(nil, "output_text", text, nil))
	}
	return fmt.Appendf(nil, `{"type":"message","role":"%s","content":%s}`, m.Role, quoted(text))
}

func (*responses) alone(*compact.Message) (before, after string) { return "", "" }

func (*responses) keys(m *compact.Message) (id, answers, content string) {
	switch m.Role {
	case compact.Tool:
		return "call_id", "call_id", "output"
	case compact.Assistant:
		return "call_id", "call_id", "" // what it says is an item of its own
	}
	return "call_id", "call_id", "content"
}
