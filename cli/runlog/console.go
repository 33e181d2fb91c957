package runlog

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/buffer"
	"go.uber.org/zap/zapcore"
)

// consoleEncoder writes lines for a person: time, level and what happened, then
// name=value. A few words say what happened to a request.
type consoleEncoder struct {
	zapcore.Encoder
	level zap.AtomicLevel
}

// shown are the fields that a line about a request has beside its words, above debug.
var shown = []string{"why", "error", "error_detail", "ended", "not_enough_history", "stages", "prompt_tokens", "completion_tokens", "cached_tokens"}

func (e consoleEncoder) Clone() zapcore.Encoder { return consoleEncoder{e.Encoder.Clone(), e.level} }

// EncodeEntry writes one line. Text that could be mistaken for something else is
// quoted.
func (e consoleEncoder) EncodeEntry(entry zapcore.Entry, fields []zapcore.Field) (*buffer.Buffer, error) {
	stack, values := "", zapcore.NewMapObjectEncoder()
	for _, f := range fields {
		f.AddTo(values)
	}
	words, said := requestWords(values.Fields)
	if words != "" {
		entry.Message = words
	}
	line, _ := e.Encoder.EncodeEntry(entry, nil) // it takes every entry
	line.TrimNewline()
	brief := words != "" && !e.level.Enabled(zapcore.DebugLevel)
	for _, f := range fields {
		if f.Key == "stacktrace" {
			stack = "\n" + f.String
			continue
		}
		if said[f.Key] || brief && !slices.Contains(shown, f.Key) {
			continue
		}
		line.AppendString(" " + f.Key + "=" + shownValue(values.Fields[f.Key]))
	}
	line.AppendString(stack + "\n")
	return line, nil
}

// requestWords returns what happened to a request, and the fields that the words say;
// "" for fields of anything else.
//
//	compacted gpt-4o 69985 → 5485 of 16000 tokens, 200 in 1.2s
//	GET /models passed (route), 200 in 14ms
func requestWords(v map[string]any) (words string, said map[string]bool) {
	took, timed := v["duration"].(time.Duration)
	if v["status"] == nil || !timed {
		return "", nil
	}
	said = map[string]bool{"status": true, "duration": true}
	var b strings.Builder
	add := func(before, key, after string) {
		if v[key] == nil {
			return
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(before + shownValue(v[key]) + after)
		said[key] = true
	}
	add("", "method", "")
	add("", "endpoint", "")
	add("", "outcome", "")
	add("(", "reason", ")")
	add("", "model", "")
	if before, after := v["tokens_before"], v["tokens_after"]; before != after {
		add("", "tokens_before", " →")
	} else {
		said["tokens_before"] = true
	}
	add("", "tokens_after", "")
	add("of ", "budget", " tokens")
	fmt.Fprintf(&b, ", %v in %v", v["status"], took.Round(time.Millisecond))
	return strings.TrimPrefix(b.String(), ", "), said
}

// shownValue returns a value as a person reads it; of the stages of a report only
// the names.
func shownValue(v any) string {
	text := fmt.Sprint(v)
	if list, ok := v.([]any); ok {
		var items []string
		for _, item := range list {
			if stage, ok := item.(map[string]any); ok {
				item = stage["stage"]
			}
			items = append(items, fmt.Sprint(item))
		}
		text = strings.Join(items, ",")
	}
	if quoted := strconv.Quote(text); quoted != `"`+text+`"` || text == "" || strings.ContainsAny(text, " =") {
		return quoted
	}
	return text
}
