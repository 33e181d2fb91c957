package history

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"laconic/compact"
)

// A Summarizer writes a text for the messages that leave a conversation: their
// main facts, in less room. It must not change the messages, and should return
// when ctx is done.
type Summarizer func(ctx context.Context, span []compact.Message) (string, error)

// A SummarizationError says why the text of a [Summarizer] was not used.
type SummarizationError struct{ Err error }

// Error returns the reason.
func (e *SummarizationError) Error() string { return "history: no summary: " + e.Err.Error() }

// Unwrap returns the reason.
func (e *SummarizationError) Unwrap() error { return e.Err }

// A Report is the report of a compaction, and of its summary.
type Report struct {
	compact.Report
	// SummaryFailed is a *SummarizationError if a Summarizer was called and
	// its text was not used, and nil otherwise. The policy's digest is used
	// instead, if the policy makes one.
	SummaryFailed error
}

// A Summary is the result of [Summarize].
type Summary struct {
	// Messages is the compacted list. It is always legal, and empty only if
	// the input was.
	Messages []compact.Message
	Report   Report
	// Text is the summary in the list, or "".
	Text string
}

// leastSummary is the length, in characters, below which a text is an excuse
// rather than a summary.
const leastSummary = 40

// Summarize compacts a list and lets summarize write the text for what leaves.
// The default of c is the policy's own counter, or else BytesPerToken(3.5).
//
// summarize is called only if there is a slot to fill, and once more if its
// first text cannot be used: an error, less than 40 characters, no shorter than
// its source, or above the slot's size. After a second failure, or once ctx is
// done, the result is that of p without a summarizer, and
// Report.SummaryFailed is set.
func Summarize(ctx context.Context, in compact.Conversation, p *compact.Policy, c compact.Counter, b compact.Budget, summarize Summarizer) Summary {
	c = counterFor(p, c)
	plan, r := compact.Compact(in, p, c, b)
	if p.Counter != nil {
		c = p.Counter
	}
	s := Summary{Report: Report{Report: r}}
	if plan.Slot != nil && summarize != nil {
		var err error
		if s.Text, err = summaryOf(ctx, removed(&plan, in), plan.Slot, c, summarize); err != nil {
			s.Report.SummaryFailed = &SummarizationError{err}
		}
	}
	s.Messages = plan.Apply(in, s.Text)
	return s
}

// summaryOf calls summarize at most twice for a text that the slot can take.
func summaryOf(ctx context.Context, span []compact.Message, slot *compact.Slot, c compact.Counter, summarize Summarizer) (text string, err error) {
	source := compact.CostAll(c, span)
	for range 2 {
		text, err = summarize(ctx, span)
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		if err != nil {
			continue
		}
		if text = strings.TrimSpace(text); utf8.RuneCountInString(text) < leastSummary {
			err = errors.New("the summary is too short to be one")
			continue
		}
		text = compact.SummaryText(slot.Label, text, len(span))
		switch n := compact.CostText(c, text); {
		case n > slot.Size:
			err = fmt.Errorf("the summary costs %d tokens, its slot has %d", n, slot.Size)
		case n >= source:
			err = fmt.Errorf("the summary costs %d tokens, what it stands for %d", n, source)
		default:
			return text, nil
		}
	}
	return "", err
}

// removed returns the messages that leave by the plan, as they came.
func removed(p *compact.Plan, in compact.Conversation) []compact.Message {
	msgs, _ := compact.Repair(in.Messages, p.Repair)
	var span []compact.Message
	for _, e := range p.Edits {
		if e.Op == compact.OpRemove {
			span = append(span, msgs[max(0, e.At):min(e.End, len(msgs))]...)
		}
	}
	return span
}
