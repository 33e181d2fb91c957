package tracing

import (
	"context"
	"sync/atomic"

	sdk "go.opentelemetry.io/otel/sdk/trace"

	"laconic/proxy/apierror"
)

// mostText is how much of an error is logged: a collector may answer anything.
const mostText = 200

// watched is an exporter that says when its collector begins to fail, and when it no
// longer does. Else each batch would be an error of its own.
type watched struct {
	sdk.SpanExporter
	warn, info func(line string)
	failing    atomic.Bool
}

// ExportSpans sends spans, or drops them.
func (e *watched) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	e.note(e.SpanExporter.ExportSpans(ctx, spans))
	return nil
}

// note logs how a batch went, if that is news.
func (e *watched) note(err error) {
	switch was := e.failing.Swap(err != nil); {
	case err == nil && was:
		e.info("the collector takes traces again")
	case err != nil && !was:
		e.warn("the collector does not take traces: " + apierror.Clip(err.Error(), mostText) + " (no request waits for it; spans are dropped)")
	}
}
