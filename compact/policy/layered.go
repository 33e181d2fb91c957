package policy

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"laconic/compact"
	"laconic/compact/stage"
)

// layeredPolicy is falai's CompactionEngine: at a share of the budget four
// layers are tried in order, the cheap ones first, each whole, until the
// request is within that share again. The last messages are never touched.
type layeredPolicy struct {
	Threshold float64 `json:"threshold" check:"min=0.5,max=0.95" unit:"of the budget" says:"compaction starts above this share, and stops at it"`
	Keep      int     `json:"keep" check:"min=2" unit:"messages" says:"the last messages are never touched, and none leaves without its pair"`
	MaxChars  int     `json:"max_chars" check:"min=1" unit:"characters" says:"longer old tool results keep so much of their head"`
	Summarize bool    `json:"summarize" says:"the older messages leave for one text, before the oldest would be dropped; true where a summarizer is configured"`
}

// fits reports whether the request does not exceed the threshold.
func (o *layeredPolicy) fits(d *compact.Draft, total int) bool {
	return float64(total) <= o.Threshold*float64(d.Budget())
}

// falai asks for summaries of at most so many tokens.
const layeredSummaryTokens = 1024

var layeredDefaults = layeredPolicy{Threshold: 0.8, Keep: 10, MaxChars: 5000}

func newLayeredPolicy(raw []byte) (*compact.Policy, error) {
	o := layeredDefaults
	if err := stage.ReadOptions("layered", &o, raw); err != nil {
		return nil, err
	}
	// Four characters to the token, four tokens more for a message.
	c := compact.Estimator{PerToken: 4, PerMessage: 4, Characters: true}
	ladder := []compact.Stage{resultBudget{&o}, microCompact{&o}}
	if o.Summarize {
		ladder = append(ladder, &spanSummary{
			name: "auto_compact", label: "[Conversation Summary]", keep: o.Keep, size: layeredSummaryTokens, counter: c,
			needed: func(d *compact.Draft) bool { return !o.fits(d, total(d)) },
		})
	}
	return &compact.Policy{
		Name: "layered", Once: true, Trigger: o.Threshold, Land: landNowhere,
		Counter: c, Placement: compact.PlaceSystem,
		KeepRecent: compact.KeepRecent{Messages: o.Keep},
		Ladder:     append(ladder, truncation{&o, c}),
	}, nil
}

// resultBudget cuts long old tool results to their head, with falai's notice.
type resultBudget struct{ o *layeredPolicy }

func (resultBudget) Name() string { return "tool_result_budget" }

func (s resultBudget) Shrink(d *compact.Draft) {
	if s.o.fits(d, total(d)) && d.Crowded() == 0 {
		return
	}
	for ref, part := range d.Results() {
		if part.Text.Len() <= s.o.MaxChars {
			continue
		}
		text := part.Text.String()
		if chars := utf8.RuneCountInString(text); chars > s.o.MaxChars && !isTruncated(text) {
			head := string([]rune(text)[:s.o.MaxChars])
			d.Rewrite(ref, head+truncated(chars, s.o.MaxChars), "long old tool result")
		}
	}
}

// truncated is falai's notice behind the head of a result.
func truncated(total, shown int) string {
	return fmt.Sprintf("\n\n[Truncated: %d chars total, showing first %d]", total, shown)
}

// isTruncated tells whether a text ends in that notice and is as long as it
// says, white space collapsed or not.
func isTruncated(text string) bool {
	at := strings.LastIndex(text, "[Truncated: ")
	if at < 0 {
		return false
	}
	var total, shown int
	if n, _ := fmt.Sscanf(text[at:], "[Truncated: %d chars total, showing first %d]", &total, &shown); n != 2 {
		return false
	}
	return strings.HasSuffix(truncated(total, shown), text[at:]) && shown < total && utf8.RuneCountInString(text[:at]) <= shown+2
}

// microCompact makes one blank of every run of white space in old tool results.
type microCompact struct{ o *layeredPolicy }

func (microCompact) Name() string { return "micro_compact" }

func (s microCompact) Shrink(d *compact.Draft) {
	if s.o.fits(d, total(d)) && d.Crowded() == 0 {
		return
	}
	for ref, part := range d.Results() {
		d.Rewrite(ref, strings.Join(strings.Fields(part.Text.String()), " "), "white space")
	}
}

// truncation drops the oldest messages until the request is within the
// threshold: what falai falls back to where there is no summary.
type truncation struct {
	o       *layeredPolicy
	counter compact.Counter
}

func (truncation) Name() string { return "drop_oldest" }

func (s truncation) Shrink(d *compact.Draft) {
	left, recent := total(d), lastFrom(d, s.o.Keep)
	for i := 0; i < recent && (!s.o.fits(d, left) || d.Crowded() > 0); {
		start, end := d.Exchange(i)
		if cost := costOf(d, s.counter, start, end); d.Leave(start, "oldest message") {
			left -= cost
		}
		i = end
	}
}
