package proxy

import "go.uber.org/zap"

// appendLearnt writes the facts that a plan was made under, as far as any are
// known.
func appendLearnt(f []zap.Field, l *Learnt) []zap.Field {
	for _, v := range []struct {
		name string
		n    int
	}{
		{"learnt_window", l.Window},
		{"learnt_input", l.Input},
		{"learnt_cap", l.Cap},
		{"learnt_bytes", l.Bytes},
		{"learnt_answer", l.Answer},
		{"learnt_messages", l.Messages},
		{"learnt_hard", l.Hard},
	} {
		if v.n > 0 {
			f = append(f, zap.Int(v.name, v.n))
		}
	}
	f = appendText(f, "count_way", l.Way)
	if p := l.percent(); p != 100 {
		f = append(f, zap.Int("count_percent", p))
	}
	if l.Shape != ShapeFull {
		f = append(f, zap.String("shape", l.Shape.String()))
	}
	return f
}

// appendRetry writes why the upstream refused a request, and what became of the
// second send.
func appendRetry(f []zap.Field, i *RetryInfo) []zap.Field {
	if i == nil {
		return f
	}
	f = append(f, zap.String("retry", i.Reason), zap.Bool("retry_sent", i.Sent))
	f = appendText(f, "retry_not_sent", i.Why)
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
