package proxy

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// validate says everything that makes these options impossible, at once.
func (o *Options) validate() error {
	var all []error
	wrong := func(format string, args ...any) { all = append(all, fmt.Errorf(format, args...)) }

	routes := append([]*Route{&o.Default}, o.Routes...)
	keyed := o.Summarizer != nil && o.Summarizer.Key != ""
	for i, r := range routes {
		name := "the default route"
		if i > 0 {
			name = fmt.Sprintf("route %q", r.Match)
		}
		if r.Policy == nil || r.Counter == nil {
			wrong("%s has no policy or no counter", name)
		}
		if r.Mode != "" && !slices.Contains(modes, r.Mode) || r.MinBody < 0 {
			wrong("%s has a mode that is none, or a negative size", name)
		}
		if err := checkUpstream(r.Upstream); err != nil {
			wrong("%s: %w", name, err)
		} else if sameListener(r.Upstream, o.Listen) {
			wrong("%s: the upstream is the proxy's own address %s", name, o.Listen)
		}
		if r.Key != "" {
			keyed = true
		} else if len(o.ClientKeys) > 0 {
			wrong("%s needs an api_key: with client_keys the client's own key is never sent on", name)
		}
	}
	if keyed && !Loopback(o.Listen) && len(o.ClientKeys) == 0 {
		wrong("listen %s is not loopback and an api_key is set: without client_keys everybody who reaches it could spend on that key", o.Listen)
	}
	for i, k := range o.ClientKeys {
		if strings.TrimSpace(string(k)) == "" {
			wrong("client key %d is empty", i+1)
		}
	}
	if s := o.Summarizer; s != nil {
		for _, err := range s.faults(o) {
			wrong("the summarizer: %w", err)
		}
	}
	for _, origin := range o.AllowedOrigins {
		u, err := url.Parse(origin)
		if origin != "*" && (err != nil || u.Scheme == "" || u.Host == "" || strings.Trim(u.Path, "/") != "") {
			wrong("allowed origin %q is not of the form https://host", origin)
		}
	}
	l := o.Limits
	if l.Body < 0 || l.Memory < 0 || l.Connections < 0 || l.Header < 0 || l.ResponseHeader < 0 || l.StreamIdle < 0 || l.Shutdown < 0 {
		wrong("a limit is negative")
	} else if l = l.withDefaults(); l.Body > l.Memory {
		wrong("limits.memory (%s) is below limits.body (%s)", megabytes(l.Memory), megabytes(l.Body))
	}
	return errors.Join(all...)
}

// checkUpstream says what is wrong with a base URL. The URL itself is not
// shown: it may hold a password.
func checkUpstream(u *url.URL) error {
	switch {
	case u == nil:
		return errors.New("it has no upstream")
	case u.Scheme != "http" && u.Scheme != "https":
		return errors.New("the upstream is not an http or https URL")
	case u.Hostname() == "" || u.Opaque != "":
		return errors.New("the upstream has no host")
	case u.User != nil:
		return errors.New("the upstream's URL holds a user or password: use api_key")
	case u.Fragment != "":
		return errors.New("the upstream's URL has a fragment")
	case wanders(u):
		return errors.New("the upstream's path has dot segments")
	}
	return nil
}

// sameListener tells whether an upstream is the address we listen on, as far
// as that can be told without asking a name server; Via catches the rest.
func sameListener(u *url.URL, listen string) bool {
	host, port, err := net.SplitHostPort(listen)
	if err != nil || port == "0" || port != portOf(u) {
		return false
	}
	to := u.Hostname()
	if strings.EqualFold(host, to) {
		return true
	}
	everywhere := host == ""
	if ip, err := netip.ParseAddr(host); err == nil {
		everywhere = ip.IsUnspecified()
	}
	if loopbackName(to) {
		return everywhere || loopbackName(host) && sameLoopback(host, to)
	}
	return everywhere && ownAddress(to)
}

// sameLoopback tells whether two loopback names may be the same address:
// 127.0.0.1 and 127.0.0.2 are not, localhost may be any.
func sameLoopback(a, b string) bool {
	x, errX := netip.ParseAddr(a)
	y, errY := netip.ParseAddr(b)
	return errX != nil || errY != nil || x.Unmap() == y.Unmap()
}

// ownAddress tells whether host is an address of this machine.
func ownAddress(host string) bool {
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return false
	}
	if ip.IsUnspecified() {
		return true
	}
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return false
	}
	for _, a := range addrs {
		if prefix, err := netip.ParsePrefix(a.String()); err == nil && prefix.Addr().Unmap() == ip.Unmap() {
			return true
		}
	}
	return false
}
