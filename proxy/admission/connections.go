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
	open     map[net.Conn]*connection
	clients  map[string]*connectionCount
	closed   int // since the last report
	reported time.Time
}

type connection struct {
	client  string
	hasHead bool
}

// connectionCount is how many connections one address has open.
type connectionCount struct{ all, withoutHead int }

// NewConnections makes a limit of most connections of one address, and of heads
// that did not send a complete request head yet; 0: any number. It calls report, now and then, with the number of connections that were closed.
func NewConnections(most, heads int, report func(closed int)) *Connections {
	return &Connections{most: most, heads: heads, report: report, open: map[net.Conn]*connection{}, clients: map[string]*connectionCount{}}
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
	switch state {
	case http.StateNew:
		if !c.add(conn) {
			_ = conn.Close() // before anything is read from it
			c.count()
		}
	case http.StateActive:
		c.gotHead(conn)
	case http.StateHijacked, http.StateClosed:
		c.remove(conn)
	}
}

// add counts a new connection. It reports false if that is one too many.
func (c *Connections) add(conn net.Conn) bool {
	address := conn.RemoteAddr().String()
	if a, err := netip.ParseAddrPort(address); err != nil || a.Addr().Unmap().IsLoopback() {
		return true
	}
	client := ClientAt(address)
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.clients[client]
	if n == nil {
		n = &connectionCount{}
		c.clients[client] = n
	}
	if c.heads > 0 && n.withoutHead >= c.heads || c.most > 0 && n.all >= c.most {
		return false
	}
	n.all++
	n.withoutHead++
	c.open[conn] = &connection{client: client}
	return true
}

// gotHead notes that a connection sent a complete head.
func (c *Connections) gotHead(conn net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if o := c.open[conn]; o != nil && !o.hasHead {
		o.hasHead = true
		c.clients[o.client].withoutHead--
	}
}

func (c *Connections) remove(conn net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	o := c.open[conn]
	if o == nil {
		return
	}
	delete(c.open, conn)
	n := c.clients[o.client]
	n.all--
	if !o.hasHead {
		n.withoutHead--
	}
	if n.all == 0 {
		delete(c.clients, o.client)
	}
}

// count counts a closed connection, and reports all of them if the last report was
// long ago.
func (c *Connections) count() {
	c.mu.Lock()
	c.closed++
	n, now := c.closed, time.Now()
	if now.Sub(c.reported) < reportPause {
		c.mu.Unlock()
		return
	}
	c.closed, c.reported = 0, now
	c.mu.Unlock()
	c.report(n)
}
