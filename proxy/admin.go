package proxy

import (
	"errors"
	"io"
	"net/http"
	"time"

	"laconic/proxy/access"
	"laconic/proxy/apierror"
	"laconic/proxy/wire"
)

// AdminOptions are how the admin listener is protected.
type AdminOptions struct {
	// Listen is its address, host:port; "" counts as loopback.
	Listen string
	// Token must be sent as bearer token. Required where Listen is not
	// loopback; "" asks for none.
	Token access.Secret
	// AllowedOrigins are as in Options.
	AllowedOrigins []string
	// Starting reports whether the process still prepares what requests need;
	// nil: it does not.
	Starting func() bool
	// Notes are further lines for /readyz?verbose, each with its end; nil: none.
	Notes func() string
}

// Admin is a server for the admin listener, which is separate, so that nothing
// on it can be reached by a client of the API: GET /healthz says that the
// process lives, GET /readyz whether it is ready for requests: 503 while it
// starts or shuts down and, with Options.UpstreamReadiness, while no upstream
// answers. /readyz?verbose also says what requests have shown of the upstreams,
// and what was learnt of them and their models.
func (p *Proxy) Admin(o AdminOptions) (*http.Server, error) {
	if !access.Loopback(o.Listen) && o.Token == "" {
		return nil, errors.New("the admin listener is not on loopback and has no token")
	}
	guard := access.NewGuard(access.Loopback(o.Listen), o.AllowedOrigins, "")
	var keys access.ClientKeys
	if o.Token != "" {
		keys = access.HashKeys([]access.Secret{o.Token})
	}
	return p.server(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		no := guard.Check(r)
		if no == nil {
			no = keys.Check(r.Header)
		}
		if no == nil {
			no = p.admin(w, r, &o)
		}
		if no != nil {
			writeError(w, wire.Chat, no)
		}
	})), nil
}

// admin serves the pages of the admin listener.
func (p *Proxy) admin(w http.ResponseWriter, r *http.Request, o *AdminOptions) *apierror.Error {
	status, text := http.StatusOK, ""
	switch r.URL.Path {
	case "/healthz":
		text = "ok\n"
	case "/readyz":
		text = "ready\n"
		if why := p.notReady(o); why != "" {
			status, text = http.StatusServiceUnavailable, why+"\n"
		}
		if r.URL.Query().Has("verbose") {
			text += p.upstreams.words() + p.learnt.Describe()
			if o.Notes != nil {
				text += o.Notes()
			}
		}
	default:
		return &apierror.Error{Status: http.StatusNotFound, Code: "path_not_served", Message: "There is no such page."}
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return &apierror.Error{
			Status: http.StatusMethodNotAllowed, Code: "method_not_allowed", Allow: "GET, HEAD",
			Message: "This page can only be read.",
		}
	}
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text)
	return nil
}

// notReady returns why requests should go elsewhere; "" when they need not.
func (p *Proxy) notReady(o *AdminOptions) string {
	switch {
	case p.draining.Load():
		return "shutting down"
	case !p.started.Load(), o.Starting != nil && o.Starting():
		return "starting"
	case p.o.UpstreamReadiness && p.upstreams.down(time.Now()):
		return "no upstream answers"
	}
	return ""
}
