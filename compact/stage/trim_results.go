package stage

import (
	"fmt"
	"slices"

	"laconic/compact"
)

// trimResults keeps head and tail of long old tool results, with a notice of the
// original size. Later turns come back to what a command printed first and last.
type trimResults struct {
	// MaxChars is how many characters of a result stay.
	MaxChars int `json:"max_chars" check:"min=1"`
}

// headShare is how much of a text that is cut is from its start.
const headShare = 0.6

func (s *trimResults) Name() string { return "trim_results" }

func (s *trimResults) Shrink(d *compact.Draft) {
	head := int(headShare * float64(s.MaxChars))
	for ref, part := range d.Results() {
		if d.Over() == 0 {
			return
		}
		if part.Text.Len() <= s.MaxChars {
			continue
		}
		text := part.Text.String()
		if c := clipOf(text).keep(head, s.MaxChars-head); !c.whole() {
			d.Rewrite(ref, c.String(), "long old tool result")
		}
	}
}

// TrimResults returns msgs with every tool result of more than maxChars
// characters cut to about that length: a head (this share of it) and a tail, with
// a notice of the original size between them, which counts extra. A result that
// was cut before is cut again only if its rest is too long. TrimResults knows no
// budget and no recent messages. It returns msgs itself if no result is too long,
// and never changes msgs. It panics if maxChars is below 1 or head is not in
// [0, 1].
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

// trimmedParts returns the parts of a tool result with long texts cut, and
// reports whether any was. A cut that does not shorten is not made.
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
