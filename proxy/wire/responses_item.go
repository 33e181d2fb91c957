package wire

import "laconic/compact"

// itemState says of a message what its items are.
type itemState struct {
	turn  bool // reasoning, text and calls of the model, which may go on
	said  bool // it has text or calls
	text  bool // it has text
	async bool // an output may come in a later request, or none can be made up

	thoughts []string // of several items, until the message is complete
}

// answers are the types of calls, and of the item that answers each. An output of a
// type that needs more than a text cannot be made up.
var answers = map[string]string{
	"function_call":    "function_call_output",
	"custom_tool_call": "custom_tool_call_output",
	"local_shell_call": "function_call_output", // as Codex answers it
	"apply_patch_call": "apply_patch_call_output",
	"shell_call":       "shell_call_output",
	"computer_call":    "computer_call_output",
}

// outputs are the types of items that answer calls, and whether their output is a
// text or a list of parts.
var outputs = map[string]bool{
	"function_call_output": true, "custom_tool_call_output": true, "local_shell_call_output": true,
	"apply_patch_call_output": true, "shell_call_output": true, "computer_call_output": false,
}

// alones are the types of items that have call and output in one. They leave with
// their turn; no other item that is not known here ever does.
var alones = map[string]bool{
	"web_search_call": true, "file_search_call": true, "code_interpreter_call": true, "image_generation_call": true, "mcp_call": true,
}

// item is what matters of one element of input.
type item struct {
	kind, role            string
	roleOf                value
	id, callID, name      value
	arguments, input, pic value
	content               int // where it is, if it was not read yet; 0: it was, or there is none
	async, failed         bool
}

// item reads one element of input: a message of its own, or a piece of the turn before
// it.
func (d *itemDecoder) item() bool {
	if d.crowded() {
		return false
	}
	m, k := d.begin()
	d.states = append(grow(d.states, d.at, len(d.src)), itemState{})
	d.flags = flags{}
	if d.peek() != '{' {
		if startsValue(d.peek()) {
			return d.inMessage(MessageNotObject, d.at, "")
		}
		return d.fail(InvalidJSON, d.at, "")
	}
	d.holder = d.open(d.at, inList, withMessage)
	var it item
	var o object
	for d.key(&o) {
		if !d.unambiguous(&o, itemKeys) || !d.itemField(&it, m, k, o.name) {
			return false
		}
	}
	if d.err != nil {
		return false
	}
	if it.kind == "" && it.role != "" {
		it.kind = "message"
	}
	if it.content > 0 && it.readsContent() {
		after := d.at
		if d.at = it.content; !d.content(m, k) {
			return false
		}
		d.at = after
	}
	d.close(d.holder)
	return d.place(&it, m, k)
}

// itemField reads one field of an item.
func (d *itemDecoder) itemField(it *item, m *compact.Message, k *mark, name string) (ok bool) {
	switch name {
	case "content", "output":
		if it.kind == "reasoning" {
			break
		}
		if c := d.peek(); c != '"' && c != '[' && c != 'n' || !it.readsContent() {
			if it.content == 0 {
				it.content = d.at
			}
			if !startsValue(c) {
				return d.fail(InvalidJSON, d.at, "")
			}
			return d.skip()
		}
		return d.content(m, k)
	case "summary":
	default:
		v, ok := d.value()
		switch name {
		case "type":
			it.kind = d.str(v)
		case "role":
			it.role, it.roleOf = d.str(v), v
		case "call_id":
			it.callID = v
		case "id":
			it.id = v
		case "name":
			it.name = v
		case "arguments":
			it.arguments = v
		case "input":
			it.input = v
		case "result":
			it.pic = v
		case "async":
			it.async = v.kind == 't'
		case "status":
			it.failed = d.str(v) == "failed"
		}
		return ok
	}
	d.said = d.said[:0]
	if !d.thoughts(false) {
		return false
	}
	d.thought(m)
	return true
}

// readsContent reports whether the content or the output of an item is a text or a
// list of parts.
func (it *item) readsContent() bool {
	return it.kind == "message" || it.kind == "" && it.role != "" || outputs[it.kind]
}

