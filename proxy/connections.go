package proxy

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// headless is how many connections of one address may be open whose first head
// is not complete. Each has Limits.Header for that.
const headless = 256

// tellAgain is how long it is silent after connections were said to be closed.
const tellAgain = time.Minute

// connections counts those that are open, by their address, and closes what is
// too much. Loopback addresses are not limited: every client behind a proxy on
// this machine has the same.
type connections struct {
	most   int // of one address; 0: any number
	failed func(FaultInfo)

	mu        sync.Mutex
	open      map[net.Conn]*opened
	byNetwork map[string]*tally
	closed    int       // since it was told
	told      time.Time // when it was
}

// opened is one connection.
type opened struct {
	network  string
	headless bool
}

// tally is what one address has open.
type tally struct{ all, headless int }

func newConnections(most int, failed func(FaultInfo)) *connections {
	return &connections{most: most, failed: failed, open: map[net.Conn]*opened{}, byNetwork: map[string]*tally{}}
}

// changed is the ConnState of an http.Server.
func (c *connections) changed(conn net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		if !c.add(conn) {
			_ = conn.Close() // before anything is read of it
			c.tell()
		}
	case http.StateActive:
		c.complete(conn)
	case http.StateHijacked, http.StateClosed:
		c.remove(conn)
	}
}

// add counts a new connection. It reports false for one that is too much.
func (c *connections) add(conn net.Conn) bool {
	address := conn.RemoteAddr().String()
	if a, err := netip.ParseAddrPort(address); err != nil || a.Addr().Unmap().IsLoopback() {
		return true
	}
	network := networkOf(address)
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.byNetwork[network]
	if n == nil {
		n = &tally{}
		c.byNetwork[network] = n
	}
	if n.headless >= headless || c.most > 0 && n.all >= c.most {
		return false
	}
	n.all++
	n.headless++
	c.open[conn] = &opened{network, true}
	return true
}

// complete notes that a connection sent a head.
func (c *connections) complete(conn net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if o := c.open[conn]; o != nil && o.headless {
		o.headless = false
		c.byNetwork[o.network].headless--
	}
}

func (c *connections) remove(conn net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	o := c.open[conn]
	if o == nil {
		return
	}
	delete(c.open, conn)
	n := c.byNetwork[o.network]
	n.all--
	if o.headless {
		n.headless--
	}
	if n.all == 0 {
		delete(c.byNetwork, o.network)
	}
}

// tell says that a connection was closed, and how many were since that was said
// last.
func (c *connections) tell() {
	c.mu.Lock()
	c.closed++
	n, now := c.closed, time.Now()
	if !c.told.IsZero() && now.Sub(c.told) < tellAgain {
		c.mu.Unlock()
		return
	}
	c.closed, c.told = 0, now
	c.mu.Unlock()
	c.failed(FaultInfo{Where: "connections", What: fmt.Sprintf("closed %d: their address has too many open", n), Peer: true})
}
