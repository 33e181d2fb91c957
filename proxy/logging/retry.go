package logging

import (
	"go.uber.org/zap"

	"laconic/proxy"
	"laconic/proxy/learn"
)

// appendLearnt writes the facts that a plan was made under, as far as any are
// known, and names those on which it depends.
func appendLearnt(f []zap.Field, l *learn.Facts, decisive []string) []zap.Field {
	for _, v := range []struct {
		name string
		n    int
	}{
		{"learnt_window", l.Window.Value},
		{"learnt_input", l.Input.Value},
		{"learnt_bytes", l.Bytes.Value},
		{"learnt_messages", l.Messages.Value},
		{"learnt_hard", l.Hard.Value},
	} {
		if v.n > 0 {
			f = append(f, zap.Int(v.name, v.n))
		}
	}
	f = appendText(f, "count_way", l.Count.Value.Way)
	if p := l.Percent(); p != 100 {
		f = append(f, zap.Int("count_percent", p))
	}
	if len(decisive) > 0 {
		f = append(f, zap.Strings("learnt_decisive", decisive))
	}
	if s := l.Shape.Value; s != 0 {
		f = append(f, zap.String("shape", s.String()))
	}
	return f
}

// appendRetry writes why the upstream refused a request, and what became of the
// second send.
func appendRetry(f []zap.Field, i *proxy.RetryInfo) []zap.Field {
	if i == nil {
		return f
	}
	f = append(f, zap.String("retry", i.Reason), zap.Bool("retry_sent", i.Sent))
	f = appendText(f, "retry_not_sent", i.Why)
	f = appendText(f, "template", i.Template)
	if !i.Answered {
		f = appendText(f, "hint", i.Hint)
	}
	if i.Sent {
		f = append(f, zap.Bool("retry_answered", i.Answered), zap.Int("retry_status", i.Status),
			zap.Int("tokens_first", i.First), zap.Int("tokens_second", i.Second))
	}
	if i.Shape == "" {
		return f
	}
	f = append(f, zap.String("refusal", i.Kind), zap.String("refusal_shape", i.Shape))
	for _, v := range []struct {
		name string
		n    int
	}{{"upstream_limit", i.Limit}, {"upstream_prompt_tokens", i.Prompt}, {"upstream_answer_tokens", i.Output}} {
		if v.n > 0 {
			f = append(f, zap.Int(v.name, v.n))
		}
	}
	return f
}
