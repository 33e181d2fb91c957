package proxy

import (
	"context"
	"errors"
	"log"
	"net"
	"net/http"
	"strings"
	"time"
)

const (
	idleTimeout    = 120 * time.Second
	maxHeaderBytes = 64 << 10
	// afterCut is how long cut answers get to close their connections.
	afterCut = time.Second
)

// Serve accepts connections on l until ctx is done. Then it accepts no more,
// lets open answers end within Limits.Shutdown, and cuts the others as broken.
// It returns nil after that, and the error of l when it fails before. l is
// closed in any case.
func (p *Proxy) Serve(ctx context.Context, l net.Listener) error {
	requests, cut := context.WithCancelCause(context.Background())
	defer cut(errShutdown)
	srv := p.server(p)
	srv.ConnState = newConnections(p.o.Limits.Connections, p.o.Listener.Failed).changed
	srv.BaseContext = func(net.Listener) context.Context { return requests }
	defer p.Close()
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(l) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	p.draining.Store(true)
	grace, stop := context.WithTimeout(context.Background(), p.o.Limits.Shutdown)
	defer stop()
	if srv.Shutdown(grace) != nil {
		cut(errShutdown)
		last, stop := context.WithTimeout(context.Background(), afterCut)
		defer stop()
		_ = srv.Shutdown(last)
	}
	_ = srv.Close()
	if err := <-failed; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// server is an http.Server that no client can hold up: headers and idle
// connections are timed, and so is every single read and write of a request by
// the handler. There is no limit on a request as a whole.
func (p *Proxy) server(h http.Handler) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: p.o.Limits.Header,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          log.New(serverLog{p}, "", 0),
	}
}

// serverLog tells the listener what net/http has to say, as "Accept error: too
// many open files". Of several lines only the first is told, and of a panic not
// even that: its value could be anything.
type serverLog struct{ p *Proxy }

func (l serverLog) Write(line []byte) (int, error) {
	first, _, _ := strings.Cut(string(line), "\n")
	if strings.Contains(first, "panic serving") {
		first = "a handler panicked"
	}
	l.p.o.Listener.Failed(FaultInfo{Where: "server", What: clip(first, 200)})
	return len(line), nil
}
