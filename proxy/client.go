package proxy

import (
	"net/http"
	"net/netip"
	"strconv"
)

// clientOf names who sends a request, for sharing out memory: by the client key
// where there are such keys, else by the address of the connection. What a
// header says of the address is not believed.
func (p *Proxy) clientOf(r *http.Request) string {
	if len(p.keys) > 0 {
		return "key " + strconv.Itoa(p.keys.Index(r.Header))
	}
	return networkOf(r.RemoteAddr)
}

// networkOf is what an address (host:port) is limited by: itself, or of IPv6 its
// first 64 bits, which a single client has whole.
func networkOf(address string) string {
	a, err := netip.ParseAddrPort(address)
	if err != nil {
		return address
	}
	ip := a.Addr().Unmap().WithZone("")
	if ip.Is4() {
		return ip.String()
	}
	prefix, _ := ip.Prefix(64)
	return prefix.String()
}
