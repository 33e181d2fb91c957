package admission

import (
	"net"
	"net/http"
	"testing"
)

// from is a connection from an address, which is told whether it was closed.
type from struct {
	net.Conn
	ip     string
	closed bool
}

func (f *from) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.ParseIP(f.ip), Port: 1000} }

func (f *from) Close() error { f.closed = true; return nil }

func TestConnectionsOfAnAddressAreLimited(t *testing.T) {
	const one, other = "192.0.2.1", "192.0.2.2"
	var c *Connections
	reports := 0
	open := func(ip string, served bool) *from {
		t.Helper()
		conn := &from{ip: ip}
		c.Changed(conn, http.StateNew)
		if conn.closed == served {
			t.Errorf("%s: served %v", ip, !served)
		}
		return conn
	}
	c = NewConnections(3, 0, func(int) { reports++ })
	first := open(one, true)
	open(one, true)
	open(one, true)
	open(one, false)
	open("::ffff:"+one, false)
	open(other, true)
	c.Changed(first, http.StateClosed)
	open(one, true)
	for range 3 { // of IPv6 the first half is what one client has
		open("2001:db8::1", true)
	}
	open("2001:db8::2", false)
	open("2001:db8:0:1::2", true)
	for range 10 {
		open("127.0.0.1", true)
		open("::1", true)
	}
	if reports != 1 {
		t.Errorf("%d reports in a minute", reports)
	}

	c = NewConnections(0, 2, func(int) {})
	c.Changed(open(one, true), http.StateActive) // it has sent a head
	silent := open(one, true)
	open(one, true)
	open(one, false)
	open(other, true)
	c.Changed(silent, http.StateActive)
	open(one, true)
}