// place decides what an item that was read is.
func (d *itemDecoder) place(it *item, m *compact.Message, k *mark) (ok bool) {
	s := &d.states[len(d.states)-1]
	_, output := outputs[it.kind]
	d.Trigger = it.kind == "compaction_trigger"
	switch {
	case it.kind == "message":
		if !d.role(m, it.roleOf) {
			return false
		}
		if m.Role == compact.Tool || d.byName {
			return d.inMessage(RoleUnknown, int(it.roleOf.start), "")
		}
		if m.Role == compact.Assistant {
			*s = itemState{turn: true, said: true, text: true}
			d.elements[d.holder].stays = d.ifPieces(k)
		}
	case it.kind == "reasoning":
		m.Role, m.Seal, s.turn = compact.Assistant, compact.SealText, true
	case answers[it.kind] != "":
		m.Role, m.Shape, *s = compact.Assistant, compact.Null, itemState{turn: true, said: true, async: it.async || it.kind == "computer_call"}
		d.itemCall(it)
	case output:
		m.Role, m.Failed = compact.Tool, it.failed
		id := it.callID
		if it.kind == "local_shell_call_output" && !id.present() {
			id = it.id
		}
		m.Answers, k.answers = d.str(id), id.span
		if it.kind == "computer_call_output" {
			d.sealed(it, m, k)
		}
	case it.kind == "":
		return d.inMessage(RoleMissing, int(d.elements[d.holder].whole.start), "")
	case alones[it.kind]:
		m.Role, s.said = compact.Assistant, true
		d.sealed(it, m, k)
	default:
		d.there = d.there || it.kind == "item_reference"
		d.Compaction = d.Trigger || d.Compaction
		m.Role, m.Kept, m.Replaces = compact.Developer, true, it.kind == "compaction"
		d.sealed(it, m, k)
	}
	d.end(k)
	d.join(it)
	return true
}

// ifPieces returns how long an element stays that may have pieces.
func (d *itemDecoder) ifPieces(k *mark) stay {
	if len(d.parts) > int(k.parts.from) {
		return withPieces
	}
	return withMessage
}

// itemCall adds the call that an item is. What it says of a kind that is not known
// well never changes.
func (d *itemDecoder) itemCall(it *item) {
	c := compact.Call{ID: d.str(it.callID), Name: d.str(it.name)}
	p := place{element: d.holder, id: it.callID.span}
	d.elements[d.holder].stays = withPieces
	switch it.kind {
	case "function_call":
		c.Arguments, p.text = d.textOf(it.arguments), it.arguments.span
	case "custom_tool_call":
		c.Kind, c.Arguments, p.text = compact.CallCustom, d.textOf(it.input), it.input.span
	default:
		c.Name, c.Sealed = it.kind, true
		c.Arguments = compact.Plain(d.view(int(d.elements[d.holder].whole.start), int(d.elements[d.holder].whole.end)))
	}
	if c.ID != "" {
		d.kinds[c.ID] = answers[it.kind]
	}
	d.addCall(c, p)
}

// sealed makes an item a message whose bytes stay as they are.
func (d *itemDecoder) sealed(it *item, m *compact.Message, k *mark) {
	whole := d.elements[d.holder].whole
	for i := int(d.holder) + 1; i < len(d.elements); i++ {
		d.elements[i].stays = withMessage
	}
	d.parts, d.ofParts = d.parts[:k.parts.from], d.ofParts[:k.parts.from]
	k.content = span{}
	p := compact.Part{Kind: compact.KindOther, Text: compact.Plain(d.view(int(whole.start), int(whole.end)))}
	switch {
	case it.pic.kind == '"':
		p.Kind, p.Text = compact.KindImage, d.textOf(it.pic)
	case it.kind == "computer_call_output":
		p.Kind = compact.KindImage
	}
	m.Shape, m.Holds, m.Reasoning = compact.Array, true, compact.Text{}
	m.Seal = compact.SealText | compact.SealArguments
	d.addPart(p, place{element: d.holder})
}

// join makes the message that was read last a part of the turn before it, if it goes
// on: reasoning, then text, then calls.
func (d *itemDecoder) join(it *item) {
	n := len(d.msgs) - 1
	if n == 0 || d.msgs[n].Role != compact.Assistant || !d.states[n-1].turn {
		return
	}
	m, k, s := &d.msgs[n], &d.marks[n], &d.states[n]
	before, at, state := &d.msgs[n-1], &d.marks[n-1], &d.states[n-1]
	call := len(d.calls) > int(k.calls.from)
	if state.said && !call || state.async != s.async && state.said {
		return
	}
	thoughts := state.thoughts
	switch {
	case m.Reasoning.Len() == 0:
	case before.Reasoning.Len() == 0:
		before.Reasoning = m.Reasoning
	default:
		if thoughts == nil {
			thoughts = []string{before.Reasoning.String()}
		}
		thoughts = append(thoughts, m.Reasoning.String())
	}
	if s.text || !s.turn {
		before.Shape, at.content = m.Shape, k.content
	}
	if before.Shape == compact.Absent {
		before.Shape = m.Shape
	}
	before.Seal |= m.Seal
	before.Holds = before.Holds || m.Holds
	for i := k.calls.from; i < k.calls.to; i++ {
		d.calls[i].Nth += at.calls.to - at.calls.from
	}
	at.elements.to, at.parts.to, at.calls.to = k.elements.to, k.parts.to, k.calls.to
	*state = itemState{turn: s.turn, said: state.said || s.said, text: state.text || s.text, async: s.async, thoughts: thoughts}
	d.msgs, d.marks, d.states = d.msgs[:n], d.marks[:n], d.states[:n]
}
