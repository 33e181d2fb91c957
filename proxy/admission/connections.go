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
	clients  map[string]map[net.Conn]bool // the open ones, and whether they have brought a head
	ended    bool
	closed   int // since the last report
	reported time.Time
}

// NewConnections makes a limit of most connections of one address, and of heads
// that did not send a complete request head yet; 0: any number. It calls report, now
// and then, with the number of connections that were closed.
func NewConnections(most, heads int, report func(closed int)) *Connections {
	return &Connections{most: most, heads: heads, report: report, clients: map[string]map[net.Conn]bool{}}
}

// ClientAt names the client at an address (host:port): the IP, or the first 64 bits of
// an IPv6, which one client has to itself. Headers with an address are not believed.
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

// Changed is the ConnState of an http.Server. It closes a connection that is new and
// one too many.
func (c *Connections) Changed(conn net.Conn, state http.ConnState) {
	address, closed := conn.RemoteAddr().String(), 0
	a, err := netip.ParseAddrPort(address)
	client, limited := ClientAt(address), err == nil && !a.Addr().Unmap().IsLoopback()
	defer func() { // without the lock
		if closed > 0 {
			c.report(closed)
		}
	}()
	c.mu.Lock()
	defer c.mu.Unlock()
	open := c.clients[client]
	switch state {
	case http.StateNew:
		switch {
		case c.ended:
			_ = conn.Close()
			return
		case limited && c.areMost(open):
			_ = conn.Close() // before anything is read from it
			c.closed++
			if now := time.Now(); now.Sub(c.reported) >= reportPause {
				closed, c.closed, c.reported = c.closed, 0, now
			}
			return
		case open == nil:
			open = map[net.Conn]bool{}
			c.clients[client] = open
		}
		open[conn] = false
	case http.StateActive:
		if _, counted := open[conn]; counted {
			open[conn] = true
		}
	case http.StateHijacked, http.StateClosed:
		if delete(open, conn); len(open) == 0 {
			delete(c.clients, client)
		}
	}
}

// areMost reports whether no connection may be added to some of one client.
func (c *Connections) areMost(open map[net.Conn]bool) bool {
	waiting := 0
	for _, head := range open {
		if !head {
			waiting++
		}
	}
	return c.most > 0 && len(open) >= c.most || c.heads > 0 && waiting >= c.heads
}

// End closes the connections that have brought no head, and those that are still to
// come: a server that shuts down serves none of their requests, and waits seconds for
// them.
func (c *Connections) End() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	for _, open := range c.clients {
		for conn, head := range open {
			if !head {
				_ = conn.Close()
			}
		}
	}
}
