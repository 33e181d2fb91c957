package stories

import (
	"bytes"
	"compress/gzip"
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"laconic/e2e/rig"

	"github.com/rogpeppe/go-internal/testscript"

	"laconic/demo/strict"
)

// upstream is a strict upstream on a free loopback port. It notes what came and
// what it answered, both as bytes.
type upstream struct {
	strict   *strict.Upstream
	url      string // ending in /v1
	server   *http.Server
	listener net.Listener
	answer   http.Handler // strict, or what a story wants instead

	tells bool // it tells the windows of its models

	// steps lets one write of an answer through per element; nil lets all.
	steps    chan struct{}
	heads    bool // headers do not wait for a step
	cut      int  // it dies after so many writes of an answer; 0: it does not
	released sync.Once

	mu      sync.Mutex // guards what follows
	arrived []*arrival
}

// arrival is one request that came.
type arrival struct {
	method, uri, host string
	header            http.Header
	body              []byte
	answer            bytes.Buffer // the body that was sent back so far
	left              bool         // the client went away before its end
}

// launch makes an upstream, which answers once serve was called.
func launch(o strict.Options) (*upstream, error) {
	u := &upstream{strict: strict.New(o)}
	u.answer = u.strict
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	u.url = "http://" + l.Addr().String() + "/v1"
	u.server = &http.Server{Handler: u, ErrorLog: log.New(io.Discard, "", 0), ReadHeaderTimeout: rig.Patience}
	u.listener = l
	return u, nil
}

// serve lets requests in, once nothing of it changes any more: a proxy of
// another story may ask whoever got the port of an upstream that is gone.
func (u *upstream) serve() {
	go func() { _ = u.server.Serve(u.listener) }()
}

// close ends it, with all connections, so that no goroutine is left.
func (u *upstream) close() {
	ctx, stop := context.WithTimeout(context.Background(), time.Second)
	defer stop()
	if u.server.Shutdown(ctx) != nil {
		_ = u.server.Close()
	}
}

// release lets everything through that waits for a step.
func (u *upstream) release() {
	if u.steps != nil {
		u.released.Do(func() { close(u.steps) })
	}
}

func (u *upstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("User-Agent") == "laconic" && !u.tells {
		http.NotFound(w, r) // the proxy asks for windows whenever it likes: no story counts that
		return
	}
	body, err := io.ReadAll(r.Body)
	a := &arrival{method: r.Method, uri: r.RequestURI, host: r.Host, header: r.Header.Clone(), body: body, left: err != nil}
	u.mu.Lock()
	u.arrived = append(u.arrived, a)
	u.mu.Unlock()
	r.Body = io.NopCloser(bytes.NewReader(body))
	u.answer.ServeHTTP(&noting{ResponseWriter: w, u: u, a: a, gone: r.Context()}, r)
	if r.Context().Err() != nil {
		// The answer itself may have seen it first, and written nothing more.
		u.mu.Lock()
		a.left = true
		u.mu.Unlock()
	}
}

// noting notes what is answered, and waits for a step before each write.
type noting struct {
	http.ResponseWriter
	u      *upstream
	a      *arrival
	gone   context.Context
	status int
	writes int
}

// WriteHeader is put off to the first write: before its step no header may be
// out, unless the upstream shows its headers.
func (n *noting) WriteHeader(status int) { n.status = status }

func (n *noting) Write(b []byte) (int, error) {
	if n.writes++; n.u.cut > 0 && n.writes > n.u.cut {
		panic(http.ErrAbortHandler) // net/http cuts the connection: the client sees a broken answer
	}
	if n.u.heads {
		_ = http.NewResponseController(n.ResponseWriter).Flush()
	}
	if n.u.steps != nil {
		select {
		case <-n.u.steps:
		case <-n.gone.Done():
			n.u.mu.Lock()
			defer n.u.mu.Unlock()
			n.a.left = true
			return 0, n.gone.Err()
		}
	}
	if n.status != 0 {
		n.ResponseWriter.WriteHeader(n.status)
		n.status = 0
	}
	n.u.mu.Lock()
	n.a.answer.Write(b)
	n.u.mu.Unlock()
	return n.ResponseWriter.Write(b)
}

// Unwrap lets the upstream flush.
func (n *noting) Unwrap() http.ResponseWriter { return n.ResponseWriter }

// nth is the nth request that came, from 1.
func (u *upstream) nth(n int) (arrival, bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if n < 1 || n > len(u.arrived) {
		return arrival{}, false
	}
	a := *u.arrived[n-1]
	a.answer = *bytes.NewBuffer(slices.Clone(a.answer.Bytes()))
	return a, true
}

func (u *upstream) total() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return len(u.arrived)
}

