package stage

import "laconic/compact"

// trimResults keeps head and tail of long old tool results, with a notice of the
// original size. Later turns come back to what a command printed first and last.
type trimResults struct {
	// MaxChars is how many characters of a result stay.
	MaxChars int `json:"max_chars" min:"1"`
}

// headShare is how much of a text that is cut is from its start.
const headShare = 0.6

func (s *trimResults) Name() string { return "trim_results" }

func (s *trimResults) Shrink(d *compact.Draft) {
	head := int(headShare * float64(s.MaxChars))
	for ref, part := range d.Results() {
		if part.Text.Len() <= s.MaxChars {
			continue
		}
		text := part.Text.String()
		if c := clipOf(text).keep(head, s.MaxChars-head); !c.whole() {
			d.Rewrite(ref, c.String(), "long old tool result")
		}
	}
}
