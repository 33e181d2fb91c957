// Package operate is the operator's side of a proxy: the admin listener, and what
// requests have shown of the upstreams and of their own ends.
//
// It promises:
//
//   - separate: nothing here can be reached by a client of the API.
//   - closed: others than this machine need a token for every page but the two that
//     probes read, and only a page of the same address changes something.
//   - seen, not probed: the state of an upstream is what requests have shown.
package operate

import (
	"cmp"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"laconic/proxy/access"
	"laconic/proxy/apierror"
	"laconic/proxy/wire"
)

// Options are what the admin listener shows.
type Options struct {
	// Listen is its address, host:port; "" counts as loopback.
	Listen string
	// Notes are further lines for /readyz?verbose, each with its end; nil: none.
	Notes func() string
	// SignIn is the path of the page that asks a browser for the token; "": none does.
	SignIn string
	// Pages are served beside /healthz and /readyz.
	Pages []Page
}

// Page is a page of the admin listener. A request for it has passed the listener's
// guard and its token.
type Page struct {
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

// Admin serves the admin listener: GET /healthz says that the process lives, GET
// /readyz whether it is ready for requests. /readyz?verbose also says what requests
// have shown of the upstreams, and what was learnt of them and their models. A kubelet
// or a balancer has no token, so these two say a word each without one.
type Admin struct {
	Options
	// Access returns the token that is in force, "" where none is asked for, and the origins
	// whose pages may be served on loopback.
	Access   func() (token access.Secret, origins []string)
	Sessions *access.Sessions
	NotReady func() string         // why requests should go elsewhere; "": they need not
	Words    func() string         // for /readyz?verbose
	Wrong    func(r *http.Request) // is told of a request with a token that is not the right one; nil: nobody is
}

// bodyTime is the time in which a body must arrive: the longest is a form of a few
// lines.
const bodyTime = 5 * time.Second

// readOnly are the methods of a page that can only be read.
var readOnly = []string{http.MethodGet, http.MethodHead}

// ServeHTTP serves one page.
func (a *Admin) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	page, absent := a.pageFor(r)
	if r.ContentLength != 0 { // else the server waits for the body before it answers
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTime))
	}
	no := a.check(page, w, r)
	if no != nil && no.Status == http.StatusUnauthorized && page != nil && page.Browser && a.SignIn != "" &&
		r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), "text/html") {
		http.Redirect(w, r, a.SignIn, http.StatusSeeOther)
		return
	}
	if no = cmp.Or(no, absent); no != nil {
		message, kind := no.Said()
		no.Write(w, wire.Chat.Error(wire.Error{Message: message, Type: kind, Param: no.Param, Code: no.Code}))
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	page.Handler.ServeHTTP(w, r)
}

// check returns why a request is refused, or nil. page is nil where there is none. The
// connection of a request without the token ends with its answer. A client could
// otherwise keep many of them by asking for /healthz now and then, until the process is
// out of file descriptors.
func (a *Admin) check(page *Page, w http.ResponseWriter, r *http.Request) *apierror.Error {
	token, origins := a.Access()
	var keys access.ClientKeys
	if token != "" {
		keys = access.HashKeys(token)
	}
	no, signedIn := keys.Check(r.Header), false
	holds := no == nil || a.Sessions.Holds(r, token, time.Now())
	if !holds {
		w.Header().Set("Connection", "close")
	}
	guard := access.NewGuard(access.Loopback(a.Listen), origins, "")
	if foreign := guard.Check(r); foreign != nil {
		return foreign
	}
	switch {
	case no == nil:
	case page != nil && page.Open && !r.URL.Query().Has("verbose"):
		no = nil
	case page != nil && page.Browser && holds:
		no, signedIn = nil, true
	}
	if no != nil && no.Status == http.StatusUnauthorized && r.Header.Get("Authorization") != "" && a.Wrong != nil {
		a.Wrong(r)
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

// pageFor returns the page that a request is for: the one of its path, or the one
// with the longest path above it.
func (a *Admin) pageFor(r *http.Request) (page *Page, no *apierror.Error) {
	healthz := func(w http.ResponseWriter, _ *http.Request) { Say(w, http.StatusOK, "ok\n") }
	own := []Page{{Path: "/healthz", Open: true, Handler: http.HandlerFunc(healthz)}, {Path: "/readyz", Open: true, Handler: http.HandlerFunc(a.readyz)}}
	for _, p := range append(own, a.Pages...) {
		below := len(p.Path) > 1 && strings.HasSuffix(p.Path, "/") && strings.HasPrefix(r.URL.Path, p.Path)
		if (r.URL.Path == p.Path || below) && (page == nil || len(p.Path) > len(page.Path)) {
			page = &p
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

func (a *Admin) readyz(w http.ResponseWriter, r *http.Request) {
	status, says := http.StatusOK, "ready\n"
	if why := a.NotReady(); why != "" {
		status, says = http.StatusServiceUnavailable, why+"\n"
	}
	if r.URL.Query().Has("verbose") {
		says += a.Words()
		if a.Notes != nil {
			says += a.Notes()
		}
	}
	Say(w, status, says)
}

// Say answers with plain text.
func Say(w http.ResponseWriter, status int, says string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, says)
}
