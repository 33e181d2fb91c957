package wire

import "laconic/compact"

// itemState says of a message what its items are.
type itemState struct {
	turn  bool   // reasoning, text and calls of the model, which may go on
	said  bool   // it has text or calls
	kind  string // of an output: its type
	async bool   // an output may come in a later request, or none can be made up

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
	kind                  string
	roleOf                value
	id, callID, name      value
	arguments, input, pic value
	async, failed         bool
}

// item reads one element of input: a message of its own, or a piece of the turn before
// it.
func (d *itemDecoder) item() {
	d.states = append(d.states, itemState{})
	if !d.start() {
		return
	}
	m, k := d.newest()
	it := item{kind: d.ahead(d.at, "type")}
	if it.kind == "" && d.ahead(d.at, "role") != "" {
		it.kind = "message"
	}
	for o := (object{}); d.key(&o, itemKeys); {
		switch o.name {
		case "content", "output":
			switch {
			case it.kind == "message" || outputs[it.kind]:
				d.content(m, k)
			case it.kind == "reasoning":
				d.itemThoughts(m)
			}
		case "summary":
			d.itemThoughts(m)
		case "role":
			it.roleOf = d.read()
		case "call_id":
			it.callID = d.read()
		case "id":
			it.id = d.read()
			id := d.str(it.id)
			if d.ids[id] && it.ownsID() {
				m.Flawed = true // an earlier item has it: it is to leave
				d.close(d.open(o.start, d.holder, withFlaw))
			}
			d.ids[id] = id != ""
		case "name":
			it.name = d.read()
		case "arguments":
			it.arguments = d.read()
		case "input":
			it.input = d.read()
		case "result":
			it.pic = d.read()
		case "async":
			it.async = d.peek() == 't'
		case "status":
			it.failed = d.str(d.read()) == "failed"
		}
	}
	d.close(d.holder)
	if d.err == nil {
		d.place(&it, m, k)
	}
}

// named are the other types whose id is their own.
var named = map[string]bool{
	"message": true, "reasoning": true, "compaction": true, "compaction_trigger": true, "additional_tools": true, "configuration_update": true,
	"program": true, "program_output": true, "tool_search_call": true, "tool_search_output": true,
	"mcp_list_tools": true, "mcp_approval_request": true, "mcp_approval_response": true,
}

// ownsID reports whether the id of an item is known to be its own and no reference: an
// item of an unknown type never changes, and local_shell_call_output has that of its call.
func (it *item) ownsID() bool {
	_, output := outputs[it.kind]
	return output && it.kind != "local_shell_call_output" || answers[it.kind] != "" || alones[it.kind] || named[it.kind]
}

// itemThoughts reads a text or a list of blocks that hold some reasoning.
func (d *itemDecoder) itemThoughts(m *compact.Message) {
	d.said = d.said[:0]
	d.thoughts(false)
	d.thought(m)
}

// place decides what an item that was read is.
func (d *itemDecoder) place(it *item, m *compact.Message, k *mark) {
	s := &d.states[len(d.states)-1]
	_, output := outputs[it.kind]
	output = output && it.callID.kind != 'n' // the API knows outputs of no call
	d.Trigger = it.kind == "compaction_trigger"
	switch {
	case it.kind == "message":
		if d.role(m, it.roleOf); m.Role == compact.Tool {
			d.inMessage(RoleUnknown, int(it.roleOf.start))
		}
		if m.Role == compact.Assistant {
			*s = itemState{turn: true, said: true}
			if len(d.parts) > int(k.parts.from) {
				d.elements[d.holder].stays = withPieces
			}
		}
	case it.kind == "reasoning":
		m.Role, m.Seal, s.turn = compact.Assistant, compact.SealText, true
	case answers[it.kind] != "":
		m.Role, m.Shape, *s = compact.Assistant, compact.Null, itemState{turn: true, said: true, async: it.async || it.kind == "computer_call"}
		d.itemCall(it)
	case output:
		m.Role, m.Failed, s.kind = compact.Tool, it.failed, it.kind
		id := it.callID
		if it.kind == "local_shell_call_output" && !id.present() {
			id = it.id
		}
		m.Answers, k.answers = d.str(id), id.extent
		if it.kind == "computer_call_output" {
			d.sealed(it, m, k)
		}
	case it.kind == "" && it.id.present():
		d.there = true // a reference, whose type may be left out
	case it.kind == "":
		d.inMessage(RoleMissing, int(d.elements[d.holder].whole.start))
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
	d.join()
}

// itemCall adds the call that an item is. A call of a kind that is not known well never
// changes.
func (d *itemDecoder) itemCall(it *item) {
	c := compact.Call{ID: d.str(it.callID), Name: d.str(it.name)}
	p := place{element: d.holder, id: it.callID.extent}
	d.elements[d.holder].stays = withPieces
	switch it.kind {
	case "function_call":
		c.Arguments, p.text = d.textOf(it.arguments), it.arguments.extent
	case "custom_tool_call":
		c.Custom, c.Arguments, p.text = true, d.textOf(it.input), it.input.extent
	default:
		c.Name, c.Sealed = it.kind, true
		c.Arguments = compact.Plain(lent(d.raw(d.elements[d.holder].whole)))
	}
	d.callers = append(d.callers, it.kind)
	d.addCall(c, p)
}

// sealed makes an item a message whose bytes stay as they are.
func (d *itemDecoder) sealed(it *item, m *compact.Message, k *mark) {
	whole := d.elements[d.holder].whole
	for i := int(d.holder) + 1; i < len(d.elements); i++ {
		if d.elements[i].stays != withFlaw {
			d.elements[i].stays = withMessage
		}
	}
	d.parts, d.ofParts = d.parts[:k.parts.from], d.ofParts[:k.parts.from]
	k.content = extent{}
	p := compact.Part{Kind: compact.KindOther, Text: compact.Plain(lent(d.raw(whole)))}
	switch {
	case it.pic.kind == '"' && it.kind == "image_generation_call":
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
func (d *itemDecoder) join() {
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
	if s.said && !call {
		before.Shape, at.content = m.Shape, k.content
	}
	if before.Shape == compact.Absent {
		before.Shape = m.Shape
	}
	before.Seal |= m.Seal
	before.Holds, before.Flawed = before.Holds || m.Holds, before.Flawed || m.Flawed
	for i := k.calls.from; i < k.calls.to; i++ {
		d.calls[i].Nth += at.calls.to - at.calls.from
	}
	at.elements.to, at.parts.to, at.calls.to = k.elements.to, k.parts.to, k.calls.to
	*state = itemState{turn: s.turn, said: state.said || s.said, async: s.async, thoughts: thoughts}
	d.msgs, d.marks, d.states = d.msgs[:n], d.marks[:n], d.states[:n]
}
