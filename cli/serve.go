package cli

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"laconic/cli/findings"
	"laconic/cli/runlog"
	"laconic/config"
	"laconic/counting"
	"laconic/proxy"
	"laconic/proxy/learn"
	"laconic/proxy/logging"
	"laconic/proxy/metrics"
	"laconic/proxy/operate"
	"laconic/proxy/page"
	"laconic/proxy/tracing"
	"laconic/proxy/why"
	"laconic/store"
	"laconic/tokenize"
)

func serveCommand(name string) *cobra.Command {
	var s settings
	cmd := &cobra.Command{
		Use:   name,
		Short: "run the proxy (the default)",
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := s.load(cmd)
			wrong := err != nil
			if err == nil {
				err = serve(cmd.Context(), c, s.overrides(cmd), cmd.ErrOrStderr())
			}
			switch {
			case err != nil && (cmd.Flag("log-format").Value.String() == "json" || c.Log.Format == "json"):
				return logFailure(cmd.ErrOrStderr(), err)
			case wrong:
				return printConfig(cmd.ErrOrStderr(), c, err, false)
			}
			return err
		},
	}
	s.flags(cmd)
	if name == "serve" { // an argument of the root is a command that was mistyped, which cobra says
		cmd.Args = cobra.NoArgs
	}
	return cmd
}

// logFailure writes why the proxy does not run as a line of a JSON log, and returns the
// exit code.
func logFailure(stderr io.Writer, err error) error {
	log := runlog.New("info", "json", stderr)
	defer log.Close()
	field := zap.Error(err)
	if ps, ok := errors.AsType[config.Problems](err); ok {
		field = zap.Strings("problems", ps.Lines())
	}
	log.Error("the proxy does not run", field)
	return exitError(1)
}

// serve runs the proxy until ctx is done. over is what c was read with, beside its
// file.
func serve(ctx context.Context, c *config.Config, over []config.Override, stderr io.Writer) error {
	// Else Go ends the process when whoever reads standard error goes away.
	signal.Ignore(syscall.SIGPIPE)
	hup := make(chan os.Signal, 1)
	signal.Notify(hup, syscall.SIGHUP) // which Windows never sends
	defer signal.Stop(hup)
	log := runlog.New(c.Log.Level, c.Log.Format, stderr)
	defer log.Close()
	again := &reloader{log: log, file: c.File, over: over, seen: c.Sum, hup: hup}
	return serveLogged(ctx, c, log, again, func(string, string) {})
}

// serveLogged runs the proxy until ctx is done, and calls started when it listens;
// without an admin listener admin is "". Events are logged, and told to also. The
// configuration is read again as again says.
func serveLogged(
	ctx context.Context, c *config.Config, log *runlog.Log, again *reloader, started func(addr, admin string), also ...proxy.Listener,
) error {
	again.running.Store(c)
	o := proxyOptions(c)
	counts := metrics.New(release, commit(), time.Now(), log.Dropped)
	listeners := append([]proxy.Listener{logging.To(log.Logger), counts.Listener()}, also...)
	var p *proxy.Proxy
	var err error
	var vault *store.Vault // nil: none is needed
	stored := func() []finding { return findings.Of(findings.Facts{Store: storeFacts(c, vault)}) }
	found := func() []finding {
		now, state := again.running.Load(), p.State()
		return findings.Of(findings.Facts{Config: now, Store: storeFacts(c, vault), Upstreams: state.Upstreams, Outcomes: state.Outcomes, Running: "laconic " + version() + " " + runningWith(now), Sum: counts.Sums()})
	}
	shown := newPage(again.running.Load, func() *proxy.Proxy { return p }, stored, found)
	if shown != nil {
		listeners = append(listeners, shown.Listener())
	}
	o.Listener = proxy.Tee(listeners...)
	traces := tracing.New(release,
		func(line string) { log.Warn("traces", zap.String("what", line)) },
		func(line string) { log.Info("traces", zap.String("what", line)) })
	defer traces.Close()
	o.StartTrace = traces.StartTrace()
	o.Calibrate = func(plain, way, percent int) learn.Calibration { return tokenize.NewCalibration(plain, way, percent) }
	if o.Summarizer != nil || keepsFacts(c) || c.Store.Secret != "" {
		vault, err = store.Open(storeOptions(c, func(line string) { log.Warn("store", zap.String("what", line)) }))
		if err != nil {
			return err
		}
		defer vault.Close()
		o.Store = vault
		counts.WatchStore(vault.State)
		if keepsFacts(c) {
			o.Facts = keptFacts{vault}
		}
	}
	if c.TLS.Cert != "" {
		cert := &certificate{files: c.TLS, log: log.Logger}
		if cert.look(); cert.fault != "" { // since CheckFiles
			return errors.New("tls.cert and tls.key: " + cert.fault)
		}
		o.Certificate, again.certificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return cert.pair.Load(), nil }, cert
	}
	if p, err = proxy.New(o); err != nil {
		return err
	}
	counts.Watch(p, &o)
	go tokenize.Load() // a request that comes earlier waits for the tables that it needs
	findingsPage := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = printJSON(w, found())
	})
	again.p = p
	again.reloaded = func(taken bool) {
		counts.Reloaded(taken, time.Now())
		if now := p.Options(); taken {
			counts.Watch(p, &now)
		}
	}
	l, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return fmt.Errorf("cannot listen on %s: %w (another address: --listen)", c.Listen, err)
	}
	a := operate.Options{
		Listen: c.Admin,
		Pages: []operate.Page{
			{Path: "/metrics", Handler: counts.Handler()},
			{Path: findingsPath, Handler: findingsPage},
			eraser(p, shown, log),
			{Path: "/reload", Methods: []string{http.MethodPost}, Handler: again},
		},
		Notes: func() string {
			text := ""
			for _, f := range found() {
				if f.State != why.Unknown {
					text += fmt.Sprintln(f)
				}
			}
			hits, misses := counting.Stats()
			return text + fmt.Sprintf("texts: %d counted before, %d new\nlog: %d lines dropped\n", hits, misses, log.Dropped())
		},
	}
	if shown != nil {
		a.Pages, a.SignIn = append(a.Pages, shown.Pages()...), page.SignIn
	}
	admin, stopAdmin := serveAdmin(p, a, log.Logger)
	logStart(log, c, l.Addr().String(), admin)
	started(l.Addr().String(), admin)
	ctx, stop := context.WithCancelCause(ctx)
	var following sync.WaitGroup
	following.Go(func() { limitMemory(ctx, o.Limits, p.Serving) })
	following.Go(func() { again.follow(ctx, func() { stop(errors.New("SIGHUP: the terminal is gone")) }) })
	err = p.Serve(ctx, l)
	stop(nil)
	stopAdmin()
	following.Wait()
	return err
}

