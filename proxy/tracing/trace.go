package tracing

import (
	"cmp"
	"context"
	"net/http"
	"strings"
	"time"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"laconic/proxy"
)

// tracedRequest is a request and its span. Those below it are made at its end: by then the
// proxy knows when each step was done.
type tracedRequest struct {
	t     *Tracing
	ctx   context.Context // holds the span
	span  trace.Span
	state string // the client's tracestate, which the upstream gets and no span holds
	at    time.Time
}

func (t *Tracing) start(r *http.Request, at time.Time) proxy.Trace {
	ctx := propagation.TraceContext{}.Extract(context.Background(), carrier{propagation.HeaderCarrier(r.Header)})
	parent := trace.SpanContextFromContext(ctx)
	ctx = trace.ContextWithRemoteSpanContext(ctx, parent.WithTraceState(trace.TraceState{}))
	ctx, s := t.tracer.Start(ctx, anyMethod, trace.WithSpanKind(trace.SpanKindClient), trace.WithTimestamp(at))
	return &tracedRequest{t: t, ctx: ctx, span: s, state: parent.TraceState().String(), at: at}
}

// Sending puts the span in the place of the client's, and says in it where the request
// goes.
func (s *tracedRequest) Sending(out *http.Request) {
	s.span.SetAttributes(destination(out.URL)...)
	for _, name := range (propagation.TraceContext{}).Fields() {
		out.Header.Del(name) // a state without a valid parent is nobody's
	}
	propagation.TraceContext{}.Inject(s.ctx, propagation.HeaderCarrier(out.Header))
	if s.state != "" {
		out.Header.Set("Tracestate", s.state)
	}
}

// Ended ends the span, and makes those below it.
func (s *tracedRequest) Ended(i proxy.ReplyInfo) {
	end := trace.WithTimestamp(s.at.Add(i.Duration))
	if !s.span.IsRecording() {
		s.span.End(end)
		return
	}
	steps := &i.Steps
	if steps.Decoded > 0 {
		s.step("decode", steps.Read, steps.Decoded, false)
	}
	if steps.Folded > 0 {
		s.step("fold", steps.Decoded, steps.Folded, false)
	}
	if steps.Sending > 0 {
		s.step("upstream first byte", steps.Sending, cmp.Or(i.FirstByte, i.Duration), i.FirstByte == 0)
	}
	s.span.SetName(nameOf(&i))
	s.span.SetAttributes(attributesOf(&i)...)
	if errorType(&i) != "" {
		s.span.SetStatus(codes.Error, "")
	}
	s.span.End(end)
}

// step makes the span of a step that is over.
func (s *tracedRequest) step(name string, from, to time.Duration, failed bool) {
	_, step := s.t.tracer.Start(s.ctx, name, trace.WithTimestamp(s.at.Add(from)))
	if failed {
		step.SetStatus(codes.Error, "")
	}
	step.End(trace.WithTimestamp(s.at.Add(max(from, to))))
}

// carrier is the headers of a request. A tracestate may come in several lines.
type carrier struct{ propagation.HeaderCarrier }

// Get returns the value of a header.
func (c carrier) Get(name string) string { return strings.Join(c.Values(name), ",") }
