package stage

import "laconic/compact"

// elideResults replaces old tool results by a marker that states the size, the
// call that produced the result, and the first line. Calls, ids and arguments
// stay, so the model still sees what was done, in order.
type elideResults struct {
	// MinBytes is the size below which a text stays as it is.
	MinBytes int  `json:"min_bytes" min:"0"`
	bare     bool // markers state the size alone
}

func (s *elideResults) Name() string { return "elide_results" }

func (s *elideResults) Shrink(d *compact.Draft) {
	for ref, part := range d.Results() {
		text, ok := elidable(part, s.MinBytes)
		if !ok || !s.bare && d.Rewrite(ref, elidedResult(text, d.CallOf(ref.Message)), "old tool result") {
			continue
		}
		d.Rewrite(ref, elided(clipOf(text).size, ofResult), "old tool result")
	}
}

// elideProse replaces old assistant text by a marker that states its size, and
// the call that is written in it.
type elideProse struct {
	// MinBytes is the size below which a text stays as it is.
	MinBytes int  `json:"min_bytes" min:"0"`
	bare     bool // markers state the size alone
}

func (s *elideProse) Name() string { return "elide_prose" }

func (s *elideProse) Shrink(d *compact.Draft) {
	for ref, part := range d.Prose() {
		text, ok := elidable(part, s.MinBytes)
		switch {
		case ok && s.bare:
			d.Rewrite(ref, elided(clipOf(text).size, ofProse), "old assistant text")
		case ok:
			d.Rewrite(ref, elidedProse(text), "old assistant text")
		}
	}
}

// elidable returns the text of a part, and reports whether it is large enough
// for a marker and is not one.
func elidable(part compact.Part, minBytes int) (text string, ok bool) {
	text = part.Text.String()
	return text, len(text) >= minBytes && !isElided(text)
}

// BareElision returns the two stages that elide old results, then old prose,
// with markers that state the size alone.
func BareElision(minBytes int) []compact.Stage {
	return []compact.Stage{&elideResults{MinBytes: minBytes, bare: true}, &elideProse{MinBytes: minBytes, bare: true}}
}
