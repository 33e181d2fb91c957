package wire

import (
	"bytes"
	"slices"

	"laconic/compact"
)

// message reads one element of messages.
func (d *decoder) message() bool {
	if d.crowded() {
		return false
	}
	m, k := d.begin()
	d.flags = flags{}
	if d.peek() != '{' {
		if startsValue(d.peek()) {
			return d.inMessage(MessageNotObject, d.at, "")
		}
		return d.fail(InvalidJSON, d.at, "")
	}
	d.holder = d.open(d.at, inList, withMessage)
	var legacy value
	var name span
	var legacyAt int32
	sealed := false // by something beside its thinking
	var id string
	var o object
	for d.key(&o) {
		if !d.unambiguous(&o, messageKeys) {
			return false
		}
		switch o.name {
		case "content":
			if !d.content(m, k) {
				return false
			}
			continue
		case "tool_calls":
			if !d.toolCalls(m, o.start) {
				return false
			}
			continue
		case "reasoning_content", "reasoning", "reasoning_text", "thinking", "reasoning_details", "thinking_blocks":
			if !d.reasoning(m, &o) {
				return false
			}
			continue
		case "function_call":
			// It is read again when the message is: its call comes last,
			// wherever it is.
			if c := d.peek(); c != '{' && c != 'n' {
				return d.wrong("function_call is not an object")
			}
		}
		v, ok := d.value()
		if !ok {
			return false
		}
		switch o.name {
		case "role":
			if !d.role(m, v) {
				return false
			}
		case "name":
			m.Name, name = d.str(v), v.span
		case "tool_call_id":
			id, k.answers = d.str(v), v.span
		case "function_call":
			if v.kind == '{' {
				legacy, legacyAt = v, d.open(o.start, d.holder, withMessage)
				d.close(legacyAt)
			}
		case "redacted_thinking", "signature":
			d.seals(&o, v)
		case "thought_signature", "encrypted_content", "extra_content":
			sealed = sealed || !d.blank(v)
		case "provider_specific_fields":
			sealed = sealed || d.signed(v)
		case "refusal":
			m.Holds, m.Refusal = m.Holds || v.kind != 'n', d.textOf(v)
		case "audio":
			m.Sound = !d.blank(v)
			m.Holds = m.Holds || m.Sound
		case "annotations":
			m.Holds = m.Holds || !d.blank(v)
		case "prefix", "partial": // DeepSeek, Mistral; Moonshot, DashScope
			d.opened = d.opened || v.kind == 't'
		}
	}
	if d.bound = d.bound && m.Role == compact.Assistant; d.bound {
		m.Seal = compact.SealBound
	}
	if sealed || d.thinks && !d.bound {
		m.Seal |= compact.SealText | compact.SealArguments
	}
	return d.err == nil && d.finish(m, k, id, name, place{element: legacyAt}, legacy)
}

// finish sets what depends on several fields of a message, whatever their
// order: id is its tool_call_id, name the place of its name, legacy its
// function_call.
func (d *decoder) finish(m *compact.Message, k *mark, id string, name span, at place, legacy value) bool {
	d.close(d.holder)
	defer d.end(k)
	switch m.Role {
	case 0:
		return d.inMessage(RoleMissing, int(d.elements[d.holder].whole.start), "")
	case compact.Assistant:
		if legacy.present() && !d.legacyCall(legacy, at) {
			return false
		}
		if slices.ContainsFunc(d.calls[k.calls.from:], func(c compact.Call) bool { return c.Sealed }) {
			m.Seal |= compact.SealCalls
		}
		return true
	case compact.Tool:
		if m.Answers = id; d.byName {
			m.Answers, k.answers = compact.ByName(m.Name), name
		}
	}
	// Only an assistant calls.
	d.dropCalls(k)
	m.EmptyCalls = false
	return true
}

func (d *decoder) role(m *compact.Message, v value) (ok bool) {
	if v.kind != '"' {
		return d.inMessage(RoleNotString, int(v.start), "")
	}
	if d.byName = d.str(v) == "function"; d.byName {
		m.Role = compact.Tool // in its legacy form
		return true
	}
	if m.Role, ok = compact.RoleNamed(d.str(v)); !ok {
		return d.inMessage(RoleUnknown, int(v.start), "")
	}
	return true
}

// textOf is the text of a string value, decoded when somebody asks.
func (d *decoder) textOf(v value) compact.Text {
	if v.kind != '"' {
		return compact.Text{}
	}
	inside := d.view(int(v.start)+1, int(v.end)-1)
	if len(inside) == v.size {
		return compact.Plain(inside)
	}
	return compact.Encoded(inside, v.size, jsonString)
}

// blank reports whether a value says nothing: null, false, and what is empty.
func (d *decoder) blank(v value) bool {
	switch v.kind {
	case 'n', 'f', 0:
		return true
	case '"', '{', '[':
		return len(bytes.TrimSpace(d.src[v.start+1:v.end-1])) == 0
	}
	return false
}

// signed reports whether LiteLLM put a signature among what a provider said
// beside the message; it also puts harmless things there.
func (d *decoder) signed(v value) bool { return bytes.Contains(d.raw(v.span), []byte("signature")) }
