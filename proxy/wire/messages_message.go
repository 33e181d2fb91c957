package wire

import (
	"strings"

	"laconic/compact"
)

// message reads one element of the list. A user's may be several messages: each result
// is one, and so are the blocks before, between or behind them.
func (d *messagesDecoder) message() {
	first := len(d.msgs)
	if !d.start() {
		return
	}
	whole := d.holder
	d.msgs[first].Role = messagesRole(d.ahead(d.at, "role"))
	for o := (object{}); d.key(&o, messagesMessageKeys); {
		switch o.name {
		case "content":
			d.blocks(first)
		case "role":
			if v := d.read(); v.kind != '"' {
				d.inMessage(RoleNotString, int(v.start))
			} else if messagesRole(d.str(v)) == 0 {
				d.inMessage(RoleUnknown, int(v.start))
			}
		}
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
		d.inMessage(RoleMissing, int(d.elements[whole].whole.start))
	case m.Role != compact.Assistant:
	case d.bound:
		m.Seal = compact.SealBound
	case d.thinks:
		m.Seal = compact.SealText | compact.SealArguments
	}
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

// blocks reads the content of an element whose first message was begun.
func (d *messagesDecoder) blocks(first int) {
	m, k := d.newest()
	if d.peek() != '[' {
		d.content(m, k)
		return
	}
	start, role := uint32(d.at), m.Role
	m.Shape = compact.Array
	for a := (array{}); d.element(&a); {
		if d.peek() != '{' {
			d.wrong("a block is not an object")
			return
		}
		m, k := d.newest()
		kind := d.ahead(d.at, "type")
		answers := kind == "tool_result" && role == compact.User
		if m.Role == compact.Tool || answers && k.parts.from < uint32(len(d.parts)) {
			d.end(k)
			m, k = d.begin()
			m.Role, m.Shape = role, compact.Array
		}
		switch {
		case answers:
			d.result(m, k)
		case kind == "tool_use" && role == compact.Assistant:
			d.use()
		default:
			m.Replaces = m.Replaces || kind == "compaction"
			// The result of a tool that the upstream runs goes with the answer that called it.
			m.Joined = m.Joined || first > 0 && d.msgs[first-1].Role == compact.Assistant && role == compact.Assistant &&
				k.parts.from == uint32(len(d.parts)) && strings.HasSuffix(kind, "_tool_result")
			d.part()
		}
	}
	for i := first; i < len(d.msgs); i++ {
		if d.msgs[i].Role != compact.Tool {
			d.marks[i].content = extent{start, uint32(d.at)}
		}
	}
	m, _ = d.newest()
	d.thought(m)
}

// result reads a result, which is a message of its own in the element of others.
func (d *messagesDecoder) result(m *compact.Message, k *mark) {
	m.Role, m.Shape = compact.Tool, compact.Absent
	whole := d.holder
	d.holder = d.open(d.at, whole, withMessage)
	for o := (object{}); d.key(&o, messagesBlockKeys); {
		switch o.name {
		case "content":
			d.content(m, k)
		case "tool_use_id":
			v := d.read()
			m.Answers, k.answers = d.str(v), v.extent
		case "is_error":
			m.Failed = d.peek() == 't'
		}
	}
	d.close(d.holder)
	d.holder = whole
}

// use reads a call.
func (d *messagesDecoder) use() {
	var c compact.Call
	p := place{element: d.open(d.at, d.holder, withPieces)}
	for o := (object{}); d.key(&o, messagesBlockKeys); {
		switch o.name {
		case "id":
			v := d.read()
			c.ID, p.id = d.str(v), v.extent
		case "name":
			c.Name = d.str(d.read())
		case "input":
			p.text = d.read().extent
			c.Arguments = compact.Plain(lent(d.raw(p.text)))
		}
	}
	d.close(p.element)
	d.addCall(c, p)
}

// sameMessage returns what tells a message of this API from others, of its bytes.
// Claude Code puts markers on its newest message and takes them from it one turn
// later, and writes one text as a block with a marker and as a string without.
func sameMessage(m *compact.Message, raw string) string {
	raw = unmarked(raw)
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
