package wire

import (
	"bytes"
	"strings"

	"laconic/compact"
)

// message reads one element of messages.
func (d *decoder) message() {
	if !d.start() {
		return
	}
	m, k := d.newest()
	var legacy pair
	var legacyAt int32
	var name extent
	var id string
	sealed := false // by something beside its thinking
	for o := (object{}); d.key(&o, messageKeys); {
		switch o.name {
		case "content":
			d.content(m, k)
		case "tool_calls":
			d.toolCalls(m, o.start)
		case "reasoning_content", "reasoning", "reasoning_text", "thinking", "reasoning_details", "thinking_blocks":
			d.reasoning(m, &o)
		case "function_call":
			if d.peek() != 'n' {
				legacyAt = d.open(o.start, d.holder, withMessage)
				legacy = d.pair("arguments", "function_call")
				d.close(legacyAt)
			}
		case "role":
			d.role(m, d.read())
		case "name":
			v := d.read()
			m.Name, name = d.str(v), v.extent
		case "tool_call_id":
			v := d.read()
			id, k.answers = d.str(v), v.extent
		case "redacted_thinking", "signature":
			d.seals(&o, d.read())
		case "thought_signature", "encrypted_content", "extra_content":
			sealed = sealed || !d.blank(d.read())
		case "provider_specific_fields":
			sealed = sealed || d.signed(d.read())
		case "refusal":
			v := d.read()
			m.Holds, m.Refusal = m.Holds || v.kind != 'n', d.textOf(v)
		case "audio":
			m.Sound = !d.blank(d.read())
			m.Holds = m.Holds || m.Sound
		case "annotations":
			m.Holds = m.Holds || !d.blank(d.read())
		case "prefix", "partial": // DeepSeek, Mistral; Moonshot, DashScope
			d.opened = d.opened || d.peek() == 't'
		}
	}
	d.close(d.holder)
	if d.bound = d.bound && m.Role == compact.Assistant; d.bound {
		m.Seal = compact.SealBound
	}
	if sealed || d.thinks && !d.bound {
		m.Seal |= compact.SealText | compact.SealArguments
	}
	switch m.Role {
	case 0:
		d.inMessage(RoleMissing, int(d.elements[d.holder].whole.start))
	case compact.Assistant:
		if legacyAt > 0 { // its call comes last, wherever it is
			d.elements[legacyAt].stays = withPieces
			d.add(compact.Call{ID: compact.ByName(d.str(legacy.name))}, place{element: legacyAt}, legacy)
		}
	case compact.Tool:
		if m.Answers = id; d.byName {
			m.Answers, k.answers = compact.ByName(m.Name), name
		}
	}
	if m.Role != compact.Assistant { // only an assistant calls
		d.dropCalls(k)
		m.Flawed = false
	}
	d.end(k)
}

func (d *decoder) role(m *compact.Message, v value) {
	if v.kind != '"' {
		d.inMessage(RoleNotString, int(v.start))
		return
	}
	known := true
	if d.byName = d.str(v) == "function"; d.byName {
		m.Role = compact.Tool // in its legacy form
	} else if m.Role, known = compact.RoleNamed(d.str(v)); !known {
		d.inMessage(RoleUnknown, int(v.start))
	}
}

// blank reports whether a value says nothing: null, false, and what is empty.
func (d *document) blank(v value) bool {
	switch v.kind {
	case 'n', 'f', 0:
		return true
	case '"', '{', '[':
		return strings.TrimSpace(d.inside(v)) == ""
	}
	return false
}

// signed reports whether LiteLLM put a signature among what a provider said
// beside the message; it also puts harmless things there.
func (d *document) signed(v value) bool { return bytes.Contains(d.raw(v.extent), []byte("signature")) }
