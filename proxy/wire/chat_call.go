package wire

import "laconic/compact"

// toolCalls reads the calls of a message, whose key is at start.
func (d *decoder) toolCalls(m *compact.Message, start int) bool {
	e := d.open(start, d.holder, withPieces)
	switch d.peek() {
	case 'n':
		m.EmptyCalls = d.literal("null")
		d.elements[e].stays = withNoCalls
		d.close(e)
		return m.EmptyCalls
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
		if !d.call(e) {
			return false
		}
	}
	if m.EmptyCalls = len(d.calls) == before; m.EmptyCalls {
		d.elements[e].stays = withNoCalls
	}
	d.close(e)
	return d.err == nil
}

// call reads one element of tool_calls.
func (d *decoder) call(in int32) bool {
	if d.crowded() {
		return false
	}
	var c compact.Call
	p := place{element: d.open(d.at, in, withPieces)}
	var kind string
	var function, custom pair
	var o object
	for d.key(&o) {
		if !d.unambiguous(&o, callKeys) {
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
			c.ID, p.id = d.str(v), v.span
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
	d.close(p.element)
	said := function
	if kind == "custom" {
		c.Kind, said = compact.CallCustom, custom
	}
	d.add(c, p, said)
	return true
}

// legacyCall reads a function_call once more, for its content.
func (d *decoder) legacyCall(v value, p place) bool {
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
	d.elements[p.element].stays = withPieces
	d.add(compact.Call{ID: compact.ByName(d.str(said.first))}, p, said)
	return true
}

// add adds a call that says a name and arguments.
func (d *decoder) add(c compact.Call, p place, said pair) {
	c.Name, c.Arguments = d.str(said.first), d.textOf(said.second)
	p.text = said.second.span
	if kind := said.second.kind; kind == '{' || kind == '[' {
		// Ollama's own clients send arguments as an object: the model reads its JSON.
		c.Arguments = compact.Plain(d.view(int(p.text.start), int(p.text.end)))
	}
	d.addCall(c, p)
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
		if !d.unambiguous(&o, pairKeys) {
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
