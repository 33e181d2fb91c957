package proxy

import (
	"cmp"
	"crypto/tls"
	"net/http"
	"net/url"
	"time"

	"laconic/compact"
	"laconic/proxy/access"
	"laconic/proxy/admission"
	"laconic/proxy/learn"
	"laconic/proxy/summarize"
)

// Route is everything that a model's name decides: where its requests go, whose
// key they carry, what they may cost and how they are compacted. A Route is
// read only once New has seen it.
type Route struct {
	// Match is the pattern that chose this route. It appears in logs, so it
	// must hold no secret; "" for the default route.
	Match string
	// Upstream is the base URL in the place of the client's /v1, as in
	// https://api.openai.com/v1. Required; http or https, no user, no fragment.
	Upstream *url.URL
	// Key is sent instead of the client's credential, whose headers are then
	// all removed. Empty: the client's own headers go through untouched, but
	// only to the origin of the default route.
	Key access.Secret
	// ClientCredential allows the client's own credential to go to this
	// upstream although it is not at the origin of the default route. Without
	// it, and without a Key, such an upstream gets no credential at all.
	ClientCredential bool
	// Limits are the facts and settings that make the budget.
	Limits compact.Limits
	// Discover: the upstream may be asked, in the background, what it tells of its
	// models. A window takes the place of the one in Limits, unless that was
	// Configured; then the upstream is asked only what it is, and only where the
	// Counter guesses.
	Discover, Configured bool
	// Mode is ModeOn, ModeOff or ModeShadow; "": ModeOn. A chat request whose body
	// has fewer bytes than MinBody, decompressed, goes out as it came, as under
	// ModeOff. x-laconic-mode comes before both.
	Mode    string
	MinBody int64
	// SystemMessages is SystemKeep, SystemFold or SystemAuto; "": SystemAuto.
	SystemMessages string
	// Policy is how conversations of this model are compacted. Required.
	Policy *compact.Policy
	// Counter counts for this model. Required. It may be plan.Guessing or plan.Summing.
	Counter compact.Counter
	// Tokenizer names the way in which Counter counts; "": as it does for every model
	// of this name. Facts and counts of another way are not used.
	Tokenizer string
}

// Modes for system and developer messages after the first: they stay, their text goes
// into the messages beside them, or that happens once the upstream refused them.
const (
	SystemKeep = "keep"
	SystemFold = "fold"
	SystemAuto = "auto"
)

// ClientKey is a key of this proxy's own, with its name for who looks, and what its
// holder may use.
type ClientKey struct {
	Key   access.Secret
	Name  string
	Quota Quota
}

