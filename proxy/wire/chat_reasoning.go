package wire

import (
	"strings"

	"laconic/compact"
)

// reasoning reads one of the fields that reasoning travels in: a text, or a
// list of blocks that hold some. Two of them may hold thinking that is bound to
// what comes before it: LiteLLM's thinking_blocks and OpenRouter's
// reasoning_details.
func (d *decoder) reasoning(m *compact.Message, o *object) {
	v := value{extent: extent{start: uint32(d.at)}, kind: d.peek()}
	d.said = d.said[:0]
	bound := d.thoughts(v.kind == '"')
	d.bound = d.bound || bound && (o.name == "thinking_blocks" || o.name == "reasoning_details")
	v.end = uint32(d.at)
	d.seals(o, v) // DeepSeek wants the key, with an empty string
	d.thought(m)
}

// seals notes a member of a message that its thinking travels in. All of them
// leave with what is bound: one model has written them.
func (d *decoder) seals(o *object, v value) {
	if d.blank(v) {
		return
	}
	d.thinks = true
	d.close(d.open(o.start, d.holder, withThinking))
}

// binds reports whether a block of thinking of some kind is bound to what comes before
// it: Anthropic's are, where they are signed or encrypted. OpenRouter names the format,
// if it is known; those of Google and OpenAI are bound to nothing.
func (d *decoder) binds(kind, format string, signature, data value) bool {
	claude := strings.HasPrefix(format, "anthropic-claude")
	if !claude && format != "" && format != "unknown" {
		return false
	}
	encrypted := claude || kind == "redacted_thinking"
	return !d.blank(signature) || encrypted && !d.blank(data)
}

// thoughts reads any value and collects the texts that a block of reasoning says.
// Encrypted reasoning is no text, and costs nothing that we know of. named: the value
// is in the place of such a text. It reports whether a block is bound to what comes
// before it.
func (d *decoder) thoughts(named bool) (bound bool) {
	switch d.peek() {
	case '"':
		if v := d.read(); named {
			d.said = append(d.said, v)
		}
	case '[':
		for a := (array{}); d.element(&a); {
			bound = d.thoughts(named) || bound
		}
	case '{':
		var kind, format, signature, data value
		for o := (object{}); d.key(&o, nil); {
			var to *value
			switch o.name {
			case "type":
				to = &kind
			case "format":
				to = &format
			case "signature":
				to = &signature
			case "data":
				to = &data
			}
			if to != nil && d.peek() == '"' {
				*to = d.read()
			} else {
				bound = d.thoughts(o.name == "text" || o.name == "thinking" || o.name == "summary") || bound
			}
		}
		bound = bound || d.binds(d.str(kind), d.str(format), signature, data)
	default:
		d.read()
	}
	return bound
}

// thought notes the reasoning that was collected. Servers and clients write it
// under several names, often under two at once, so the longest counts.
func (d *decoder) thought(m *compact.Message) {
	size := 0
	for _, v := range d.said {
		size += int(v.size)
	}
	if size <= m.Reasoning.Len() {
		return
	}
	if len(d.said) == 1 {
		m.Reasoning = d.textOf(d.said[0])
		return
	}
	var inside strings.Builder
	for _, v := range d.said {
		inside.WriteString(d.inside(v))
	}
	m.Reasoning = encoded(inside.String(), size)
}
