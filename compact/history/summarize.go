package history

import (
	"cmp"
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

// ErrNoSummary is what Report.SummaryFailed wraps, beside the reason.
var ErrNoSummary = errors.New("history: no summary")

// A Report is the report of a compaction, and of its summary.
type Report struct {
	compact.Report
	// Summary is the summaries in the list, oldest first, or "".
	Summary string
	// SummaryFailed says why a text of the Summarizer was not used; nil: all were, or
	// none was asked for. The policy's digest is used instead, if the policy makes
	// one.
	SummaryFailed error
	// MessagesCompacted is how many messages of the list left or were shortened.
	MessagesCompacted int
}

// counterFor returns c or its default under p.
func counterFor(p *compact.Policy, c compact.Counter) compact.Counter {
	return cmp.Or[compact.Counter](c, p.Counter, compact.BytesPerToken(3.5))
}

// leastSummary is the length, in characters, below which a text is an excuse
// rather than a summary.
const leastSummary = 40

// Summarize compacts a list and lets summarize write the text for what leaves. The
// list that it returns is always legal, and empty only if the input was. The default
// of c is the policy's own counter, or else BytesPerToken(3.5).
//
// What left at once has a text of its own, so summarize is called once for each
// span of the slot, if there is a slot to fill, and once more if its first text
// cannot be used: an error, less than 40 characters, no shorter than its source, or
// above the span's size. After a second failure, or once ctx is done, the span has
// the policy's digest, and Report.SummaryFailed says why the first one has.
func Summarize(ctx context.Context, in compact.Conversation, p *compact.Policy, c compact.Counter, b compact.Budget, summarize Summarizer) ([]compact.Message, Report) {
	c = counterFor(p, c)
	plan, r := compact.Compact(in, p, c, b)
	compacted := make(map[int]bool)
	for _, e := range plan.Edits {
		for i := e.At; e.Epoch > 0 && i < e.At+e.Messages(); i++ {
			compacted[i] = true
		}
	}
	s := Report{Report: r, MessagesCompacted: len(compacted)}
	if plan.Slot == nil || summarize == nil {
		return plan.Apply(), s
	}
	c = cmp.Or(p.Counter, c)
	texts := make([]string, len(plan.Slot.Spans))
	for i, span := range removed(&plan, in) {
		if len(span) == 0 {
			continue // whatever it stood for came back
		}
		var err error
		if texts[i], err = summaryOf(ctx, span, plan.Slot, i, c, summarize); err != nil && s.SummaryFailed == nil {
			s.SummaryFailed = fmt.Errorf("%w: %w", ErrNoSummary, err)
		}
		if ctx.Err() != nil {
			break
		}
	}
	s.Summary = strings.Join(texts, "")
	return plan.Apply(texts...), s
}

// summaryOf calls summarize at most twice for a text that span i of a slot can take.
func summaryOf(ctx context.Context, span []compact.Message, slot *compact.Slot, i int, c compact.Counter, summarize Summarizer) (text string, err error) {
	source, size := compact.CostAll(c, span), slot.Spans[i].Size
	for range 2 {
		text, err = summarize(ctx, span)
		short := utf8.RuneCountInString(strings.TrimSpace(text)) < leastSummary
		text = compact.SummaryText(slot.Label, strings.TrimSpace(text), len(span))
		switch n := compact.CostText(c, text); {
		case ctx.Err() != nil:
			return "", ctx.Err()
		case err != nil:
		case short:
			err = errors.New("the summary is too short to be one")
		case n > size:
			err = fmt.Errorf("the summary costs %d tokens, its span has %d", n, size)
		case n >= source:
			err = fmt.Errorf("the summary costs %d tokens, what it stands for %d", n, source)
		default:
			return text, nil
		}
	}
	return "", err
}

// removed returns the messages that leave by a plan with a slot, as they came, for
// each span of the slot. The newest has those too that left behind it, because a
// history is not folded again from its beginning.
func removed(p *compact.Plan, in compact.Conversation) [][]compact.Message {
	msgs, _ := compact.Repair(in.Messages, p.Repair)
	spans := make([][]compact.Message, len(p.Slot.Spans))
	for _, e := range p.Edits {
		if e.Op != compact.OpRemove {
			continue
		}
		for i := max(0, e.At); i < min(e.End, len(msgs)); i++ {
			n := 0
			for n+1 < len(spans) && i >= p.Slot.Spans[n+1].From {
				n++
			}
			spans[n] = append(spans[n], msgs[i])
		}
	}
	return spans
}
