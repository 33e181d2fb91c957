package tracing

import (
	"context"
	"errors"
	"net/url"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"
	sdk "go.opentelemetry.io/otel/sdk/trace"

	"laconic/proxy/apierror"
)

// mostText is how much of an error is logged: a collector may answer anything.
const mostText = 200

// between is the least time between two warnings of the collector: one that fails
// now and then would fill the log.
const between = 10 * time.Minute

// watched is an exporter that says when its collector begins to fail, and when it no
// longer does. Else each batch would be an error of its own.
type watched struct {
	sdk.SpanExporter
	o Options

	mu      sync.Mutex
	failing bool
	warned  time.Time // of the failing
}

// ExportSpans sends spans, or drops them.
func (e *watched) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	e.note(e.SpanExporter.ExportSpans(ctx, spans), time.Now())
	return nil
}

// note logs how a batch went that was sent at a time, if that is news.
func (e *watched) note(err error, now time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case err == nil && e.failing:
		e.failing = false
		e.o.Info("the collector takes traces again")
	case err != nil && !e.failing && (e.warned.IsZero() || now.Sub(e.warned) >= between):
		e.failing, e.warned = true, now
		e.o.Warn("the collector does not take traces: " + apierror.Clip(err.Error(), mostText) + " (no request waits for it; spans are dropped)")
	}
}

// complainTo makes the SDK say to warn what is wrong with its variables, each thing
// once. It would write to standard error, and write credentials too: of a header that
// it cannot read it shows the value.
func complainTo(warn func(line string)) {
	c := &complaints{warn: warn}
	otel.SetLogger(logr.New(c))
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { c.say("OpenTelemetry", err) }))
}

// mostComplaints bounds what the SDK may say.
const mostComplaints = 10

// complaints is the log of the SDK. It drops all values.
type complaints struct {
	warn func(line string)

	mu   sync.Mutex
	said map[string]bool
}

func (c *complaints) say(what string, err error) {
	line := what
	if err != nil {
		var at *url.Error
		if errors.As(err, &at) {
			err = at.Err // without the URL
		}
		line += ": " + apierror.Clip(err.Error(), mostText)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.said[line] || len(c.said) >= mostComplaints {
		return
	}
	if c.said == nil {
		c.said = map[string]bool{}
	}
	c.said[line] = true
	c.warn(line)
}

// Init is nothing: no caller is shown.
func (c *complaints) Init(logr.RuntimeInfo) {}

// Enabled reports whether a level is said: 1 is that of warnings.
func (c *complaints) Enabled(level int) bool { return level <= 1 }

// Info says a warning.
func (c *complaints) Info(_ int, msg string, _ ...any) { c.say("OpenTelemetry: "+msg, nil) }

// Error says an error.
func (c *complaints) Error(err error, msg string, _ ...any) { c.say("OpenTelemetry: "+msg, err) }

// WithValues returns c: values are not said.
func (c *complaints) WithValues(...any) logr.LogSink { return c }

// WithName returns c.
func (c *complaints) WithName(string) logr.LogSink { return c }
