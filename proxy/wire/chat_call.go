package wire

import "laconic/compact"

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
		if !d.call() {
			return false
		}
	}
	m.EmptyCalls = len(d.calls) == before
	return d.err == nil
}

// call reads one element of tool_calls.
func (d *decoder) call() bool {
	if d.crowded() {
		return false
	}
	var c compact.Call
	k := callMark{whole: span{start: uint32(d.at)}}
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
	c.Nth = uint32(len(d.calls)) - d.r.marks[len(d.r.marks)-1].firstCall + 1
	c.Name, c.Arguments = d.str(said.first), d.textOf(said.second)
	k.arguments = said.second.span
	if kind := said.second.kind; kind == '{' || kind == '[' {
		// Ollama's own clients send arguments as an object: the model reads its JSON.
		c.Arguments = compact.Plain(d.view(int(k.arguments.start), int(k.arguments.end)))
	}
	d.calls = append(grow(d.calls, d.at, len(d.src)), c)
	d.r.calls = append(grow(d.r.calls, d.at, len(d.src)), k)
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
