package proxy

import (
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"laconic/compact"
	"laconic/compact/compacttest"
)

func TestAtTheEndOfShutdownAWaitingRequestIsToldSo(t *testing.T) {
	arrived := make(chan bool, 1)
	u := newUpstream(t, func(_ http.ResponseWriter, r *http.Request) { arrived <- true; <-r.Context().Done() })
	p := inFrontOf(t, u, func(o *Options) { o.Limits.Shutdown = 50 * time.Millisecond })
	go func() { <-arrived; p.stop() }()
	res := p.chat(chatBody)
	if res.StatusCode != 503 || res.code(t) != "proxy_shutting_down" || res.Header.Get("X-Should-Retry") != "false" {
		t.Errorf("%d %s", res.StatusCode, res.body)
	}
}

func TestServeTellsThatItsListenerFailed(t *testing.T) {
	p := must(New(options(parseURL(t, "http://h/v1"))))
	l := listening()
	_ = l.Close()
	if err := p.Serve(t.Context(), l); !errors.Is(err, net.ErrClosed) {
		t.Errorf("%v", err)
	}
}

// faulty breaks in the counter, by the words of the conversation.
type faulty struct{ compacttest.Words }

func (f faulty) Fixed(b compact.Beside) int {
	if len(b.Tools) > 2 {
		panic("BUG: in Fixed")
	}
	return f.Words.Fixed(b)
}

func (f faulty) Part(m *compact.Message, p *compact.Part) int {
	switch p.Text.String() {
	case "index":
		return []int{}[p.Text.Len()]
	case "nil":
		var m map[string]int
		//lint:ignore SA5000 the panic is what this is for
		m["x"] = 1
	}
	return f.Words.Part(m, p)
}

// breaking is a stage that breaks after an edit.
type breaking struct{}

func (breaking) Name() string { return "breaking" }
func (breaking) Shrink(d *compact.Draft) {
	for ref := range d.Results() {
		d.Rewrite(ref, "(half done)", "x")
		panic(errors.New("in the middle"))
	}
}

func TestAPanicInThePureHalfCostsTheClientNothing(t *testing.T) {
	broken := func(o *Options) {
		o.Default.Counter = faulty{}
		o.Default.Policy.Ladder = []compact.Stage{breaking{}}
	}
	u, p := plain(t, broken)
	bodies := []string{
		`{"messages":[{"role":"user","content":"index"}]}`,
		`{"messages":[{"role":"user","content":"nil"}]}`,
		`{"messages":[{"role":"user","content":"x"}],"tools":[1,2]}`,
		agentBody(20, 100),
	}
	for i, body := range bodies {
		res := p.chat(body)
		if res.StatusCode != 200 || string(res.body) != plainAnswer || res.Header.Get("X-Laconic-Outcome") != "passed" {
			t.Errorf("%.50s: %d %s", body, res.StatusCode, res.body)
		}
		if got := u.requests()[i]; string(got.Body) != body {
			t.Errorf("%.50s: other bytes arrived", body)
		}
		if r := p.replies(i + 1)[i]; r.Passed != "fault" {
			t.Errorf("%+v", r)
		}
	}
	bugs := p.faults()
	if len(bugs) != len(bodies) {
		t.Fatalf("%d faults told: %+v", len(bugs), bugs)
	}
	for i, want := range []string{"index out of range", "nil map", "BUG: in Fixed", "panic of type *errors.errorString"} {
		if b := bugs[i]; !strings.Contains(b.What, want) || b.Where != "compact" || b.ID == "" || !strings.Contains(b.Stack, "goroutine") {
			t.Errorf("%s %s, want %s", b.Where, b.What, want)
		}
	}
	holdsNothing(t, p.Proxy)
	rejecting := inFrontOf(t, u, broken, func(o *Options) { o.RejectFaults = true })
	if res := rejecting.chat(bodies[0]); res.StatusCode != 500 || res.code(t) != "proxy_fault" || res.Header.Get("X-Should-Retry") != "false" || len(u.requests()) != len(bodies) {
		t.Errorf("faults are rejected: %d %s after %d hits", res.StatusCode, res.body, len(u.requests()))
	}
}

func TestAPanicInTheHTTPHalfCostsOneRequest(t *testing.T) {
	broken := true
	_, p := plain(t, func(o *Options) {
		o.RouteFor = func(string) *Route {
			if broken {
				panic("a secret of the operator")
			}
			return nil
		}
	})
	res := p.chat(chatBody)
	if res.StatusCode != 500 || res.code(t) != "proxy_fault" || strings.Contains(string(res.body), "secret") || strings.Contains(string(res.body), "goroutine") {
		t.Errorf("%d %s", res.StatusCode, res.body)
	}
	if b := p.faults(); len(b) != 1 || strings.Contains(b[0].What, "secret") {
		t.Errorf("%+v", b)
	}
	broken = false
	p.chat(chatBody).want(t, 200, "afterwards")
}

// exploding is a transport whose answer breaks while it is read.
type exploding struct{ v any }

func (e exploding) RoundTrip(r *http.Request) (*http.Response, error) {
	_, _ = io.Copy(io.Discard, r.Body)
	return &http.Response{
		StatusCode: 200, ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{}, ContentLength: -1,
		Body: io.NopCloser(io.MultiReader(strings.NewReader("data: first\n\n"), e)),
	}, nil
}

func (e exploding) Read([]byte) (int, error) { panic(e.v) }

func TestAPanicInsideAnAnswerCutsItAsBroken(t *testing.T) {
	for _, v := range []any{"oops", http.ErrAbortHandler} {
		o := options(parseURL(t, "http://h/v1"))
		o.Transport = exploding{v}
		p := start(t, o)
		res := p.chat(chatBody)
		if res.StatusCode != 200 || res.err == nil {
			t.Errorf("%v: a clean end: %q", v, res.body)
		}
		faults := 1
		if v == http.ErrAbortHandler {
			faults = 0
		}
		if b := p.faults(); len(b) != faults {
			t.Errorf("%v: %+v", v, b)
		}
	}
}

func TestABrokenListenerBreaksNothing(t *testing.T) {
	_, r := plain(t, func(o *Options) {
		o.Listener = Listener{
			Rewritten: func(ReplyInfo) { panic("1") }, Passed: func(ReplyInfo) { panic("2") },
			Replied: func(ReplyInfo) { panic("3") }, Failed: func(FaultInfo) { panic("4") },
		}
	})
	for _, body := range []string{chatBody, "x", agentBody(20, 100)} {
		if res := r.chat(body); res.StatusCode != 200 || string(res.body) != plainAnswer {
			t.Errorf("%d %s", res.StatusCode, res.body)
		}
	}
}
