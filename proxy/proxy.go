// Package proxy is the HTTP half of Laconic: the server that the client takes for
// the API, and the client of the upstream behind it.
//
// It promises:
//
//   - untouched: a request that needs nothing reaches the upstream byte for
//     byte, and so does one that cannot be read, or in whose reading something
//     of ours broke.
//   - streamed: status, end-to-end headers and body of the answer arrive
//     unchanged and at once, with x-laconic-* headers added. The headers of an
//     answer of known length wait for its first byte. The first event of a chat's
//     answer is held until it is known not to be a refusal. A broken answer looks
//     broken: its connection is cut, never ended cleanly. A client that leaves stops
//     the upstream.
//   - one generation: a request is sent once, and once more only where the
//     upstream refused the first before it generated anything: as too long, for
//     its order of roles, for thinking that is bound to another history, or for
//     what only compaction can have done. A third body is sent, and no fourth, where
//     the second was refused in the same way for the other of length and roles, or
//     for another demand of the template. An error of ours that follows a body
//     which the upstream has read tells the SDKs not to send it again.
//   - closed: credentials go where the operator pointed them, and nothing in a
//     request moves its destination. A request that names a model goes where the
//     model's route says, on every endpoint, or is refused.
//   - private: no content and no credential in logs or errors.
//   - alive: every wait has an end, the memory for bodies has a limit, taken by
//     what arrived and not by what was promised, and a panic costs one request
//     at most.
//
// # The path of a request
//
//	ServeHTTP   a request begins, under the settings in force; access says who may come in
//	rewrite     its body is read and decoded, which chooses the route
//	            planning: what is known of the model becomes terms, which are values
//	            plan: the conversation is repaired and folded under them
//	            attempt: the slot is filled, the edits become a body
//	send        the body goes to the upstream by a retrier
//	            which sends a second attempt, of a second plan, after a refusal
//	answer      status, headers and body go to the client as they come
//	end         the end of the answer is read, learnt from and logged
//
// If a step cannot be taken, an unread request goes on with the client's own bytes,
// or an error of ours is the answer. A request that is not for a chat is only
// routed and sent. A [Listener] hears of everything that is done; the log is one.
//
// Which upstream gets a request is decided by byModel and choose, what follows a
// refusal by retrier and reconsider.
package proxy

import (
	"context"
	"crypto/rand"
	"net/http"
	"sync"
	"sync/atomic"

	"laconic/proxy/access"
	"laconic/proxy/admission"
	"laconic/proxy/discover"
	"laconic/proxy/learn"
	"laconic/proxy/operate"
	"laconic/proxy/summarize"
)

// Proxy is the handler. Make it with New. It is safe for concurrent use.
type Proxy struct {
	settings  atomic.Pointer[settings]
	listener  Listener
	transport http.RoundTripper
	sessions  *access.Sessions
	mark      string // our own in Via
	memory    *admission.Gate
	quotas    admission.Quotas
	signIns   admission.Quotas // by browser or program, and address
	learnt    *learn.Memory
	asker     *discover.Asker
	upstreams operate.Upstreams
	outcomes  operate.Outcomes
	summaries *summarize.Service

	serving   atomic.Int64 // requests that are not over
	streaming atomic.Int64 // answers that are streams of events, and not over
	started   atomic.Bool  // Serve was called
	draining  atomic.Bool  // told to stop
	// closing is done once the listener is closed, which close says.
	closing context.Context
	close   context.CancelFunc
	// adminOpen: others than this machine reach the admin listener.
	adminOpen atomic.Bool
	// ignored are the unknown request headers that were reported, at most mostReported.
	ignored      sync.Map
	ignoredCount atomic.Int64
}

// New makes a proxy of valid options, or says why they would give a key away.
func New(o Options) (*Proxy, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	p := &Proxy{
		listener: Tee(o.Listener), transport: o.Transport,
		sessions: access.NewSessions(),
		// Via names this process and not the program, so that one Laconic may
		// stand behind another.
		mark: "laconic-" + randomID(),
	}
	p.closing, p.close = context.WithCancel(context.Background())
	s := newSettings(o, p.mark)
	p.settings.Store(s)
	p.memory = admission.NewGate(s.Limits.Memory, s.Limits.Body)
	secret := []byte(rand.Text())
	if v := o.Store; v.Lasts() { // whoever shares the store finds the facts
		key := v.Key(v.Group("facts"), "the key of the names of facts, version 2") // no value is kept under it
		secret = key[:]
	}
	if p.transport == nil {
		p.transport = newTransport(&s.Limits)
	}
	failed := func(v any) { p.fault("", "background", v) }
	p.learnt = learn.New(learn.Options{Store: o.Facts, Secret: secret, Calibrate: o.Calibrate, Failed: failed})
	p.asker = discover.New(p.transport, p.mark, failed)
	p.summaries = summarize.New(s.Summarizer, summarize.Environment{
		Memory: p.memory, Store: s.Store, Transport: p.transport, Ended: p.listener.Summarized, Erased: p.listener.Erased,
		Failed: func(id string, v any) { p.fault(id, "summary", v) },
	})
	return p, nil
}

// Serving returns how many requests are not over.
func (p *Proxy) Serving() int { return int(p.serving.Load()) }

// Close ends work in the background and lets go of idle connections to
// upstreams.
func (p *Proxy) Close() {
	p.asker.Close()
	p.learnt.Close()
	p.summaries.Close()
	(&http.Client{Transport: p.transport}).CloseIdleConnections()
}
