package stage

import (
	"laconic/compact"
)

// elide replaces old texts by a marker that says how much stood there, and of a
// result what it was and how it began. Calls, ids and arguments stay, so the
// model still sees what was done, in order.
type elide struct {
	// MinBytes: shorter texts stay as they are.
	MinBytes int `json:"min_bytes" check:"min=0"`

	name, of string
	bare     bool // markers tell the size alone
}

func newElideResults(raw []byte) (compact.Stage, error) {
	return options(&elide{MinBytes: 256, name: "elide_results", of: ofResult}, raw)
}

func newElideProse(raw []byte) (compact.Stage, error) {
	return options(&elide{MinBytes: 256, name: "elide_prose", of: ofProse}, raw)
}

// BareElision returns the two stages that elide with markers that tell the size
// alone: of old results, then of old prose.
func BareElision(minBytes int) []compact.Stage {
	return []compact.Stage{
		&elide{MinBytes: minBytes, name: "elide_results", of: ofResult, bare: true},
		&elide{MinBytes: minBytes, name: "elide_prose", of: ofProse, bare: true},
	}
}

func (s *elide) Name() string { return s.name }

func (s *elide) Shrink(d *compact.Draft) {
	texts, why := d.Results(), "old tool result"
	if s.of == ofProse {
		texts, why = d.Prose(), "old assistant text"
	}
	for ref, part := range texts {
		if d.Over() == 0 {
			return
		}
		if part.Text.Len() < s.MinBytes {
			continue
		}
		text := part.Text.String()
		if isElided(text) {
			continue
		}
		if !s.bare && s.of == ofResult && d.Rewrite(ref, elidedResult(text, d.CallOf(ref.Message)), why) {
			continue
		}
		d.Rewrite(ref, elided(clipOf(text).size, s.of), why)
	}
}
