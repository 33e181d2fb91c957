package wire

import (
	"bytes"
	"strings"

	"laconic/compact"
)

// message reads one element of messages.
func (d *decoder) message() bool {
	if d.crowded() {
		return false
	}
	d.msgs = append(roomier(d.msgs, d.at, len(d.src)), compact.Message{Origin: len(d.msgs)})
	d.r.marks = append(roomier(d.r.marks, d.at, len(d.src)), messageMark{
		firstPart: uint32(len(d.parts)), firstCall: uint32(len(d.calls)),
	})
	m, k := &d.msgs[len(d.msgs)-1], &d.r.marks[len(d.r.marks)-1]
	d.open = false
	if d.peek() != '{' {
		if startsValue(d.peek()) {
			return d.inMessage(MessageNotObject, d.at, "")
		}
		return d.fail(InvalidJSON, d.at, "")
	}
	k.whole.start = uint32(d.at)
	var legacy value
	var id string
	var o object
	for d.key(&o) {
		if !d.clear(&o, messageKeys) {
			return false
		}
		switch o.name {
		case "content":
			if !d.content(m, k) {
				return false
			}
			continue
		case "tool_calls":
			if !d.toolCalls(m) {
				return false
			}
			k.toolCall = span{uint32(o.start), uint32(d.at)}
			continue
		case "reasoning_content", "reasoning", "reasoning_text", "thinking", "reasoning_details", "thinking_blocks":
			if !d.reasoning(m) {
				return false
			}
			continue
		case "function_call":
			// It is read again when the message is: its call comes last,
			// wherever it stands.
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
			m.Name, k.name = d.str(v), v.span
		case "tool_call_id":
			id, k.answers = d.str(v), v.span
		case "function_call":
			if v.kind == '{' {
				legacy = v
				k.legacy = span{uint32(o.start), uint32(d.at)}
			}
		case "redacted_thinking", "signature", "thought_signature", "encrypted_content", "extra_content":
			m.Sealed = m.Sealed || !d.blank(v)
		case "provider_specific_fields":
			m.Sealed = m.Sealed || d.signed(v)
		case "refusal":
			m.Holds, m.Refusal = m.Holds || v.kind != 'n', d.textOf(v)
		case "audio":
			m.Sound = !d.blank(v)
			m.Holds = m.Holds || m.Sound
		case "annotations":
			m.Holds = m.Holds || !d.blank(v)
		case "prefix", "partial": // DeepSeek, Mistral; Moonshot, DashScope
			d.open = d.open || v.kind == 't'
		}
	}
	if d.err != nil {
		return false
	}
	k.whole.end = uint32(d.at)
	switch m.Role {
	case 0:
		return d.inMessage(RoleMissing, int(k.whole.start), "")
	case compact.Tool:
		m.Answers = id
	case compact.Function:
		m.Answers = m.Name
	}
	return !legacy.present() || d.legacyCall(legacy)
}

