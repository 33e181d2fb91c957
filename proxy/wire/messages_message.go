package wire

import (
	"strings"

	"laconic/compact"
)

// message reads one element of the list. Of a user it may be several messages: each
// result is one, and so is what stands before, between or behind them.
func (d *messagesDecoder) message() bool {
	if d.crowded() {
		return false
	}
	first := len(d.msgs)
	m, _ := d.begin()
	d.flags, d.said = flags{}, d.said[:0]
	if d.peek() != '{' {
		if startsValue(d.peek()) {
			return d.inMessage(MessageNotObject, d.at, "")
		}
		return d.fail(InvalidJSON, d.at, "")
	}
	m.Role = messagesRole(d.ahead(d.at, "role"))
	whole := d.open(d.at, inList, withMessage)
	d.holder = whole
	var o object
	for d.key(&o) {
		if !d.unambiguous(&o, messagesMessageKeys) {
			return false
		}
		if o.name == "content" {
			if !d.blocks(first) {
				return false
			}
			continue
		}
		v, ok := d.value()
		if !ok {
			return false
		}
		if o.name != "role" {
			continue
		}
		if v.kind != '"' {
			return d.inMessage(RoleNotString, int(v.start), "")
		}
		if messagesRole(d.str(v)) == 0 {
			return d.inMessage(RoleUnknown, int(v.start), "")
		}
	}
	if d.err != nil {
		return false
	}
	d.close(whole)
	m, k := d.newest()
	d.end(k)
	if len(d.msgs) > first+1 && d.reminds() {
		m.Role, m.Holds = compact.System, true
	}
	if len(d.msgs) > first+1 || m.Role == compact.Tool {
		d.marks[first].elements.from++ // the element is not its own: others stand in it
		d.elements[whole].stays = withPieces
	}
	switch {
	case m.Role == 0:
		return d.inMessage(RoleMissing, int(d.elements[whole].whole.start), "")
	case m.Role != compact.Assistant:
	case d.bound:
		m.Seal = compact.SealBound
	case d.thinks:
		m.Seal = compact.SealText | compact.SealArguments
	}
	return true
}

// reminds reports whether the message that was begun last is a note of Claude Code's
// own behind results: it leaves with them, and nobody spoke. Words that the user sent
// meanwhile come in the same form.
func (d *messagesDecoder) reminds() bool {
	m, k := d.newest()
	for _, p := range d.parts[k.parts.from:] {
		text, _ := p.Text.Source()
		if p.Kind != compact.KindText || !strings.HasPrefix(text, "<system-reminder>") || strings.Contains(text, "user sent") {
			return false
		}
	}
	return m.Role == compact.User && d.msgs[len(d.msgs)-2].Role == compact.Tool
}

// messagesRole returns the role with a name of this API, 0 for any other.
func messagesRole(name string) compact.Role {
	switch role, _ := compact.RoleNamed(name); role {
	case compact.User, compact.Assistant, compact.System:
		return role
	}
	return 0
}

// newest returns the message that was begun last.
func (d *document) newest() (*compact.Message, *mark) {
	return &d.msgs[len(d.msgs)-1], &d.marks[len(d.marks)-1]
}

