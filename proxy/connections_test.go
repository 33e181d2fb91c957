package proxy

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// elsewhere is a listener whose connections come from addresses that a test
// names, in the order in which it dials.
type elsewhere struct {
	net.Listener
	from chan string
}

type connFrom struct {
	net.Conn
	from *net.TCPAddr
}

func (c connFrom) RemoteAddr() net.Addr { return c.from }

func (l elsewhere) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return connFrom{conn, &net.TCPAddr{IP: net.ParseIP(<-l.from), Port: 1000}}, nil
}

// reached is a proxy that clients reach from any address.
type reached struct {
	t      *testing.T
	l      elsewhere
	mu     sync.Mutex
	faults []FaultInfo
}

func reach(t *testing.T, limits Limits) *reached {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &reached{t: t, l: elsewhere{l, make(chan string, 1)}}
	o := options(newUpstream(t, nil).base(t, "/v1"))
	o.Limits = limits
	o.Listener.Failed = func(i FaultInfo) { r.mu.Lock(); defer r.mu.Unlock(); r.faults = append(r.faults, i) }
	p, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- p.Serve(ctx, r.l) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return r
}

// dial opens a connection from an address.
func (r *reached) dial(from string) net.Conn {
	r.t.Helper()
	r.l.from <- from
	return dial(r.t, r.l.Addr().String())
}

// serves reports whether a request is answered on a connection.
func (r *reached) serves(conn net.Conn) bool {
	r.t.Helper()
	request := "GET /v1/models HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: 198.51.100." + time.Now().Format("5") + "\r\n\r\n"
	_, _ = io.WriteString(conn, request) // one that was closed may say so here
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return false
	}
	_, _ = io.Copy(io.Discard, res.Body)
	return res.StatusCode == 200
}

func (r *reached) want(conn net.Conn, served bool) {
	r.t.Helper()
	if r.serves(conn) != served {
		r.t.Errorf("served: %v, want %v", !served, served)
	}
}

func TestConnectionsOfAnAddressAreLimited(t *testing.T) {
	r := reach(t, Limits{Connections: 3})
	const one, other = "192.0.2.1", "192.0.2.2"
	var open []net.Conn
	for range 3 {
		conn := r.dial(one)
		r.want(conn, true)
		open = append(open, conn)
	}
	r.want(r.dial(one), false)
	r.want(r.dial("::ffff:"+one), false)
	r.want(r.dial(other), true)
	r.want(open[0], true) // those that are open go on
	_ = open[0].Close()
	eventually(t, "there is a place again", func() bool { return r.serves(r.dial(one)) })
	for range 3 { // of IPv6 the first half is what one client has
		r.want(r.dial("2001:db8::1"), true)
	}
	r.want(r.dial("2001:db8::2"), false)
	r.want(r.dial("2001:db8:0:1::2"), true)
	for range 10 {
		r.want(r.dial("127.0.0.1"), true)
		r.want(r.dial("::1"), true)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.faults) != 1 || r.faults[0].Where != "connections" || strings.Contains(r.faults[0].What, one) {
		t.Errorf("told: %+v", r.faults)
	}
}

func TestConnectionsWithoutAHeadAreLimited(t *testing.T) {
	r := reach(t, Limits{Heads: 256})
	const one, other = "192.0.2.1", "192.0.2.2"
	for range 256 {
		_, _ = io.WriteString(r.dial("127.0.0.1"), "GET ")
	}
	r.want(r.dial("127.0.0.1"), true)
	complete := r.dial(one)
	r.want(complete, true)
	var silent []net.Conn
	for range 256 {
		silent = append(silent, r.dial(one))
	}
	_, _ = io.WriteString(silent[0], "GET /v1/models HTTP/1.1\r\nHo")
	r.want(r.dial(one), false)
	r.want(r.dial(other), true)
	r.want(complete, true)
	r.want(silent[1], true) // and has sent one now
	r.want(r.dial(one), true)
}
