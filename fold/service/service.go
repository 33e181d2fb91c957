// Package service serves package fold over HTTP, to gateways that call a compressor
// before they send a request: LiteLLM, agentgateway, Portkey, Kong and others.
//
//	POST /v1/compress   a list of messages in JSON, as Headroom's service takes it
//	POST /compact       the body of a request, or the webhook of Portkey's guardrails
//	GET  /health        200
//
// It promises:
//
//   - never worse: a body that cannot be read, or not in time, comes back as it came,
//     with status 200.
//   - the same everywhere: an answer is a function of the request and the options, so
//     any replica may answer, and none remembers a caller.
//   - alive: at most as many bodies are compacted at once as there are processors,
//     and no answer waits longer than Timeout.
package service

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"laconic/compact"
	"laconic/fold"
)

const (
	// Timeout is the time that an answer takes at most. The gateways that call a
	// Handler wait for ten seconds.
	Timeout = 8 * time.Second
	// DefaultLimit is the default of Handler.Limit.
	DefaultLimit = 64 << 20
)

// A Handler is the http.Handler. It asks for no credential: who may call it is for
// another one to decide. The zero value works, and every field has a default.
type Handler struct {
	// Options returns how requests for a model are compacted, "" for those that name
	// none; false: they come back as they came. The default is the zero
	// fold.Options. It must be safe for concurrent use.
	Options func(model string) (fold.Options, bool)
	// Limit is the longest body, in bytes; 0: DefaultLimit.
	Limit int64
	// Failed is told of a panic while a body was compacted, by whoever panicked; nil:
	// nobody is.
	Failed func(v any)

	once  sync.Once
	slots chan struct{} // one for each body that is being compacted
}

// Serves reports whether a request is for one of the paths of a Handler.
func (h *Handler) Serves(r *http.Request) bool {
	switch r.URL.Path {
	case "/v1/compress", "/compact":
		return r.Method == http.MethodPost
	case "/health":
		return r.Method == http.MethodGet || r.Method == http.MethodHead
	}
	return false
}

// ServeHTTP implements http.Handler. What it does not serve is answered 404.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.Serve(w, r, time.Now(), h.Failed)
}

// Serve is ServeHTTP for a request that began to arrive at a time, with a Failed of its
// own.
func (h *Handler) Serve(w http.ResponseWriter, r *http.Request, began time.Time, failed func(v any)) {
	ctx, stop := context.WithDeadline(r.Context(), began.Add(Timeout))
	defer stop()
	c := call{h, failed, w, r}
	switch {
	case !h.Serves(r):
		refuse(w, http.StatusNotFound, "this path is not served; POST /v1/compress and /compact are")
		return
	case r.URL.Path == "/health":
		answer(w, []byte(`{"status":"healthy"}`))
		return
	}
	limit := cmp.Or(h.Limit, DefaultLimit)
	body, err := read(w, r, limit)
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		refuse(w, http.StatusRequestEntityTooLarge, "the body is larger than "+strconv.FormatInt(limit, 10)+" bytes")
		return
	case err != nil:
		refuse(w, http.StatusBadRequest, "the body could not be read")
		return
	}
	if r.URL.Path == "/compact" {
		c.compact(ctx, body)
		return
	}
	c.compress(ctx, body)
}

// read returns the body of a request, of at most limit bytes. A body that has Bytes is
// in memory already, and must stay as it is.
func read(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	if held, ok := r.Body.(interface{ Bytes() []byte }); ok && int64(len(held.Bytes())) <= limit {
		return held.Bytes(), nil
	}
	return io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
}

// call is one request.
type call struct {
	*Handler
	failed func(v any)
	w      http.ResponseWriter
	r      *http.Request
}

// folded is what became of a body.
type folded struct {
	out    []byte
	report compact.Report
	err    error
}

// Why a body came back as it came, other than that it cannot be read.
var (
	errLate     = errors.New("timeout")
	errFault    = errors.New("fault")
	errBypassed = errors.New("bypassed")
)

// within returns what fold makes of a body, or the body with an error once ctx is
// done. Then the work ends in the background, before its next epoch, and its slot is
// taken until then.
func (c *call) within(ctx context.Context, body []byte, work func() ([]byte, compact.Report, error)) folded {
	c.once.Do(func() { c.slots = make(chan struct{}, runtime.GOMAXPROCS(0)) })
	late := folded{out: body, err: errLate}
	if ctx.Err() != nil {
		return late
	}
	select {
	case c.slots <- struct{}{}:
	case <-ctx.Done():
		return late
	}
	done := make(chan folded, 1)
	go func() {
		f := folded{out: body, err: errFault}
		defer func() {
			if v := recover(); v != nil && c.failed != nil {
				c.failed(v)
			}
			<-c.slots
			done <- f
		}()
		out, report, err := work()
		f = folded{out, report, err}
	}()
	select {
	case f := <-done:
		if ctx.Err() == nil { // or it may have been cut short
			return f
		}
	case <-ctx.Done():
	}
	return late
}

// options returns how a request for a model is compacted; false: it is not.
func (c *call) options(ctx context.Context, model string, budget int) (fold.Options, bool) {
	o, ok := fold.Options{}, !strings.EqualFold(strings.TrimSpace(c.r.Header.Get("X-Headroom-Bypass")), "true")
	if ok && c.Options != nil {
		o, ok = c.Options(model)
	}
	if v := strings.TrimSpace(c.r.Header.Get("X-Laconic-Budget")); v != "" {
		if n, err := strconv.ParseUint(v, 10, 31); err == nil && n > 0 {
			budget = int(n)
		} else {
			c.w.Header().Set("X-Laconic-Ignored", "x-laconic-budget")
		}
	}
	o.Limits.Budget = cmp.Or(budget, o.Limits.Budget)
	o.Left = func() bool { return ctx.Err() != nil }
	return o, ok
}

// describe writes a report into the headers of an answer.
func describe(w http.ResponseWriter, f *folded) {
	h := w.Header()
	if f.err != nil {
		outcome := "passed"
		if errors.Is(f.err, errBypassed) {
			outcome = "bypassed"
		}
		h.Set("X-Laconic-Outcome", outcome)
		h.Set("X-Laconic-Reason", reason(f.err))
		return
	}
	h.Set("X-Laconic-Outcome", string(f.report.Outcome))
	h.Set("X-Laconic-Tokens-Before", strconv.Itoa(f.report.Before))
	h.Set("X-Laconic-Tokens-After", strconv.Itoa(f.report.After))
	h.Set("X-Laconic-Budget", strconv.Itoa(f.report.Budget))
	var stages []string
	for _, s := range f.report.Did() {
		stages = append(stages, s.Name+";n="+strconv.Itoa(s.Edits)+";saved="+strconv.Itoa(s.Saved))
	}
	if len(stages) > 0 {
		h.Set("X-Laconic-Stages", strings.Join(stages, ", "))
	}
}

// answer sends JSON with status 200.
func answer(w http.ResponseWriter, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body) // a caller that left needs no answer
}

// refuse sends an error in the shape of Headroom's service.
func refuse(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, `{"error":{"type":"invalid_request","message":`+strconv.Quote(message)+`}}`)
}
