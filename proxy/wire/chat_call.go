package wire

import "laconic/compact"

// toolCalls reads the calls of a message, whose key is at start.
func (d *decoder) toolCalls(m *compact.Message, start int) {
	e := d.open(start, d.holder, withPieces)
	before := len(d.calls)
	switch d.peek() {
	case '[':
		for a := (array{}); d.element(&a); {
			d.call(e)
		}
	case 'n':
		d.read()
	default:
		d.wrong("tool_calls is not an array")
	}
	if m.Flawed = len(d.calls) == before; m.Flawed {
		d.elements[e].stays = withFlaw
	}
	d.close(e)
}

// call reads one element of tool_calls.
func (d *decoder) call(in int32) {
	if d.peek() != '{' {
		d.wrong("a call is not an object")
		return
	}
	var c compact.Call
	p := place{element: d.open(d.at, in, withPieces)}
	var kind string
	var function, custom pair
	for o := (object{}); d.key(&o, callKeys); {
		switch o.name {
		case "function":
			function = d.pair("arguments", "function")
		case "custom":
			custom = d.pair("input", "custom")
		case "id":
			v := d.read()
			c.ID, p.id = d.str(v), v.extent
		case "type":
			kind = d.str(d.read())
		case "extra_content":
			c.Sealed = c.Sealed || !d.blank(d.read())
		case "provider_specific_fields":
			c.Sealed = c.Sealed || d.signed(d.read())
		}
	}
	d.close(p.element)
	said := function
	if kind == "custom" {
		c.Custom, said = true, custom
	}
	d.add(c, p, said)
}

// add adds a call that says a name and arguments.
func (d *decoder) add(c compact.Call, p place, said pair) {
	c.Name, c.Arguments, p.text = d.str(said.name), d.textOf(said.arguments), said.arguments.extent
	if kind := said.arguments.kind; kind == '{' || kind == '[' {
		// Ollama's own clients send arguments as an object: the model reads its JSON.
		c.Arguments = compact.Plain(lent(d.raw(p.text)))
	}
	d.addCall(c, p)
}

// pair is what a call says.
type pair struct{ name, arguments value }

// pair reads an object with a name, and arguments under a key. null is as good as
// absent.
func (d *decoder) pair(arguments, what string) (p pair) {
	switch d.peek() {
	case '{':
	case 'n':
		return p
	default:
		d.wrong(what + " is not an object")
		return p
	}
	for o := (object{}); d.key(&o, pairKeys); {
		switch o.name {
		case "name":
			p.name = d.read()
		case arguments:
			p.arguments = d.read()
		}
	}
	return p
}
