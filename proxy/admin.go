package proxy

import (
	"errors"
	"io"
	"net/http"
)

// AdminOptions are how the admin listener is protected.
type AdminOptions struct {
	// Listen is its address, host:port; "" counts as loopback.
	Listen string
	// Token must be sent as bearer token. Required where Listen is not
	// loopback; "" asks for none.
	Token Secret
	// AllowedOrigins are as in Options.
	AllowedOrigins []string
	// Notes are further lines for /readyz?verbose, each with its end; nil: none.
	Notes func() string
}

// Admin is a server for the admin listener, which is separate, so that nothing
// on it can be reached by a client of the API: GET /healthz says that the
// process lives, GET /readyz that it is configured and not shutting down;
// /readyz?verbose also says what was learnt of models and their upstreams.
func (p *Proxy) Admin(o AdminOptions) (*http.Server, error) {
	if !Loopback(o.Listen) && o.Token == "" {
		return nil, errors.New("the admin listener is not on loopback and has no token")
	}
	guard := newGuard(Loopback(o.Listen), o.AllowedOrigins, "")
	var keys clientKeys
	if o.Token != "" {
		keys = hashKeys([]Secret{o.Token})
	}
	return p.server(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		no := guard.check(r)
		if no == nil {
			no = keys.check(r.Header)
		}
		if no == nil {
			no = p.admin(w, r, o.Notes)
		}
		if no != nil {
			no.write(w)
		}
	})), nil
}

// admin serves the pages of the admin listener.
func (p *Proxy) admin(w http.ResponseWriter, r *http.Request, notes func() string) *refusal {
	status, text := http.StatusOK, ""
	switch r.URL.Path {
	case "/healthz":
		text = "ok\n"
	case "/readyz":
		text = "ready\n"
		if r.URL.Query().Has("verbose") {
			text += p.known()
			if notes != nil {
				text += notes()
			}
		}
		if p.draining.Load() {
			status, text = http.StatusServiceUnavailable, "shutting down\n"
		}
	default:
		return &refusal{Status: http.StatusNotFound, Code: "path_not_served", Message: "There is no such page."}
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return &refusal{
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
