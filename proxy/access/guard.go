package access

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"laconic/proxy/apierror"
)

// Guard refuses requests that no client of an API has a reason to send, by their
// request line and a few headers, before anything of the body is read.
type Guard struct {
	loopback bool     // only loopback names as Host, no foreign Origin
	origins  []string // accepted beside loopback ones, lower case
	hosts    []string // of those origins
	mark     string   // this process's, in Via; "" on the admin listener
}

// Methods are those that the API knows. CONNECT would open a tunnel, TRACE
// shows credentials, PRI is the start of HTTP/2 on a listener without it.
var Methods = []string{
	http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut,
	http.MethodPatch, http.MethodDelete, http.MethodOptions,
}

// NewGuard makes a guard. On a loopback listener only loopback names and the
// hosts of origins are accepted as Host, and only loopback origins and origins
// as Origin. A request whose Via holds mark came through this process before.
func NewGuard(loopback bool, origins []string, mark string) Guard {
	g := Guard{loopback: loopback, mark: mark}
	for _, o := range origins {
		o = strings.TrimSuffix(strings.ToLower(o), "/")
		g.origins = append(g.origins, o)
		if u, err := url.Parse(o); err == nil && u.Host != "" {
			g.hosts = append(g.hosts, u.Host)
		}
	}
	return g
}

// Check returns why a request is refused, or nil.
func (g *Guard) Check(r *http.Request) *apierror.Error {
	if !slices.Contains(Methods, r.Method) {
		return &apierror.Error{
			Status: http.StatusMethodNotAllowed, Code: "method_not_allowed", Allow: strings.Join(Methods, ", "),
			Message: "The proxy does not serve this method.", Close: true,
		}
	}
	if r.URL.Scheme != "" || r.URL.Host != "" || !strings.HasPrefix(r.URL.Path, "/") || hasDotSegment(r.URL) {
		return &apierror.Error{
			Status: http.StatusNotFound, Code: "path_not_served",
			Message: "The proxy serves plain paths only: no absolute URL, no dot segments.", Close: true,
		}
	}
	if g.loopback {
		// Only HTTP/1.0 has no Host, and no browser speaks it.
		if r.Host != "" && !loopbackName(hostOf(r.Host)) && !slices.Contains(g.hosts, strings.ToLower(r.Host)) {
			// A web page that resolves its own name to 127.0.0.1 (DNS
			// rebinding) is stopped by its Host alone.
			return &apierror.Error{
				Status: http.StatusForbidden, Code: "host_not_allowed",
				Message: "The proxy listens on loopback and accepts only loopback names as Host.",
				Hint:    "Call it as http://127.0.0.1, or add the origin to allowed_origins.",
			}
		}
		if slices.ContainsFunc(r.Header.Values("Origin"), g.originForeign) {
			return &apierror.Error{
				Status: http.StatusForbidden, Code: "origin_not_allowed",
				Message: "The proxy does not serve web pages of this origin.",
				Hint:    "Add the origin to allowed_origins if it should.",
			}
		}
	}
	if g.mark != "" && strings.Contains(strings.Join(r.Header.Values("Via"), ","), g.mark) {
		return &apierror.Error{
			Status: http.StatusLoopDetected, Code: "loop_detected", NoRetry: true,
			Message: "This request already passed through this proxy: its upstream leads back to it.",
		}
	}
	if up := r.Header.Values("Upgrade"); len(up) > 0 {
		offers := strings.Split(strings.Join(up, ","), ",")
		if slices.ContainsFunc(offers, func(p string) bool { return !strings.EqualFold(strings.TrimSpace(p), "h2c") }) {
			// Clients such as Codex go on without a WebSocket after a 426, and
			// after no other status.
			return &apierror.Error{
				Status: http.StatusUpgradeRequired, Code: "upgrade_not_served", Close: true,
				Message: "The proxy does not serve WebSockets or other upgrades.", Hint: "Send the request over HTTP, without an upgrade.",
			}
		}
		// Java's HttpClient offers h2c on every cleartext request. RFC 9110
		// §7.8 lets a server ignore that; the upstream must not see it.
		r.Header.Del("Upgrade")
		r.Header.Del("Http2-Settings")
	}
	return nil
}

func (g *Guard) originForeign(origin string) bool {
	origin = strings.ToLower(origin)
	if slices.Contains(g.origins, origin) || slices.Contains(g.origins, "*") {
		return false
	}
	u, err := url.Parse(origin)
	return err != nil || u.Scheme != "http" && u.Scheme != "https" || !loopbackName(u.Hostname())
}
