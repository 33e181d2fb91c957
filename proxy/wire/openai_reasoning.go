package wire

import (
	"strings"

	"laconic/compact"
)

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
