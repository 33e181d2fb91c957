package proxy

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"laconic/proxy/admission"
	"laconic/proxy/why"
)

// State is what a proxy holds at one moment.
type State struct {
	Serving int // requests that are not over
	Memory  admission.Stats
	// Upstreams are those of the options in force that requests went to.
	Upstreams []UpstreamState
	// Outcomes are of the chat requests that are over.
	Outcomes []OutcomeState
	// Learnt is of how many models each fact is believed.
	Learnt map[string]int
	// Summarizing is how many summaries are being made.
	Summarizing int
}

// UpstreamState is what requests have shown of one upstream.
type UpstreamState struct {
	Upstream string // its origin, as in https://api.openai.com
	Down     bool
	Failures int // in succession
	// Answered and Failed are when the last request was answered, and when the last
	// one failed; zero: never.
	Answered, Failed time.Time
	// Why is why the last one failed.
	Why why.Reason
}

// State returns what the proxy holds now.
func (p *Proxy) State() State {
	return State{
		Serving: p.Serving(), Memory: p.memory.Stats(),
		Upstreams: p.upstreams.states(p.settings.Load().origins()), Outcomes: p.outcomes.states(), Learnt: p.learnt.Believed(), Summarizing: int(p.SummaryCounts().Running),
	}
}

// states returns what requests have shown of some upstreams, sorted.
func (u *upstreams) states(some map[originKey]bool) (all []UpstreamState) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for key, s := range u.all {
		if some[key] {
			all = append(all, UpstreamState{key.String(), s.isDown(), s.failures, s.answered, s.failed, s.why})
		}
	}
	slices.SortFunc(all, func(a, b UpstreamState) int { return strings.Compare(a.Upstream, b.Upstream) })
	return all
}

func (k originKey) String() string { return (&url.URL{Scheme: k.scheme, Host: k.host}).String() }
