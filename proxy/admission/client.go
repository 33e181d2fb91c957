package admission

import "net/netip"

// ClientAt names the client at an address (host:port): the IP, or of IPv6 its first
// 64 bits, which one client has to itself. What headers say of the address is not
// believed.
func ClientAt(address string) string {
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