// startUpstream: upstream [FLAG]… starts a strict upstream and sets $UPSTREAM to
// its base URL, and $UPSTREAM_ADDRESS to its host and port.
//
//	-as NAME       sets $NAME instead, for a second one
//	-limit N       its hard limit in tokens (128000; below 0: none)
//	-key K         it wants this bearer token
//	-says TEXT     its answer
//	-cut N         it dies after N events of a stream
//	-steps         each event of an answer waits until the story asks for it
//	-heads         its headers come before that
//	-gzip          it compresses its answers
//	-canned FILE   it answers everything with this file, read as an HTTP answer
//	-tells         it answers also when the proxy asks for windows
//	-back          it sends everything back to $PROXY
func startUpstream(ts *testscript.TestScript, args []string) {
	var o strict.Options
	var as, says, canned string
	var cut int
	var steps, heads, zip, tells, back bool
	flags(ts, args, 0, 0, func(f *flag.FlagSet) {
		f.StringVar(&as, "as", "UPSTREAM", "")
		f.IntVar(&o.Limit, "limit", 0, "")
		f.StringVar(&o.Key, "key", "", "")
		f.StringVar(&says, "says", "All is well.", "")
		f.IntVar(&cut, "cut", 0, "")
		f.BoolVar(&steps, "steps", false, "")
		f.BoolVar(&heads, "heads", false, "")
		f.BoolVar(&zip, "gzip", false, "")
		f.StringVar(&canned, "canned", "", "")
		f.BoolVar(&tells, "tells", false, "")
		f.BoolVar(&back, "back", false, "")
	})
	o.Reply = func(*strict.Request) strict.Reply { return strict.Reply{Text: says} }
	u, err := launch(o)
	ts.Check(err)
	u.tells = tells
	u.heads, u.cut = heads, cut
	if steps {
		u.steps = make(chan struct{})
	}
	if zip {
		u.answer = zipped{u.strict}
	}
	if canned != "" {
		u.answer = cannedAnswer(ts.ReadFile(canned))
	}
	s := storyOf(ts)
	if back {
		u.answer = &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
			to, err := url.Parse(s.proxy.URL)
			if err != nil {
				panic("BUG: a proxy has a URL: " + err.Error())
			}
			r.SetURL(to)
		}}
	}
	u.serve()
	s.upstreams[as] = u
	s.launched = append(s.launched, u)
	ts.Setenv(as, u.url)
	ts.Setenv(as+"_ADDRESS", strings.TrimSuffix(strings.TrimPrefix(u.url, "http://"), "/v1"))
}

// zipped compresses what another handler answers.
type zipped struct{ http.Handler }

func (z zipped) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	rec := httptest.NewRecorder()
	z.Handler.ServeHTTP(rec, r)
	maps.Copy(w.Header(), rec.Header())
	w.Header().Set("Content-Encoding", "gzip")
	w.WriteHeader(rec.Code)
	var b bytes.Buffer
	g := gzip.NewWriter(&b)
	_, _ = g.Write(rec.Body.Bytes()) // a buffer takes everything
	_ = g.Close()
	_, _ = w.Write(b.Bytes()) // a client that left needs no answer
}

// cannedAnswer is an answer as a file has it: "200", header lines, an empty
// line, the body.
func cannedAnswer(text string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		head, body, _ := strings.Cut(text, "\n\n")
		status, lines, _ := strings.Cut(head, "\n")
		for line := range strings.SplitSeq(lines, "\n") {
			if name, value, ok := strings.Cut(line, ": "); ok {
				w.Header().Add(name, value)
			}
		}
		code, err := strconv.Atoi(status)
		if err != nil {
			code = http.StatusNotImplemented // the story sees that it is wrong
		}
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	})
}

// at gives the upstream of a name, and the number of one of its requests:
// a number from 1, or "last".
func (s *story) at(ts *testscript.TestScript, name, number string) (*upstream, int) {
	u := s.upstreams[name]
	if u == nil {
		ts.Fatalf("there is no upstream %s", name)
	}
	if number == "last" {
		return u, u.total()
	}
	n, err := strconv.Atoi(number)
	ts.Check(err)
	return u, n
}

// named parses the flag -at of a command, and what else it has.
func named(ts *testscript.TestScript, args []string, least, most int) (name string, rest []string) {
	rest = flags(ts, args, least, most, func(f *flag.FlagSet) { f.StringVar(&name, "at", "UPSTREAM", "") })
	return name, rest
}

// seenUpstream: seen [-at NAME] N [FILE] prints the head of the Nth request that
// the upstream saw, and puts its body into the file.
func seenUpstream(ts *testscript.TestScript, args []string) {
	name, rest := named(ts, args, 1, 2)
	a := storyOf(ts).arrival(ts, name, rest[0])
	fmt.Fprintf(ts.Stdout(), "%s %s\nhost: %s\n%s", a.method, a.uri, a.host, headerLines(a.header))
	if len(rest) == 2 {
		ts.Check(os.WriteFile(ts.MkAbs(rest[1]), a.body, 0o666))
	}
}

// arrival waits for a request: where a client left early it may still be on its
// way.
func (s *story) arrival(ts *testscript.TestScript, name, number string) (a arrival) {
	u, n := s.at(ts, name, number)
	if !rig.Soon(func() (ok bool) { a, ok = u.nth(n); return ok }) {
		ts.Fatalf("upstream %s saw %d requests", name, u.total())
	}
	return a
}

// headerLines are headers in a fixed order, one a line.
func headerLines(h http.Header) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(h)) {
		for _, v := range h[name] {
			fmt.Fprintf(&b, "%s: %s\n", strings.ToLower(name), v)
		}
	}
	return b.String()
}

// answeredUpstream: answered [-at NAME] N FILE puts the body that the upstream
// sent back for the Nth request into the file.
func answeredUpstream(ts *testscript.TestScript, args []string) {
	name, rest := named(ts, args, 2, 2)
	a := storyOf(ts).arrival(ts, name, rest[0])
	ts.Check(os.WriteFile(ts.MkAbs(rest[1]), a.answer.Bytes(), 0o666))
}

// totalUpstream: total [-at NAME] N checks that exactly N requests came.
func totalUpstream(ts *testscript.TestScript, args []string) {
	name, rest := named(ts, args, 1, 1)
	u, want := storyOf(ts).at(ts, name, rest[0])
	if got := u.total(); got != want {
		ts.Fatalf("upstream %s saw %d requests, want %d", name, got, want)
	}
}
