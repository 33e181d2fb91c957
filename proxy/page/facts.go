package page

import (
	"net/http"

	"laconic/proxy/learn"
	"laconic/proxy/operate"
	"laconic/proxy/why"
)

// serveFacts is what was learnt of upstreams, and the configuration in force.
func (p *Page) serveFacts(w http.ResponseWriter, _ *http.Request) {
	f := struct {
		Upstreams []operate.Upstream `json:"upstreams"`
		Models    []learn.Known      `json:"models"`
		Settings  string             `json:"settings"`
		Findings  []why.Finding      `json:"findings"`
	}{p.o.Proxy().State().Upstreams, p.o.Proxy().LearntModels(), p.o.Settings(), p.o.Findings()}
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
