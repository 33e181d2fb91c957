package summarize

import (
	"time"

	"laconic/proxy/summarize/prompt"
)

// The outcomes of a slot.
const (
	Hit    = "hit"    // all its spans that are large enough have a summary
	Made   = "made"   // the same, and the request waited for one
	Digest = "digest" // a program wrote the text of one of these, or all
	None   = "none"   // it has no text
)

// Info says what became of the slot of one request.
type Info struct {
	Outcome string
	// Spans is the number of its spans, Digests how many of them have no summary.
	Spans, Digests int
	// Reason says in a word why the newest of these that is large enough has none:
	// preparing, waited, cooling, busy, or what was wrong with the model or its
	// answer.
	Reason string
	Model  string
	// Duration is how long the request waited.
	Duration time.Duration
}

// JobInfo says how one attempt at a summary ended.
type JobInfo struct {
	ID    string // of the request that began it
	Model string
	// Reason says in a word why there is no summary, "" if there is one;
	// elsewhere: another process makes it.
	Reason string
	// Made: the model was asked, or else the summary was stored already.
	// Updated: it was asked for what came since an earlier summary. Unstored:
	// the store did not take the summary.
	Made, Updated, Unstored bool
	Messages                int // that it stands for
	SourceTokens            int // that were sent, about
	Pieces, Tries           int
	Duration                time.Duration
}

// ErasedInfo says what was erased because another process that shares the store was
// asked to erase an owner's.
type ErasedInfo struct {
	// Remembered is how many texts this process remembered, Stored how many summaries
	// the store had that came to it since the other process looked.
	Remembered, Stored int
	// Failed: the store failed, and some may be left.
	Failed bool
}

// ModelFailed reports whether the model is why there is no summary, and not what
// it was asked, nor what happened here.
func (i *JobInfo) ModelFailed() bool {
	switch prompt.Refused(i.Reason) {
	case "", "memory", "elsewhere", "shutdown", erased,
		prompt.Empty, prompt.Short, prompt.Longer, prompt.TooLarge, prompt.CalledTool, prompt.CutOff, prompt.Unfinished, prompt.NoText,
		// The answers of a filter of contents, or of a window that is smaller than
		// was thought.
		"status_400", "status_413", "status_422":
		return false
	}
	return i.Tries > 0
}