// blocks reads the content of an element whose first message was begun.
func (d *messagesDecoder) blocks(first int) bool {
	m, k := d.newest()
	role := m.Role
	if d.peek() != '[' {
		return d.content(m, k)
	}
	start := uint32(d.at)
	m.Shape = compact.Array
	var a array
	for d.element(&a) {
		if d.peek() != '{' {
			return d.wrong("a block is not an object")
		}
		if d.crowded() {
			return false
		}
		m, k := d.newest()
		kind := d.ahead(d.at, "type")
		answers := kind == "tool_result" && role == compact.User
		if m.Role == compact.Tool || answers && k.parts.from < uint32(len(d.parts)) {
			d.end(k)
			m, k = d.begin()
			m.Role, m.Shape = role, compact.Array
		}
		ok := false
		switch {
		case answers:
			ok = d.result(m, k)
		case kind == "tool_use" && role == compact.Assistant:
			ok = d.use()
		default:
			m.Replaces = m.Replaces || kind == "compaction"
			// The result of a tool that the upstream runs goes with the answer that called it.
			m.Joined = m.Joined || first > 0 && d.msgs[first-1].Role == compact.Assistant && role == compact.Assistant &&
				k.parts.from == uint32(len(d.parts)) && strings.HasSuffix(kind, "_tool_result")
			ok = d.part()
		}
		if !ok {
			return false
		}
	}
	for i := first; i < len(d.msgs); i++ {
		if d.msgs[i].Role != compact.Tool {
			d.marks[i].content = span{start, uint32(d.at)}
		}
	}
	m, _ = d.newest()
	d.thought(m)
	return d.err == nil
}

// result reads a result, which is a message of its own in the element of others.
func (d *messagesDecoder) result(m *compact.Message, k *mark) bool {
	m.Role, m.Shape = compact.Tool, compact.Absent
	whole := d.holder
	d.holder = d.open(d.at, whole, withMessage)
	var o object
	for d.key(&o) {
		if !d.unambiguous(&o, messagesBlockKeys) {
			return false
		}
		if o.name == "content" {
			if !d.content(m, k) {
				return false
			}
			continue
		}
		v, ok := d.value()
		if !ok {
			return false
		}
		switch o.name {
		case "tool_use_id":
			m.Answers, k.answers = d.str(v), v.span
		case "is_error":
			m.Failed = v.kind == 't'
		}
	}
	d.close(d.holder)
	d.holder = whole
	return d.err == nil
}

// use reads a call.
func (d *messagesDecoder) use() bool {
	var c compact.Call
	p := place{element: d.open(d.at, d.holder, withPieces)}
	var o object
	for d.key(&o) {
		if !d.unambiguous(&o, messagesBlockKeys) {
			return false
		}
		v, ok := d.value()
		if !ok {
			return false
		}
		switch o.name {
		case "id":
			c.ID, p.id = d.str(v), v.span
		case "name":
			c.Name = d.str(v)
		case "input":
			c.Arguments, p.text = compact.Plain(d.view(int(v.start), int(v.end))), v.span
		}
	}
	if d.err != nil {
		return false
	}
	d.close(p.element)
	d.addCall(c, p)
	return true
}

// sameMessage returns what tells a message of this API from others, of its bytes.
// Claude Code puts markers on its newest message and takes them from it one turn
// later, and writes one text as a block with a marker and as a string without.
func sameMessage(m *compact.Message, raw string) string {
	const marker = `"cache_control":`
	var without strings.Builder
	for {
		at := strings.Index(raw, marker) // not within a string, where quotes are escaped
		if at < 0 {
			break
		}
		s := scanner{src: bytesOf(raw), at: at + len(marker)}
		if s.space(); !s.skip() {
			break
		}
		before, after := strings.TrimRight(raw[:at], " \t\r\n"), strings.TrimLeft(raw[s.at:], " \t\r\n")
		if b, ok := strings.CutSuffix(before, ","); ok {
			before = b
		} else {
			after = strings.TrimPrefix(after, ",")
		}
		without.WriteString(before)
		raw = after
	}
	if without.Len() > 0 {
		raw = without.String() + raw
	}
	if len(m.Parts) != 1 || m.Parts[0].Kind != compact.KindText || len(m.Calls) > 0 || m.Role == compact.Tool {
		return raw
	}
	// No other key has room beside these.
	held, _ := m.Parts[0].Text.Source()
	plain := len(`{"role":"","content":""}`) + len(m.Role.String()) + len(held)
	if len(raw) == plain || m.Shape == compact.Array && len(raw) == plain+len(`[{"type":"text","text":}]`) {
		return m.Role.String() + `"` + held + `"`
	}
	return raw
}
