package proxy

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"laconic/proxy/apierror"
)

// guard refuses requests that no client of an API has a reason to send. It
// looks at the request line and a few headers, before anything is read.
type guard struct {
	loopback bool     // only loopback names as Host, no foreign Origin
	origins  []string // accepted beside loopback ones, lower case
	hosts    []string // of those origins
	mark     string   // our own, in Via; "" on the admin listener
}

// methods are those that the API knows. CONNECT would open a tunnel, TRACE
// shows credentials, PRI is the start of HTTP/2 on a listener without it.
var methods = []string{
	http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut,
	http.MethodPatch, http.MethodDelete, http.MethodOptions,
}

func newGuard(loopback bool, origins []string, mark string) guard {
	g := guard{loopback: loopback, mark: mark}
	for _, o := range origins {
		o = strings.TrimSuffix(strings.ToLower(o), "/")
		g.origins = append(g.origins, o)
		if u, err := url.Parse(o); err == nil && u.Host != "" {
			g.hosts = append(g.hosts, u.Host)
		}
	}
	return g
}

// check gives the reason to refuse a request, nil when there is none.
func (g *guard) check(r *http.Request) *apierror.Error {
	if !slices.Contains(methods, r.Method) {
		return &apierror.Error{
			Status: http.StatusMethodNotAllowed, Code: "method_not_allowed", Allow: strings.Join(methods, ", "),
			Message: "The proxy does not serve this method.", Close: true,
		}
	}
	if r.URL.Scheme != "" || r.URL.Host != "" || !strings.HasPrefix(r.URL.Path, "/") || wanders(r.URL) {
		return &apierror.Error{
			Status: http.StatusNotFound, Code: "path_not_served",
			Message: "The proxy serves plain paths only: no absolute URL, no dot segments.", Close: true,
		}
	}
	if g.loopback {
		if !g.hostAllowed(r.Host) {
			// A web page that resolves its own name to 127.0.0.1 (DNS
			// rebinding) is stopped by its Host alone.
			return &apierror.Error{
				Status: http.StatusForbidden, Code: "host_not_allowed",
				Message: "The proxy listens on loopback and accepts only loopback names as Host.",
				Hint:    "Call it as http://127.0.0.1, or add the origin to allowed_origins.",
			}
		}
		for _, o := range r.Header.Values("Origin") {
			if !g.originAllowed(o) {
				return &apierror.Error{
					Status: http.StatusForbidden, Code: "origin_not_allowed",
					Message: "The proxy does not serve web pages of this origin.",
					Hint:    "Add the origin to allowed_origins if it should.",
				}
			}
		}
	}
	if g.mark != "" {
		for _, v := range r.Header.Values("Via") {
			if strings.Contains(v, g.mark) {
				return &apierror.Error{
					Status: http.StatusLoopDetected, Code: "loop_detected", NoRetry: true,
					Message: "This request already passed through this proxy: its upstream leads back to it.",
				}
			}
		}
	}
	if up := r.Header.Values("Upgrade"); len(up) > 0 {
		if !onlyH2C(up) {
			// By 426, and by no other status, clients such as Codex know that
			// they have to go on without a WebSocket.
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

func onlyH2C(values []string) bool {
	for _, v := range values {
		for p := range strings.SplitSeq(v, ",") {
			if !strings.EqualFold(strings.TrimSpace(p), "h2c") {
				return false
			}
		}
	}
	return true
}

func (g *guard) hostAllowed(host string) bool {
	// Only HTTP/1.0 has no Host, and no browser speaks it.
	return host == "" || loopbackName(hostOf(host)) || slices.Contains(g.hosts, strings.ToLower(host))
}

func (g *guard) originAllowed(origin string) bool {
	origin = strings.ToLower(origin)
	if slices.Contains(g.origins, origin) || slices.Contains(g.origins, "*") {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && loopbackName(u.Hostname())
}

// hostOf is the host of host:port, without brackets.
func hostOf(host string) string {
	if h, _, err := net.SplitHostPort(host); err == nil {
		return h
	}
	return strings.Trim(host, "[]")
}

// loopbackName tells whether a name or address means this machine to every
// resolver: localhost and all below it (RFC 6761), 127.0.0.0/8, ::1.
func loopbackName(host string) bool {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// Loopback tells whether an address to listen on (host:port) is reachable from
// this machine only. No address at all counts as loopback, an empty or
// unspecified host does not.
func Loopback(listen string) bool {
	return listen == "" || loopbackName(hostOf(listen))
}
