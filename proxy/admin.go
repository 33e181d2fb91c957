package proxy

import (
	"context"
	"errors"
	"net/http"
	"time"

	"laconic/proxy/access"
	"laconic/proxy/admission"
	"laconic/proxy/operate"
)

// Admin is a server for the admin listener. /readyz answers 503 while the process
// starts or shuts down and, with Options.UpstreamReadiness, while no upstream answers.
func (p *Proxy) Admin(o operate.Options) (*http.Server, error) {
	if !access.Loopback(o.Listen) {
		if p.settings.Load().AdminToken == "" {
			return nil, errAdminOpen
		}
		p.adminOpen.Store(true)
	}
	return p.server(&operate.Admin{
		Options: o, Sessions: p.sessions,
		Access: func() (access.Secret, []string) {
			s := p.settings.Load()
			return s.AdminToken, s.AllowedOrigins
		},
		NotReady: p.notReady,
		Words:    func() string { return p.upstreams.Words() + p.learnt.Describe() },
		Wrong: func(r *http.Request) {
			if p.mayTry("program", r) { // one with an old token may ask for ever
				p.listener.Failed(FaultInfo{Where: "admin", What: "a program presented a token that is not the admin_token", Peer: true})
			}
		},
	}), nil
}

// notReady returns why requests should go elsewhere; "" when they need not.
func (p *Proxy) notReady() string {
	switch {
	case p.draining.Load():
		return "shutting down"
	case !p.started.Load():
		return "starting"
	}
	if s := p.settings.Load(); s.UpstreamReadiness && p.upstreams.Down(s.origins(), time.Now()) {
		return "no upstream answers"
	}
	return ""
}

// signIns is how many tokens the browsers of one address may present in a minute.
const signIns = 10

// SignIn lets a browser in that presents the token, and reports whether it does. The
// browser sees the pages for browsers then.
func (p *Proxy) SignIn(w http.ResponseWriter, r *http.Request, token string) bool {
	wrong := "a browser presented a token that is not the admin_token"
	if !p.mayTry("browser", r) {
		wrong = "an address has presented too many tokens, and has to wait"
	} else if p.sessions.Start(w, p.settings.Load().AdminToken, token, time.Now()) {
		return true
	}
	p.listener.Failed(FaultInfo{Where: "sign-in", What: wrong, Peer: true})
	return false
}

// mayTry reports whether the browsers or programs of an address have presented fewer
// tokens than they may in a minute.
func (p *Proxy) mayTry(who string, r *http.Request) bool {
	return p.signIns.Take(who+" "+admission.ClientAt(r.RemoteAddr), admission.Quota{RequestsPerMinute: signIns}, time.Now()) == nil
}

// SignOut ends that.
func (p *Proxy) SignOut(w http.ResponseWriter) { p.sessions.End(w) }

// ErrNoClient: no client key has that name.
var ErrNoClient = errors.New("no client key has this name")

// EraseClient erases what is kept of the holder of a client key, by the name of the
// key. See Erase.
func (p *Proxy) EraseClient(ctx context.Context, name string) (summaries int, err error) {
	for _, k := range p.settings.Load().ClientKeys {
		if k.Name == name {
			return p.Erase(ctx, k.Key)
		}
	}
	return 0, ErrNoClient
}

// Erase removes the summaries of all conversations that came with a credential, and all
// texts that are remembered of them here: a client's key as it sends it, behind Bearer
// where it is one, or the value of the first header that holds a credential. "" stands
// for requests without any. Facts of upstreams stay: they hold nothing of a
// conversation. It returns how many summaries were stored. With an error some may be
// left, and the same again removes them; with summarize.ErrUnheard other processes that
// share the store may remember some.
func (p *Proxy) Erase(ctx context.Context, credential access.Secret) (summaries int, err error) {
	return p.summaries.Erase(ctx, string(credential))
}
