package runlog

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.uber.org/zap/buffer"
	"go.uber.org/zap/zapcore"
)

// consoleEncoder writes lines for a person: time, level and what happened, then
// name=value, the fields that matter most first.
type consoleEncoder struct {
	zapcore.Encoder
	brief bool // without notBrief
}

// firstShown are the fields that a line begins with, in this order.
var firstShown = []string{"outcome", "model", "tokens_before", "tokens_after", "budget", "status", "error", "error_detail", "ended", "duration"}

// notBrief are the fields that only programs, and lines at debug, need.
var notBrief = []string{
	"request_id", "route", "policy", "fixed", "bytes_before", "bytes_after", "overhead", "counted", "answer_bytes", "first_byte",
	"count_way", "count_percent", "learnt_bytes", "streamed", "done", "messages_before", "messages_after", "epochs",
}

func (e consoleEncoder) Clone() zapcore.Encoder { return consoleEncoder{e.Encoder.Clone(), e.brief} }

// EncodeEntry writes one line. Text that could be mistaken for something else is
// quoted.
func (e consoleEncoder) EncodeEntry(entry zapcore.Entry, fields []zapcore.Field) (*buffer.Buffer, error) {
	stack := entry.Stack
	entry.Stack = ""
	line, err := e.Encoder.EncodeEntry(entry, nil)
	if err != nil {
		return nil, err
	}
	line.TrimNewline()
	order := func(f zapcore.Field) int {
		if i := slices.Index(firstShown, f.Key); i >= 0 {
			return i
		}
		return len(firstShown)
	}
	fields = slices.Clone(fields)
	slices.SortStableFunc(fields, func(a, b zapcore.Field) int { return order(a) - order(b) })
	for _, f := range fields {
		if e.brief && slices.Contains(notBrief, f.Key) {
			continue
		}
		if f.Key == "stacktrace" {
			stack = f.String
			continue
		}
		values := zapcore.NewMapObjectEncoder()
		f.AddTo(values)
		line.AppendString(" " + f.Key + "=" + shownValue(values.Fields[f.Key]))
	}
	if stack != "" {
		line.AppendString("\n" + stack)
	}
	line.AppendString("\n")
	return line, nil
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