func (d *decoder) role(m *compact.Message, v value) (ok bool) {
	if v.kind != '"' {
		return d.inMessage(RoleNotString, int(v.start), "")
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

// reasoning reads one of the fields that reasoning travels in: a text, or a
// list of blocks that hold some.
func (d *decoder) reasoning(m *compact.Message) bool {
	v := value{span: span{start: uint32(d.at)}, kind: d.peek()}
	d.said = d.said[:0]
	if !d.thoughts(v.kind == '"') {
		return false
	}
	v.end = uint32(d.at)
	m.Sealed = m.Sealed || !d.blank(v) // DeepSeek wants the key, with an empty string
	d.thought(m)
	return true
}

// thoughts reads any value and collects the texts that a block of reasoning
// says. What is encrypted is no text, and costs nothing that we know of. named:
// the value stands where such a text does.
func (d *decoder) thoughts(named bool) bool {
	switch d.peek() {
	case '"':
		v, ok := d.value()
		if named {
			d.said = append(d.said, v)
		}
		return ok
	case '[':
		var a array
		for d.element(&a) {
			if !d.thoughts(named) {
				return false
			}
		}
		return d.err == nil
	case '{':
		var o object
		for d.key(&o) {
			if !d.thoughts(o.name == "text" || o.name == "thinking" || o.name == "summary") {
				return false
			}
		}
		return d.err == nil
	}
	return d.skip()
}

// thought notes the reasoning that was collected. Servers and clients write it
// under several names, often under two at once, so the longest counts.
func (d *decoder) thought(m *compact.Message) {
	size := 0
	for _, v := range d.said {
		size += v.size
	}
	switch {
	case size <= m.Reasoning.Len():
	case len(d.said) == 1:
		m.Reasoning = d.textOf(d.said[0])
	default:
		var b strings.Builder
		for _, v := range d.said {
			b.WriteString(d.view(int(v.start)+1, int(v.end)-1))
		}
		m.Reasoning = compact.Plain(b.String())
		if b.Len() != size {
			m.Reasoning = compact.Encoded(b.String(), size, jsonString)
		}
	}
}

// blank tells whether a value says nothing: null, false, and what is empty.
func (d *decoder) blank(v value) bool {
	switch v.kind {
	case 'n', 'f', 0:
		return true
	case '"', '{', '[':
		return len(bytes.TrimSpace(d.src[v.start+1:v.end-1])) == 0
	}
	return false
}

// signed tells whether LiteLLM put a signature among what a provider said
// beside the message; it also puts harmless things there.
func (d *decoder) signed(v value) bool { return bytes.Contains(d.raw(v.span), []byte("signature")) }

// toolCalls reads the calls of a message.
func (d *decoder) toolCalls(m *compact.Message) bool {
	switch d.peek() {
	case 'n':
		m.EmptyCalls = true
		return d.literal("null")
	case '[':
	default:
		return d.wrong("tool_calls is not an array")
	}
	before := len(d.calls)
	var a array
	for d.element(&a) {
		if d.peek() != '{' {
			return d.wrong("a call is not an object")
		}
		if !d.call(m) {
			return false
		}
	}
	m.EmptyCalls = len(d.calls) == before
	return d.err == nil
}

// call reads one element of tool_calls.
func (d *decoder) call(m *compact.Message) bool {
	if d.crowded() {
		return false
	}
	var c compact.Call
	k := callMark{whole: span{start: uint32(d.at)}}
	var kind string
	var function, custom pair
	var o object
	for d.key(&o) {
		if !d.clear(&o, callKeys) {
			return false
		}
		switch o.name {
		case "function":
			if !d.pair(&function, "name", "arguments", "function") {
				return false
			}
			continue
		case "custom":
			if !d.pair(&custom, "name", "input", "custom") {
				return false
			}
			continue
		}
		v, ok := d.value()
		if !ok {
			return false
		}
		switch o.name {
		case "id":
			c.ID, k.id = d.str(v), v.span
		case "type":
			kind = d.str(v)
		case "extra_content":
			c.Sealed = c.Sealed || !d.blank(v)
		case "provider_specific_fields":
			c.Sealed = c.Sealed || d.signed(v)
		}
	}
	if d.err != nil {
		return false
	}
	k.whole.end = uint32(d.at)
	said := function
	if kind == "custom" {
		c.Kind, said = compact.CallCustom, custom
	}
	m.Sealed = m.Sealed || c.Sealed
	d.addCall(c, k, said)
	return true
}

// legacyCall reads a function_call once more, for its content.
func (d *decoder) legacyCall(v value) bool {
	if d.crowded() {
		return false
	}
	after := d.at
	d.at = int(v.start)
	var said pair
	if !d.pair(&said, "name", "arguments", "function_call") {
		return false
	}
	d.at = after
	d.addCall(compact.Call{Kind: compact.CallLegacy}, callMark{whole: v.span}, said)
	return true
}

func (d *decoder) addCall(c compact.Call, k callMark, said pair) {
	c.Name, c.Arguments = d.str(said.first), d.textOf(said.second)
	k.arguments = said.second.span
	if kind := said.second.kind; kind == '{' || kind == '[' {
		// Ollama's own clients send arguments as an object: the model reads its JSON.
		c.Arguments = compact.Plain(d.view(int(k.arguments.start), int(k.arguments.end)))
	}
	d.calls = append(roomier(d.calls, d.at, len(d.src)), c)
	d.r.calls = append(roomier(d.r.calls, d.at, len(d.src)), k)
}

// pair is two values of an object.
type pair struct{ first, second value }

// pair reads an object of which two values matter. null is as good as absent.
func (d *decoder) pair(p *pair, first, second, what string) bool {
	if d.peek() == 'n' {
		return d.literal("null")
	}
	if d.peek() != '{' {
		return d.wrong(what + " is not an object")
	}
	var o object
	for d.key(&o) {
		if !d.clear(&o, pairKeys) {
			return false
		}
		v, ok := d.value()
		if !ok {
			return false
		}
		switch o.name {
		case first:
			p.first = v
		case second:
			p.second = v
		}
	}
	return d.err == nil
}
