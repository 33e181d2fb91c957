package access

import (
	"net"
	"net/netip"
	"net/url"
	"strings"
)

// SameListener reports whether an upstream is the address we listen on, as far as
// that shows by its name; Via catches the rest.
func SameListener(u *url.URL, listen string) bool {
	host, port, err := net.SplitHostPort(listen)
	if err != nil || port == "0" || port != Port(u) {
		return false
	}
	to := u.Hostname()
	a, _ := netip.ParseAddr(host)
	b, _ := netip.ParseAddr(to)
	if a, b = a.Unmap(), b.Unmap(); a.Is4() && b.Is4() && !a.IsUnspecified() && !b.IsUnspecified() {
		return a == b
	}
	here := func(name string, ip netip.Addr) bool { return name == "" || loopbackName(name) || ip.IsUnspecified() }
	return strings.EqualFold(host, to) || here(host, a) && here(to, b)
}

// hostOf returns the host of host:port, without brackets.
func hostOf(host string) string {
	if h, _, err := net.SplitHostPort(host); err == nil {
		return h
	}
	return strings.Trim(host, "[]")
}

// loopbackName reports whether a name or address means this machine to every
// resolver: localhost and all below it (RFC 6761), 127.0.0.0/8, ::1.
func loopbackName(host string) bool {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// Loopback reports whether an address to listen on (host:port) can be reached from
// this machine only. "" counts as loopback, an empty or unspecified host does not.
func Loopback(listen string) bool {
	return listen == "" || loopbackName(hostOf(listen))
}

// SameOrigin reports whether two URLs have the same scheme, host and port.
func SameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && Port(a) == Port(b)
}

// Port returns the port of a URL, that of its scheme where it names none.
func Port(u *url.URL) string {
	switch {
	case u.Port() != "":
		return strings.TrimLeft(u.Port(), "0")
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}
