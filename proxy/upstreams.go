package proxy

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"laconic/proxy/admission"
	"laconic/proxy/discover"
	"laconic/proxy/learn"
	"laconic/proxy/operate"
	"laconic/proxy/why"
)

// UpstreamInfo is a change in what is known of an upstream. It is seen in the
// answers to requests: nobody probes.
type UpstreamInfo struct {
	Upstream string // its base URL, without what may be secret
	operate.Change
	// Code and Detail are those of the last request that failed, as in ReplyInfo. Code is
	// "status_503" where the upstream said so itself.
	Code, Detail string
	Why          why.Reason // why the last one failed
	// Endpoint is the path that is not there, Hint what would help.
	Endpoint, Hint string
	// Model is the one whose Window requests are held to from now on, in tokens, of
	// operate.Cuts. Assumed: no usage showed it.
	Model   string
	Window  int
	Assumed bool
}

// observeUpstream notes what a request showed of its upstream, and tells the listener
// what changes by that. A client that left, a fault of ours and the end of this
// process show nothing.
func (x *request) observeUpstream() {
	i := &x.info
	shown := operate.Shown{Code: i.Code}
	switch {
	case i.Code != "" && !unansweredCodes[i.Code]:
		return
	case i.Code == "" && slices.Contains([]int{http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout}, i.Status):
		shown.Code = fmt.Sprintf("status_%d", i.Status)
	}
	base := x.route.Upstream
	shown.Why = why.Unanswered(base.Host, shown.Code, i.Detail)
	if !i.Own && (i.Wire != "" || i.Endpoint == "/models") {
		shown.Found, shown.Missing = i.Status < 300, i.Status == http.StatusNotFound && !discover.Versioned(base)
	}
	for _, change := range x.p.upstreams.Observe(operate.Origin(base), shown, time.Now()) {
		u := UpstreamInfo{Upstream: shownURL(base), Change: change, Code: shown.Code, Detail: i.Detail, Why: shown.Why}
		if u.Event == operate.WithoutPath {
			u.Endpoint, u.Hint = i.Endpoint, "most servers have their API below /v1: upstream: "+strings.TrimRight(u.Upstream, "/")+"/v1"
		}
		x.p.listener.Upstream(u)
	}
}

// shownURL returns a base URL without what may be secret.
func shownURL(base *url.URL) string { return base.Scheme + "://" + base.Host + base.Path }

// State is what a proxy holds at one moment.
type State struct {
	Serving int // requests that are not over
	Memory  admission.Stats
	// Upstreams are those of the options in force that requests went to.
	Upstreams []operate.Upstream
	// Outcomes are of the chat requests that are over.
	Outcomes []operate.Outcome
	// Learnt is of how many models each fact is believed.
	Learnt map[string]int
	// Summarizing is how many summaries are being made.
	Summarizing int
}

// State returns what the proxy holds now.
func (p *Proxy) State() State {
	return State{
		Serving: p.Serving(), Memory: p.memory.Stats(),
		Upstreams: p.upstreams.Known(p.settings.Load().origins()), Outcomes: p.outcomes.Known(),
		Learnt: p.learnt.Believed(), Summarizing: p.summaries.Running(),
	}
}

// LearntModels returns what was learnt of models, and what upstreams publish of
// them, sorted.
func (p *Proxy) LearntModels() []learn.Known { return p.learnt.Known() }
