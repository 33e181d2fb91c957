package stage

import (
	"laconic/compact"
)

// trimResults keeps head and tail of long old tool results, with a notice of
// the original size: what a command printed first and last is what later turns
// come back to.
type trimResults struct {
	// MaxChars is how many characters of a result stay; longer ones are cut.
	MaxChars int `json:"max_chars" check:"min=1"`
	// Head is the share of them taken from the start; 1 keeps the head only.
	Head float64 `json:"head" check:"min=0,max=1"`
}

func newTrimResults(raw []byte) (compact.Stage, error) {
	return options(&trimResults{MaxChars: 5000, Head: 0.6}, raw)
}

func (s *trimResults) Name() string { return "trim_results" }

func (s *trimResults) Shrink(d *compact.Draft) {
	head := int(s.Head * float64(s.MaxChars))
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
