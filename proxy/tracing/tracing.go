// Package tracing makes spans of a proxy's requests, and sends them to a collector
// by OTLP over HTTP.
//
// It promises:
//
//   - off: unless the variables of OpenTelemetry ask for traces, nothing is sent and
//     no header is touched.
//   - private: a span holds sizes, counts, names of the configuration and words of
//     the proxy's own; of a client's words only the name of the model and the tags.
//     No content, no credential, no path, no query.
//   - continued: the span of a request is a child of the one that its traceparent
//     names, and the upstream is told of the proxy's own. tracestate passes.
//   - apart: no request waits for a collector. What it does not take in time is
//     dropped, and one warning says so, not one for each request.
//   - bounded: Close takes a few seconds at most.
package tracing

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"laconic/proxy"
	"laconic/proxy/apierror"
)

// Tracing sends the spans of one process. Make it with New. A nil one traces
// nothing.
type Tracing struct {
	provider *sdk.TracerProvider
	exporter *watched
	tracer   trace.Tracer
	closing  time.Duration // how long a collector may take for the last spans
}

// New returns what traces requests to this version of the program as the variables of
// OpenTelemetry say: nil where they do not ask for it, or ask for what there is not, which
// is warned of. warn and info log a line, and are called seldom.
func New(version string, warn, info func(line string)) *Tracing {
	collector, err := wanted(os.Getenv)
	if err != nil {
		warn(err.Error() + "; no traces are sent")
	}
	if collector == "" {
		return nil
	}
	// The SDK would write to standard error what it cannot read, and credentials with it.
	otel.SetLogger(logr.Discard())
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(error) {}))
	exporter, err := otlptracehttp.New(context.Background())
	if err != nil {
		warn("no traces are sent: " + apierror.Clip(err.Error(), mostText))
		return nil
	}
	// The environment comes last, and wins.
	about, err := resource.New(context.Background(),
		resource.WithAttributes(attribute.String("service.name", "laconic"), attribute.String("service.version", version)),
		resource.WithTelemetrySDK(), resource.WithFromEnv(),
	)
	if err != nil {
		warn("OTEL_RESOURCE_ATTRIBUTES cannot be read whole: " + apierror.Clip(err.Error(), mostText))
	}
	t := &Tracing{exporter: &watched{SpanExporter: exporter, warn: warn, info: info}, closing: 3 * time.Second}
	t.provider = sdk.NewTracerProvider(sdk.WithBatcher(t.exporter), sdk.WithResource(about))
	t.tracer = t.provider.Tracer("laconic", trace.WithInstrumentationVersion(version))
	info("traces go to " + collector)
	return t
}

// wanted returns the host of the collector that the environment asks to send traces
// to, "" if it does not. The error names a variable that asks for what there is not.
func wanted(env func(string) string) (collector string, err error) {
	endpoint, exporter := "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", env("OTEL_TRACES_EXPORTER")
	if env(endpoint) == "" {
		endpoint = "OTEL_EXPORTER_OTLP_ENDPOINT"
	}
	at := env(endpoint)
	switch {
	case strings.EqualFold(env("OTEL_SDK_DISABLED"), "true"), exporter == "none", exporter == "" && at == "":
		return "", nil
	case exporter != "" && exporter != "otlp":
		return "", errors.New("OTEL_TRACES_EXPORTER names an exporter that there is not (there are otlp and none)")
	case cmp.Or(env("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"), env("OTEL_EXPORTER_OTLP_PROTOCOL")) == "grpc":
		return "", errors.New("OTEL_EXPORTER_OTLP_PROTOCOL is grpc, and traces are sent by http/protobuf alone")
	case at == "":
		return "localhost:4318", nil
	}
	u, err := url.Parse(at)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		// The value may hold a credential.
		return "", errors.New(endpoint + " is not a URL, as in http://localhost:4318")
	}
	return u.Host, nil
}

// StartTrace returns the func that begins the traces of requests, for [proxy.Options].
func (t *Tracing) StartTrace() func(*http.Request, time.Time) proxy.Trace {
	if t == nil {
		return nil
	}
	return t.start
}

// Close sends the spans that were not sent yet, as far as the collector takes them
// in time.
func (t *Tracing) Close() {
	if t == nil {
		return
	}
	ctx, stop := context.WithTimeout(context.Background(), t.closing)
	defer stop()
	if t.provider.Shutdown(ctx) != nil {
		// It still sends; this ends it.
		_ = t.exporter.Shutdown(context.Background())
	}
}
