package proxy

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"laconic/proxy/admission"
	"laconic/proxy/apierror"
)

// ServeHTTP serves one request.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.serving.Add(1)
	defer p.serving.Add(-1)
	if p.draining.Load() {
		w.Header().Set("Connection", "close") // in HTTP/2 it ends the connection after its requests
	}
	x := p.begin(w, r)
	defer x.end()
	if no := x.serve(); no != nil {
		x.refuse(no)
	}
}

const (
	idleTimeout    = 120 * time.Second
	maxHeaderBytes = 64 << 10
	// afterCut is how long cut answers get to close their connections, a quarter
	// of Limits.Shutdown at most.
	afterCut = time.Second
)

// errShutdown is why we ended a request: the cause of its context.
var errShutdown = errors.New("the proxy is shutting down")

// Serve accepts connections on l until ctx is done, and for Limits.Drain longer:
// /readyz answers 503 meanwhile, and answers ask clients to connect anew. Then it
// accepts no more, lets open answers end, and cuts the others as broken, all within
// Limits.Shutdown. The listener is told of each of these steps, with the cause of ctx.
// It returns nil after that, and the error of l when it fails before. l is
// closed in any case.
func (p *Proxy) Serve(ctx context.Context, l net.Listener) error {
	requests, cut := context.WithCancelCause(context.Background())
	defer cut(errShutdown)
	o := p.settings.Load()
	srv := p.server(p)
	srv.BaseContext = func(net.Listener) context.Context { return requests }
	serve := srv.Serve
	if o.Certificate != nil {
		srv.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: o.Certificate}
		srv.HTTP2 = http2Limits
		serve = func(l net.Listener) error { return srv.ServeTLS(l, "", "") }
	}
	failed := make(chan error, 1)
	p.started.Store(true)
	go func() { failed <- serve(l) }()
	select {
	case err := <-failed:
		p.Close()
		return err
	case <-ctx.Done():
	}
	p.draining.Store(true)
	var i StopInfo
	if cause := context.Cause(ctx); cause != ctx.Err() {
		i.Why = cause.Error()
	}
	return p.stop(srv, failed, cut, i)
}

// http2Limits bound what one HTTP/2 connection holds beside Limits.Memory: what
// arrives of bodies that are not read yet, and a frame. Go's own bounds are 1 MB
// each. A client that is gone without a word is noticed by a ping, which HTTP/1
// does not have.
var http2Limits = &http.HTTP2Config{
	MaxReadFrameSize:              16 << 10,
	MaxReceiveBufferPerConnection: 256 << 10,
	MaxReceiveBufferPerStream:     256 << 10,
	SendPingTimeout:               30 * time.Second,
	PingTimeout:                   15 * time.Second,
}

// server is an http.Server that no client can hold up: headers and idle
// connections are timed, and so is every single read and write of a request by
// the handler. There is no limit on a request as a whole. Its end waits for requests
// alone, and for no connection that has not brought one.
func (p *Proxy) server(h http.Handler) *http.Server {
	limits := p.settings.Load().Limits
	connections := admission.NewConnections(limits.Connections, limits.Heads, func(closed int) {
		p.listener.Failed(FaultInfo{Where: "connections", What: fmt.Sprintf("closed %d: their address has too many open", closed), Peer: true})
	})
	srv := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: limits.Header,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          log.New(serverLog{p}, "", 0),
		ConnState:         connections.Changed,
	}
	srv.RegisterOnShutdown(connections.End)
	return srv
}

// serverLog tells the listener what net/http has to say, as "Accept error: too many
// open files". Only the first of several lines is told, and none of a panic: its value
// could be anything.
type serverLog struct{ p *Proxy }

func (l serverLog) Write(line []byte) (int, error) {
	first, _, _ := strings.Cut(string(line), "\n")
	if strings.Contains(first, "panic serving") {
		first = "a handler panicked"
	}
	l.p.listener.Failed(FaultInfo{Where: "server", What: apierror.Clip(first, 200), Peer: strings.Contains(first, "TLS handshake error")})
	return len(line), nil
}

// stop ends srv, which runs until failed says why it did not: after Limits.Drain, and
// within Limits.Shutdown. It calls cut to end the requests that are left. i says why.
func (p *Proxy) stop(srv *http.Server, failed <-chan error, cut context.CancelCauseFunc, i StopInfo) error {
	began := time.Now()
	tell := func(step StopStep, within time.Duration) {
		i.Step, i.Within, i.Requests, i.Streams, i.Duration = step, within, p.Serving(), int(p.streaming.Load()), time.Since(began)
		p.listener.Stopping(i)
	}
	defer func() {
		p.Close()
		tell(StopEnded, 0)
	}()
	drain := p.settings.Load().Limits.Drain
	tell(StopBegun, drain)
	select {
	case err := <-failed:
		return err
	case <-time.After(drain):
	}
	most := p.settings.Load().Limits.Shutdown                                 // it may be another one by now
	tellClosed := sync.OnceFunc(func() { p.close(); tell(StopClosed, most) }) // there may be a second Shutdown
	srv.RegisterOnShutdown(tellClosed)
	grace, stop := context.WithTimeout(context.Background(), most-min(afterCut, most/4))
	defer stop()
	late := srv.Shutdown(grace) != nil
	tellClosed() // at the latest; it waits for one that is being told
	if late {
		i.Cut = p.Serving()
		cut(errShutdown)
		last, stop := context.WithTimeout(context.Background(), min(afterCut, most/4))
		defer stop()
		_ = srv.Shutdown(last)
	}
	_ = srv.Close()
	if err := <-failed; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
