package page

import (
	"net/http"
	"time"

	"laconic/proxy/learn"
	"laconic/proxy/why"
)

// UpstreamLine is what requests have shown of an upstream.
type UpstreamLine struct {
	Upstream string    `json:"upstream"`
	Down     bool      `json:"down"`
	Failures int       `json:"failures"`
	Answered time.Time `json:"answered,omitzero"`
	Failed   time.Time `json:"failed,omitzero"`
	Why      string    `json:"why,omitempty"` // the last failed
}

// upstreams returns what requests have shown of each upstream.
func (p *Page) upstreams() (all []UpstreamLine) {
	for _, u := range p.o.Proxy().State().Upstreams {
		all = append(all, UpstreamLine{u.Upstream, u.Down, u.Failures, u.Answered, u.Failed, u.Why.String()})
	}
	return all
}

// serveFacts is what was learnt of upstreams, and the configuration in force.
func (p *Page) serveFacts(w http.ResponseWriter, _ *http.Request) {
	f := struct {
		Upstreams []UpstreamLine `json:"upstreams"`
		Models    []learn.Known  `json:"models"`
		Settings  string         `json:"settings"`
		Findings  []why.Finding  `json:"findings"`
	}{p.upstreams(), p.o.Proxy().LearntModels(), p.o.Settings(), p.o.Findings()}
	p.mu.Lock()
	for i := range f.Models {
		m := &f.Models[i]
		for _, r := range p.requests { // the name that its requests have
			if m.Sender != [32]byte{} && r.from.Credential == m.Sender {
				m.Credential = nameOf(r.from)
			}
		}
	}
	p.mu.Unlock()
	serveJSON(w, f)
}
