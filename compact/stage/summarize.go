package stage

import (
	"laconic/compact"
	"laconic/compact/digest"
)

// summarize replaces the older exchanges by a slot: one text, the digest or a
// summary by a model, that says what was in them.
type summarize struct {
	// MaxTokens is the size of the slot at most.
	MaxTokens int `json:"max_tokens" check:"min=64"`
	// Share is the size of the slot at most, as a part of the budget.
	Share float64 `json:"share" check:"above=0,max=0.5"`
}

func newSummarize(raw []byte) (compact.Stage, error) {
	return options(&summarize{MaxTokens: 8192, Share: 0.32}, raw)
}

func (s *summarize) Name() string { return "summarize" }

// What a slot takes of the room at most: more of a small one, where a smaller
// slot would say nothing.
const (
	slotRoom     = 0.4
	slotSmall    = 96  // tokens,
	slotSmallest = 0.7 // or this much of the room
)

func (s *summarize) Shrink(d *compact.Draft) {
	room := float64(d.Headroom())
	most := max(slotRoom*room, min(slotSmall, slotSmallest*room))
	size := min(float64(s.MaxTokens), s.Share*float64(d.Budget()), most)
	d.Summarize(s, int(size), "older exchanges")
}

func (s *summarize) Digest(lost, kept []compact.Message, size int, c compact.Counter) string {
	return digest.Of(lost, kept, size, c)
}
