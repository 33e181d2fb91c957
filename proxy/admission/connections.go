package admission

import (
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// reportPause is the time between two reports of closed connections.
const reportPause = time.Minute

// Connections counts the open connections of each address, and closes those that
// are too many. Loopback addresses are not limited: all clients behind a proxy on
// this machine share one.
type Connections struct {
	most   int              // of one address; 0: any number
	heads  int              // of those, without a complete request head; 0: any number
	report func(closed int) // since the last report

	mu       sync.Mutex
	clients  map[string]*connections
	closed   int // since the last report
	reported time.Time
}

// connections are those of one address.
type connections struct {
	hasHead map[net.Conn]bool
	heads   int // how many have one
}

// NewConnections makes a limit of most connections of one address, and of heads
// that did not send a complete request head yet; 0: any number. It calls report, now
// and then, with the number of connections that were closed.
func NewConnections(most, heads int, report func(closed int)) *Connections {
	return &Connections{most: most, heads: heads, report: report, clients: map[string]*connections{}}
}

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

// Changed is the ConnState of an http.Server.
func (c *Connections) Changed(conn net.Conn, state http.ConnState) {
	address := conn.RemoteAddr().String()
	if a, err := netip.ParseAddrPort(address); err != nil || a.Addr().Unmap().IsLoopback() {
		return
	}
	if closed := c.changed(conn, ClientAt(address), state); closed > 0 {
		c.report(closed)
	}
}

// changed notes the state of a client's connection, and closes it if it is new and
// one too many. It returns how many were closed if that is to be reported.
func (c *Connections) changed(conn net.Conn, client string, state http.ConnState) (closed int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	open := c.clients[client]
	if open == nil {
		open = &connections{hasHead: map[net.Conn]bool{}}
	}
	head, counted := open.hasHead[conn]
	switch state {
	case http.StateNew:
		all := len(open.hasHead)
		if (c.most == 0 || all < c.most) && (c.heads == 0 || all-open.heads < c.heads) {
			open.hasHead[conn] = false
			c.clients[client] = open
			return 0
		}
		_ = conn.Close() // before anything is read from it
		c.closed++
		if now := time.Now(); now.Sub(c.reported) >= reportPause {
			closed, c.closed, c.reported = c.closed, 0, now
		}
	case http.StateActive:
		if counted && !head {
			open.hasHead[conn] = true
			open.heads++
		}
	case http.StateHijacked, http.StateClosed:
		if head {
			open.heads--
		}
		if delete(open.hasHead, conn); len(open.hasHead) == 0 {
			delete(c.clients, client)
		}
	}
	return closed
}
