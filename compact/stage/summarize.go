package stage

import (
	"laconic/compact"
	"laconic/compact/digest"
)

// summarize replaces the older exchanges by a slot: one text, a digest or a
// summary by a model, that says what was in them.
type summarize struct {
	// MaxTokens is the largest size of the slot, which its last part may pass by a tenth.
	MaxTokens int `json:"max_tokens" min:"64"`
}

func (s *summarize) Name() string { return "summarize" }

// The largest share of the budget, and of the room, that a slot takes. In a smallRoom it is less, where
// every message counts: service conversations lose four points of verbatim recall
// otherwise. A slot that would be smaller than smallSlot may take more, because it
// would say nothing.
const (
	budgetShare    = 0.45
	slotShare      = 0.60
	smallRoom      = 4096 // tokens
	smallRoomShare = 0.45
	smallSlot      = 96 // tokens
	smallSlotShare = 0.7
)

func (s *summarize) Shrink(d *compact.Draft) {
	room, most := float64(d.Headroom()), slotShare
	if room < smallRoom {
		most = smallRoomShare
	}
	most = max(most*room, min(smallSlot, smallSlotShare*room))
	size := min(float64(s.MaxTokens), budgetShare*float64(d.Budget()), most)
	d.Summarize(s, int(size), "older exchanges")
}

// Record returns a record that is written without a model.
func (s *summarize) Record(c compact.Counter, left func() bool) compact.Recorder {
	return digest.NewRecord(c).Until(left)
}
