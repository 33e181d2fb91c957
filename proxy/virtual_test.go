package proxy

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"testing"
)

// pipes is a listener whose connections are net.Pipes: nothing on them waits
// for a kernel, so a virtual clock can run.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
}

func newPipes() *pipes { return &pipes{make(chan net.Conn), make(chan struct{})} }

func (l *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *pipes) Close() error {
	select {
	case <-l.done:
	default:
		close(l.done)
	}
	return nil
}

func (l *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }

func (l *pipes) dial(context.Context, string, string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case l.conns <- theirs:
		return ours, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

// virtual is a proxy and an upstream in a synctest bubble.
type virtual struct {
	p    *Proxy
	in   *pipes
	all  chan ReplyInfo
	stop func() // tells Serve to end
}

func newVirtual(t *testing.T, reply http.HandlerFunc, change ...func(*Options)) *virtual {
	t.Helper()
	if reply == nil {
		reply = func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, plainAnswer) }
	}
	behind := newPipes()
	up := &http.Server{ErrorLog: quiet, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		reply(w, r)
	})}
	go func() { _ = up.Serve(behind) }()
	v := &virtual{in: newPipes(), all: make(chan ReplyInfo, 1000)}
	o := options(&url.URL{Scheme: "http", Host: "upstream", Path: "/v1"})
	for _, f := range change {
		f(&o)
	}
	o.Listener.Replied = func(i ReplyInfo) { v.all <- i }
	transport := newTransport(&o.Limits)
	transport["http"].DialContext, transport["http"].Proxy = behind.dial, nil
	o.Transport = transport
	p := must(New(o))
	v.p = p
	ctx, cancel := context.WithCancel(context.Background())
	v.stop = cancel
	ended := make(chan error, 1)
	go func() { ended <- p.Serve(ctx, v.in) }()
	t.Cleanup(func() {
		_ = up.Close()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return v
}

// newEnding returns a proxy and what tells how it ended.
func newEnding(t *testing.T) (*virtual, <-chan StopInfo) {
	t.Helper()
	ended := make(chan StopInfo, 1)
	return newVirtual(t, nil, func(o *Options) {
		o.Listener.Stopping = func(i StopInfo) {
			if i.Step == StopEnded {
				ended <- i
			}
		}
	}), ended
}

// raw sends a request on a connection of its own and reads the answer to its end.
func (v *virtual) raw(request string) (answer string) {
	conn := v.dial()
	go func() { _, _ = io.WriteString(conn, request) }()
	b, _ := io.ReadAll(conn)
	return string(b)
}

func (v *virtual) dial() net.Conn { return must(v.in.dial(context.Background(), "", "")) }
