package proxy

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"laconic/proxy/access"
	"laconic/proxy/apierror"
	"laconic/proxy/wire"
)

// AdminOptions are what the admin listener shows. Options says who may see it.
type AdminOptions struct {
	// Listen is its address, host:port; "" counts as loopback.
	Listen string
	// Starting reports whether the process still prepares what requests need;
	// nil: it does not.
	Starting func() bool
	// Notes are further lines for /readyz?verbose, each with its end; nil: none.
	Notes func() string
	// SignIn is the path of the page that asks a browser for the token; "": none does.
	SignIn string
	// Pages are served beside the proxy's own.
	Pages []AdminPage
}

// AdminPage is a page of the admin listener. A request for it has passed the
// listener's guard and its token.
type AdminPage struct {
	// Path is the page's path; one that ends in "/" stands for all below it, but for
	// "/" itself.
	Path string
	// Methods are what it takes; nil: GET and HEAD. A page of another site may not
	// use another one.
	Methods []string
	// Browser: who has signed in may see it, too. Open: everybody may, such as a
	// form that asks for the token; with ?verbose it asks for the token itself.
	Browser, Open bool
	Handler       http.Handler
}

// adminBody is the time in which a body must arrive: the longest is a form of a
// few lines.
const adminBody = 5 * time.Second

// readOnly are the methods of a page that can only be read.
var readOnly = []string{http.MethodGet, http.MethodHead}

// Admin is a server for the admin listener, which is separate, so that nothing
// on it can be reached by a client of the API: GET /healthz says that the
// process lives, GET /readyz whether it is ready for requests: 503 while it
// starts or shuts down and, with Options.UpstreamReadiness, while no upstream
// answers. /readyz?verbose also says what requests have shown of the upstreams,
// and what was learnt of them and their models. Other pages are o.Pages. Where
// others reach the listener its pages ask for the token, but for the two that
// probes read: a kubelet or a balancer has none, and they say a word each.
func (p *Proxy) Admin(o AdminOptions) (*http.Server, error) {
	if !access.Loopback(o.Listen) {
		if p.settings.Load().AdminToken == "" {
			return nil, errAdminOpen
		}
		p.adminOpen.Store(true)
	}
	pages := append([]AdminPage{
		{Path: "/healthz", Open: true, Handler: textPage(func(*http.Request) (int, string) { return http.StatusOK, "ok\n" })},
		{Path: "/readyz", Open: true, Handler: textPage(func(r *http.Request) (int, string) { return p.ready(r, &o) })},
	}, o.Pages...)
	return p.server(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		page, absent := pageFor(pages, r)
		if r.ContentLength != 0 { // else the server waits for the body before it answers
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(adminBody))
		}
		no := p.checkAdmin(page, r, access.Loopback(o.Listen))
		if no != nil && no.Status == http.StatusUnauthorized && page != nil && page.Browser && o.SignIn != "" &&
			r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), "text/html") {
			http.Redirect(w, r, o.SignIn, http.StatusSeeOther)
			return
		}
		if no == nil {
			no = absent
		}
		if no != nil {
			writeError(w, wire.Chat, no)
			return
		}
		w.Header().Set("Cache-Control", "no-store")
		page.Handler.ServeHTTP(w, r)
	})), nil
}

var errAdminOpen = errors.New("the admin listener is not on loopback and has no token")

// checkAdmin returns why a request to the admin listener is refused, or nil. page
// is nil where there is none.
func (p *Proxy) checkAdmin(page *AdminPage, r *http.Request, loopback bool) *apierror.Error {
	s := p.settings.Load()
	guard := access.NewGuard(loopback, s.AllowedOrigins, "")
	if no := guard.Check(r); no != nil {
		return no
	}
	no, signedIn := s.adminKey.Check(r.Header), false
	switch {
	case no == nil:
	case page != nil && page.Open && !r.URL.Query().Has("verbose"):
		no = nil
	case page != nil && page.Browser && p.sessions.Holds(r, s.AdminToken, time.Now()):
		no, signedIn = nil, true
	}
	if no != nil || slices.Contains(readOnly, r.Method) || access.OwnOrigin(r) {
		return no
	}
	if signedIn || len(r.Header.Values("Origin")) > 0 {
		return &apierror.Error{
			Status: http.StatusForbidden, Code: "origin_not_allowed",
			Message: "Only a page of this address may change something here.",
		}
	}
	return nil
}

// SignIn lets a browser in that presents the token, and reports whether it does. It
// sees the pages for browsers then.
func (p *Proxy) SignIn(w http.ResponseWriter, token string) bool {
	in := p.sessions.Start(w, p.settings.Load().AdminToken, token, time.Now())
	if !in {
		p.listener.Failed(FaultInfo{Where: "sign-in", What: "a browser presented a token that is not the admin_token", Peer: true})
	}
	return in
}

// SignOut ends that.
func (p *Proxy) SignOut(w http.ResponseWriter) { p.sessions.End(w) }

// AsksForToken reports whether the admin listener asks for a token.
func (p *Proxy) AsksForToken() bool { return p.settings.Load().AdminToken != "" }

// pageFor returns the page that a request is for: that of its path, or the one
// with the longest path above it.
func pageFor(pages []AdminPage, r *http.Request) (page *AdminPage, no *apierror.Error) {
	for i := range pages {
		c := &pages[i]
		if r.URL.Path != c.Path && !(len(c.Path) > 1 && strings.HasSuffix(c.Path, "/") && strings.HasPrefix(r.URL.Path, c.Path)) {
			continue
		}
		if page == nil || len(c.Path) > len(page.Path) {
			page = c
		}
	}
	if page == nil {
		return nil, &apierror.Error{Status: http.StatusNotFound, Code: "path_not_served", Message: "There is no such page."}
	}
	methods, message := page.Methods, "This page does not take this method."
	if methods == nil {
		methods, message = readOnly, "This page can only be read."
	}
	if !slices.Contains(methods, r.Method) {
		return nil, &apierror.Error{
			Status: http.StatusMethodNotAllowed, Code: "method_not_allowed", Allow: strings.Join(methods, ", "), Message: message,
		}
	}
	return page, nil
}

// textPage serves what f returns as plain text.
func textPage(f func(*http.Request) (status int, text string)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status, text := f(r)
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	})
}

// ready is the page that says whether the process is ready for requests.
func (p *Proxy) ready(r *http.Request, o *AdminOptions) (status int, text string) {
	status, text = http.StatusOK, "ready\n"
	if why := p.notReady(o); why != "" {
		status, text = http.StatusServiceUnavailable, why+"\n"
	}
	if r.URL.Query().Has("verbose") {
		text += p.upstreams.words() + p.learnt.Describe()
		if o.Notes != nil {
			text += o.Notes()
		}
	}
	return status, text
}

// notReady returns why requests should go elsewhere; "" when they need not.
func (p *Proxy) notReady(o *AdminOptions) string {
	switch {
	case p.draining.Load():
		return "shutting down"
	case !p.started.Load(), o.Starting != nil && o.Starting():
		return "starting"
	}
	if s := p.settings.Load(); s.UpstreamReadiness && p.upstreams.down(s.origins(), time.Now()) {
		return "no upstream answers"
	}
	return ""
}
