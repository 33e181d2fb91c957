// Package proxy is Laconic's HTTP half: it stands where the client thinks the
// API is, and where the upstream thinks the client is.
//
// A chat request goes in a straight line, which rewrite.go reads like: read,
// decode, compact, encode, send. Everything else is forwarded as it comes.
//
// What it promises:
//
//   - untouched: a request that needs nothing reaches the upstream byte for
//     byte, and so does one that cannot be read, or in whose reading something
//     of ours broke.
//   - streamed: status, end-to-end headers and body of the answer arrive
//     unchanged and at once, with x-laconic-* headers added. A broken answer
//     looks broken: its connection is cut, never ended cleanly. A client that
//     leaves stops the upstream.
//   - one generation: a request is sent once. An error of ours that follows a
//     body which the upstream has read tells the SDKs not to send it again.
//   - closed: credentials go where the operator pointed them (see
//     setCredential), and nothing in a request moves its destination.
//   - private: no content and no credential in logs or errors.
//   - alive: every wait has an end, the memory for bodies has a limit, and a
//     panic costs one request at most.
//
// What is done is told to a [Listener]; logs, and later metrics and the
// dashboard, are listeners.
package proxy

import (
	"crypto/rand"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"laconic/compact"
)

// Proxy is the handler. Make it with New. It is safe for concurrent use.
type Proxy struct {
	o         Options
	transport http.RoundTripper
	guard     guard
	keys      clientKeys
	mark      string // our own in Via
	memory    *gate
	digests   *digests
	buffers   copyBuffers
	draining  atomic.Bool // told to stop
}

// New makes a proxy, or says everything that is wrong with its options.
func New(o Options) (*Proxy, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	o.Limits = o.Limits.withDefaults()
	o.Listener = o.Listener.guarded()
	p := &Proxy{
		o: o, transport: o.Transport, keys: hashKeys(o.ClientKeys),
		// Via names this process and not the program, so that one Laconic may
		// stand behind another.
		mark:    "laconic-" + randomID(),
		memory:  newGate(o.Limits.Memory),
		digests: newDigests(),
	}
	p.guard = newGuard(Loopback(o.Listen), o.AllowedOrigins, p.mark)
	if p.transport == nil {
		p.transport = newTransport(&o.Limits)
	}
	return p, nil
}

// Close lets go of idle connections to upstreams.
func (p *Proxy) Close() {
	if t, ok := p.transport.(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
}

// ServeHTTP serves one request.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	t := p.begin(w, r)
	defer t.end()
	if no := p.guard.check(r); no != nil {
		t.refuse(no)
		return
	}
	if no := p.keys.check(r.Header); no != nil {
		t.refuse(no)
		return
	}
	if t.info.Chat {
		t.rewrite()
		return
	}
	t.pass(nil, Passed, "route", "")
}

// trip is one request on its way to the upstream and back.
type trip struct {
	p     *Proxy
	r     *http.Request
	w     *rollingWriter
	start time.Time

	orders orders
	route  *Route
	budget compact.Budget
	// functions is what the tools cost, in tokens.
	functions int

	wholeBody bool // the client's body was read to its end
	edited    bool // the body that is sent is not the client's any more

	seat   *seat     // memory held for the body
	out    *outgoing // the body, when it is held
	up     *upload   // the body, when it is streamed
	line   *line     // to the upstream, once there is one
	answer *answer   // of the upstream, once there is one

	info ReplyInfo
}

func (p *Proxy) begin(w http.ResponseWriter, r *http.Request) *trip {
	t := &trip{
		p: p, r: r, w: newRollingWriter(w), start: time.Now(),
		info: ReplyInfo{ID: randomID(), Chat: chat(r), Endpoint: endpoint(r.URL.Path)},
	}
	if slices.Contains(methods, r.Method) {
		t.info.Method = r.Method // any other word could be anything
	}
	return t
}

// refuse answers in place of the upstream.
func (t *trip) refuse(no *refusal) {
	t.info.Own, t.info.Code, t.info.Detail = true, no.Code, no.Detail
	if t.info.Outcome == "" {
		t.info.Outcome = Rejected
	}
	t.stamp(t.w.Header())
	unread := t.bodyUnread()
	no.Close = no.Close || unread
	no.write(t.w)
	if unread {
		t.seat.free()
		t.linger()
	}
}

// bodyUnread tells whether the client may still be sending its body.
func (t *trip) bodyUnread() bool {
	if t.r.ContentLength == 0 || t.wholeBody || t.r.ProtoMajor != 1 || t.r.Header.Get("Expect") != "" {
		return false
	}
	return t.up == nil || !t.up.done.Load()
}

// linger reads what a refused client still sends, for a while. Most clients
// read the answer only when they have sent everything, and a connection that
// is closed with bytes unread is reset, the answer in it lost (RFC 9112 §9.6).
func (t *trip) linger() {
	_ = t.w.FlushError()
	over := time.Now().Add(lingerFor)
	for buf := make([]byte, 32<<10); ; {
		now := time.Now()
		if !now.Before(over) || t.w.rc.SetReadDeadline(now.Add(min(lingerIdle, over.Sub(now)))) != nil {
			return
		}
		if _, err := t.r.Body.Read(buf); err != nil {
			return
		}
	}
}

// How long a refused body is read: altogether, and without a byte.
const (
	lingerFor  = 5 * time.Second
	lingerIdle = time.Second
)

// randomID names a request, or this process, in 16 letters and digits.
func randomID() string { return strings.ToLower(rand.Text()[:16]) }

// copyBuffers are the buffers in which answers pass through, one per open
// answer: small, because that is most of what a stream costs.
type copyBuffers struct{ pool sync.Pool }

const copyBuffer = 16 << 10

// Get gives a buffer.
func (b *copyBuffers) Get() []byte {
	if v, ok := b.pool.Get().(*[copyBuffer]byte); ok {
		return v[:]
	}
	return new([copyBuffer]byte)[:]
}

// Put takes it back.
func (b *copyBuffers) Put(buf []byte) { b.pool.Put((*[copyBuffer]byte)(buf)) }