// startProxy runs a proxy until ctx is done, whose configuration is not read again. It
// returns when the proxy listens; ended gets why it ended.
func startProxy(
	ctx context.Context, c *config.Config, log *runlog.Log, also ...proxy.Listener,
) (addr, admin string, ended <-chan error, err error) {
	at, end := make(chan [2]string, 1), make(chan error, 1)
	go func() {
		end <- serveLogged(ctx, c, log, &reloader{log: log}, func(addr, admin string) { at <- [2]string{addr, admin} }, also...)
	}()
	select {
	case err := <-end:
		return "", "", nil, err
	case a := <-at:
		return a[0], a[1], end, nil
	}
}

// findingsPath is the page of the admin listener that laconic doctor reads.
const findingsPath = "/findings"

// serveAdmin runs the admin listener, if there is one, and returns its address
// and what ends it. A taken port is a warning: the proxy is worth more than its
// health page.
func serveAdmin(p *proxy.Proxy, o operate.Options, log *zap.Logger) (addr string, stop func()) {
	if o.Listen == "" {
		return "", func() {}
	}
	srv := must(p.Admin(o))
	l, err := net.Listen("tcp", o.Listen)
	if err != nil {
		log.Warn("no admin listener", zap.String("address", o.Listen), zap.Error(err))
		return "", func() {}
	}
	go func() {
		if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			log.Warn("the admin listener ended", zap.Error(err))
		}
	}()
	return l.Addr().String(), func() {
		ctx, stop := context.WithTimeout(context.Background(), time.Second)
		defer stop()
		if srv.Shutdown(ctx) != nil {
			_ = srv.Close()
		}
	}
}

const (
	// otherBytes is what everything takes but bodies and open requests: the tables of
	// the tokenizers 22 MB, what is remembered of counts up to 15, of digests 16.
	otherBytes = 128 << 20
	// requestBytes is what an open request takes beside its body: its connections,
	// buffers and goroutines. 55 to 71 KB were measured for a stream.
	requestBytes = 80 << 10
	// memorySteps are the requests after which the limit is set anew, and memoryPause
	// how often they are counted. Setting it stops the process for a moment.
	memorySteps = 500
	memoryPause = 2 * time.Second
)

// limitMemory has the collector respect the limit on bodies, too, with room for
// everything else, until ctx is done. Near a limit that has no room for the requests
// that are open, the collector runs all the time. A GOMEMLIMIT in the environment stands.
func limitMemory(ctx context.Context, l proxy.Limits, open func() int) {
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	for last := -1; ; {
		if n := open() / memorySteps * memorySteps; n != last {
			debug.SetMemoryLimit(l.Memory + otherBytes + int64(n)*requestBytes)
			last = n
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(memoryPause):
		}
	}
}
