package policy

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"laconic/compact"
)

// layered is CompactionEngine of falai: above a share of the budget four layers
// run in order, the cheap ones first, each whole, until the request is within
// that share again. The last messages are never touched.
type layered struct {
	Threshold float64 `json:"threshold" min:"0.5" max:"0.95" unit:"of the budget" says:"compaction starts above this share, and stops at it"`
	Keep      int     `json:"keep" min:"2" unit:"messages" says:"the last messages stay, and pairs leave together"`
	MaxChars  int     `json:"max_chars" min:"1" unit:"characters" says:"longer old tool results keep so much of their head"`
	Summarize bool    `json:"summarize" says:"the older messages leave for one text, before the oldest would be dropped; true where a summarizer is configured"`
}

// layeredSummaryTokens is the size of the summaries that falai asks for.
const layeredSummaryTokens = 1024

func (o layered) policy() *compact.Policy {
	ladder := []compact.Stage{rung{"tool_result_budget", o.trimHeads}, rung{"micro_compact", o.collapseSpace}}
	if o.Summarize {
		ladder = append(ladder, &summarize{
			name: "auto_compact", label: "[Conversation Summary]", keep: o.Keep, size: layeredSummaryTokens, above: o.Threshold,
		})
	}
	return &compact.Policy{
		Trigger: o.Threshold, PerRequest: &compact.PerRequest{FullLadder: true},
		// Four characters to the token, four tokens more for a message.
		Counter: compact.Estimator{PerToken: 4, PerMessage: 4, Characters: true}, Placement: compact.PlaceSystem,
		KeepRecent: compact.KeepRecent{Messages: o.Keep},
		Ladder: append(ladder, rung{"drop_oldest", func(d *compact.Draft) { // falai's fallback without a summary
			dropBefore(d, lastFrom(d, o.Keep), "oldest message", o.done)
		}}),
	}
}

// fits reports whether the request is within a share of its budget.
func fits(d *compact.Draft, share float64) bool {
	return float64(d.Total()) <= share*float64(d.Budget())
}

// done reports whether the request needs no further layer.
func (o layered) done(d *compact.Draft) bool { return fits(d, o.Threshold) && d.OverMessages() == 0 }

// trimHeads cuts long old tool results to their head, with falai's notice.
func (o layered) trimHeads(d *compact.Draft) {
	if o.done(d) {
		return
	}
	for ref, part := range d.Results() {
		if text, ok := trimmed(part.Text, o.MaxChars); ok {
			d.Rewrite(ref, text, "long old tool result")
		}
	}
}

// collapseSpace turns every run of white space in old tool results into one
// space.
func (o layered) collapseSpace(d *compact.Draft) {
	if o.done(d) {
		return
	}
	for ref, part := range d.Results() {
		d.Rewrite(ref, strings.Join(strings.Fields(part.Text.String()), " "), "white space")
	}
}

// trimmed returns the first most characters of a longer text, with falai's notice.
func trimmed(text compact.Text, most int) (string, bool) {
	s := text.String()
	chars := utf8.RuneCountInString(s)
	if chars <= most || isTruncated(s) {
		return "", false
	}
	return string([]rune(s)[:most]) + truncated(chars, most), true
}

// truncated returns falai's notice after the head of a result.
func truncated(total, shown int) string {
	return fmt.Sprintf("\n\n[Truncated: %d chars total, showing first %d]", total, shown)
}

// isTruncated reports whether a text ends in that notice and is as long as the
// notice says, whether or not its white space was collapsed.
func isTruncated(text string) bool {
	at := max(0, strings.LastIndex(text, "[Truncated: "))
	var total, shown int
	_, _ = fmt.Sscanf(text[at:], "[Truncated: %d chars total, showing first %d]", &total, &shown) // else none is shown of none
	return strings.HasSuffix(truncated(total, shown), text[at:]) && shown < total && utf8.RuneCountInString(text[:at]) <= shown+2
}

// TrimResults returns the messages with the texts of tool results cut to their first
// most characters, as applyToolResultBudget of falai does, and how many results were
// cut. It never changes msgs, and does nothing on its own output.
func TrimResults(msgs []compact.Message, most int) (out []compact.Message, cut int) {
	out = slices.Clone(msgs)
	for i := range out {
		m, long := &out[i], false
		if !m.Role.Result() {
			continue
		}
		parts := slices.Clone(m.Parts)
		for n := range parts {
			if parts[n].Kind != compact.KindText {
				continue
			}
			if text, ok := trimmed(parts[n].Text, most); ok {
				parts[n].Text, long = compact.Plain(text), true
			}
		}
		if long {
			m.Parts, m.Edited = parts, true
			cut++
		}
	}
	return out, cut
}