// Options is the whole configuration of a proxy. Package config checks it.
type Options struct {
	// Default is the route of every request that names no model: the
	// top-level upstream. Required.
	Default Route
	// Routes are the other routes that RouteFor may give. Their order has no meaning
	// here.
	Routes []*Route
	// RouteFor returns the route of a model by name; nil, or a nil result:
	// Default. It is called once per request that names a model and must be
	// safe for concurrent use. The name is what the client wrote: any string.
	RouteFor func(model string) *Route
	// Policies are those that x-laconic-policy may name.
	Policies map[string]*compact.Policy

	// Listen is our own address, host:port. A loopback host (or "", which is
	// taken for one) means that only loopback names are accepted as Host and
	// that a foreign Origin is refused. An upstream at this address is refused.
	Listen string
	// Certificate is the GetCertificate of a [tls.Config]. With it Serve speaks
	// TLS 1.2 and above, and HTTP/2; nil: HTTP/1 in the clear.
	Certificate func(*tls.ClientHelloInfo) (*tls.Certificate, error)
	// Overrides: the x-laconic-* request headers are honoured. They are
	// removed before the upstream sees them in any case.
	Overrides bool
	// ResponseHeaders: answers carry x-laconic-* headers.
	ResponseHeaders bool
	// Strict: a chat request that cannot be read is refused with 400 instead
	// of being passed byte for byte.
	Strict bool
	// RejectFaults: a chat request that made Laconic fail is refused with 500, and
	// nothing is sent; else it passes byte for byte.
	RejectFaults bool
	// UpstreamReadiness: /readyz is not ready while every upstream that requests
	// went to is down.
	UpstreamReadiness bool
	// ClientKeys are the keys that may use this proxy; empty: no check. With
	// them every route needs a Key, because the client's is always removed.
	ClientKeys []ClientKey
	// AllowedOrigins are the Origins accepted on loopback beside none and
	// loopback ones, as in https://app.example; their hosts are accepted as
	// Host too. "*" accepts every Origin.
	AllowedOrigins []string
	// AdminToken must be sent as bearer token to the admin listener. Required where
	// that is not on loopback; "" asks for none.
	AdminToken access.Secret

	// Calibrate makes what corrects a counter by the usage of answers: see
	// [learn.Options]; nil: counts are not corrected.
	Calibrate func(plain, way, percent int) learn.Calibration
	// Facts keeps what was learnt of models beyond this process; nil: it is
	// forgotten with it.
	Facts learn.Store
	// Service answers what it serves in place of the upstream; nil: nothing is. On a
	// listener that others reach it needs ClientKeys.
	Service Service
	// Summarizer writes the text of slots; nil: slots hold their digest.
	Summarizer *summarize.Options
	// Store is where summaries are stored, and by which processes tell each other that
	// something was erased. Required with a Summarizer. One whose secret lasts keys the
	// hashes that Facts are kept under, and seals the compactions that are answered in the
	// place of an upstream that knows none; without it the hashes are of this process
	// alone, and the refusal goes to the client.
	Store *summarize.Store

	Limits Limits
	// Listener is told what happened; nil funcs are silent.
	Listener Listener
	// StartTrace begins the trace of a request that came at a time, before anything
	// else is done. It must not change the request, nor keep it. nil, or a nil Trace:
	// the request is not traced, and its own traceparent passes.
	StartTrace func(r *http.Request, at time.Time) Trace
	// Transport is what requests leave by, also those to the summarizer; nil: one sized
	// for streams, which goes through the proxy that HTTPS_PROXY, HTTP_PROXY and NO_PROXY
	// name.
	Transport http.RoundTripper
}

// Limits bound what one request and all requests together may take. All are required
// that do not say what 0 means; package config has the defaults.
type Limits struct {
	// Body is the largest body of a chat request in bytes, both as sent and
	// decompressed. It holds also for a body that is read for its
	// model; others are streamed and not limited.
	Body int64
	// Memory is what the bodies of all requests may take at once, in bytes,
	// everything made from them included. At least Body; below
	// eight times Body a few of the largest bodies may together take more. It counts
	// their garbage, and the collector has to be told as well, by
	// [runtime/debug.SetMemoryLimit] with the memory of all else: without that it lets
	// the memory of bodies double before it runs. Bodies of 2 MB within 128 MB took up
	// to 228.
	Memory int64
	// Header is the time to read a request's headers.
	Header time.Duration
	// Connections is how many connections of one address that is not a loopback
	// one may be open, and Heads how many of them that did not send their first
	// head yet; those beyond are closed as they come. 0: any number. An IPv6
	// address counts by its first 64 bits. Each listener counts by itself.
	Connections, Heads int
	// ResponseHeader is how long the upstream may take until its headers,
	// counted from the last byte it took. Answers that are not
	// streamed send nothing before the model is done.
	ResponseHeader time.Duration
	// StreamIdle is the longest silence inside an answer.
	StreamIdle time.Duration
	// Drain is how long Serve takes connections and requests after it was told to
	// stop, while /readyz answers 503; 0: not at all. Answers then ask clients to
	// connect anew.
	Drain time.Duration
	// Shutdown is the time that open answers have to end once Serve takes no more. Then
	// they are cut as broken.
	Shutdown time.Duration
}

// routeFor is the route of a model; "" when the request names none.
func (o *Options) routeFor(model string) *Route {
	if model == "" || o.RouteFor == nil {
		return &o.Default
	}
	return cmp.Or(o.RouteFor(model), &o.Default)
}

// Quota is what the holder of a client key may use.
type Quota = admission.Quota

// Service answers requests by itself, on paths that then no upstream gets: the fold as
// a service, for gateways. It is given bodies whole and decompressed, of at most
// Limits.Body, and only those of clients that may come in.
type Service interface {
	// Serves reports whether a request is for the service, by its method and path.
	Serves(r *http.Request) bool
	// Serve answers a request that came at a time. failed is to be called by whoever
	// panicked, if the panic ends nothing else.
	Serve(w http.ResponseWriter, r *http.Request, came time.Time, failed func(v any))
}
