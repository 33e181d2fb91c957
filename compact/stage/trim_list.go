package stage

import (
	"fmt"
	"slices"

	"laconic/compact"
)

// TrimResults shortens every tool result of more than maxChars characters to
// about so many, a head (this share of them) and a tail, with a notice of the
// original size between them; head 1 keeps the head only. It knows no budget
// and no recent messages. A notice counts extra, and a result that carries one
// is not cut again unless what is left of it is still too long. It gives msgs
// itself where none is too long, else a new list; msgs is never changed. It
// panics where maxChars is below 1 or head outside 0 to 1.
func TrimResults(msgs []compact.Message, maxChars int, head float64) []compact.Message {
	if maxChars < 1 || !(head >= 0 && head <= 1) {
		panic(fmt.Sprintf("stage.TrimResults: %d characters, %v of them from the head", maxChars, head))
	}
	first := int(head * float64(maxChars))
	out, own := msgs, false
	for i := range msgs {
		parts, cut := trimmedParts(&msgs[i], first, maxChars-first)
		if !cut {
			continue
		}
		if !own {
			out, own = slices.Clone(msgs), true
		}
		out[i].Parts, out[i].Edited = parts, true
	}
	return out
}

// trimmedParts are the parts of a tool result, the long texts among them cut,
// and whether there were any. A cut that does not shorten is not made.
func trimmedParts(m *compact.Message, head, tail int) (parts []compact.Part, cut bool) {
	if !m.Role.Result() {
		return m.Parts, false
	}
	parts = slices.Clone(m.Parts)
	for p := range parts {
		if parts[p].Kind != compact.KindText || parts[p].Text.Len() <= head+tail {
			continue
		}
		text := parts[p].Text.String()
		if short := clipOf(text).keep(head, tail).String(); len(short) < len(text) {
			parts[p].Text, cut = compact.Plain(short), true
		}
	}
	return parts, cut
}
