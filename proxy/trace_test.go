package proxy

import (
	"net/http"
	"sync"
	"testing"
	"time"
)

// noted is a trace that keeps what it is told.
type noted struct {
	mu      sync.Mutex
	sending int
	ended   []ReplyInfo
	breaks  bool
}

func (n *noted) Sending(out *http.Request) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.sending++
	out.Header.Set("Traceparent", "ours")
	if n.breaks {
		panic("a broken tracer")
	}
}

func (n *noted) Ended(i ReplyInfo) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.ended = append(n.ended, i)
	if n.breaks {
		panic("a broken tracer")
	}
}

// TestTraceIsToldOfEachStep: a trace sets its header, and is told when each step was
// done; a broken one costs the request nothing.
func TestTraceIsToldOfEachStep(t *testing.T) {
	for _, breaks := range []bool{false, true} {
		u, n := newUpstream(t, nil), &noted{breaks: breaks}
		p := inFrontOf(t, u, func(o *Options) { o.StartTrace = func(*http.Request, time.Time) Trace { return n } })
		p.chat(agentBody(3, 20), "Traceparent", "the client's").want(t, http.StatusOK)
		p.replies(1)
		if got := u.only(t).Header["Traceparent"]; len(got) != 1 || got[0] != "ours" {
			t.Error(got)
		}
		p.stop()
		if n.sending != 1 || len(n.ended) != 1 {
			t.Fatalf("sending %d times, ended %d times", n.sending, len(n.ended))
		}
		i := n.ended[0]
		s := i.Steps
		if !(0 < s.Read && s.Read <= s.Decoded && s.Decoded <= s.Folded && s.Folded <= s.Sending && s.Sending <= i.FirstByte && i.FirstByte <= i.Duration) {
			t.Errorf("%+v, first byte %v, end %v", s, i.FirstByte, i.Duration)
		}
		if want := map[bool]int{true: 2}[breaks]; len(p.faults()) != want {
			t.Error(p.faults())
		}
	}
}

// TestTraceOfARefusedRequest: it ends once, and was never sent.
func TestTraceOfARefusedRequest(t *testing.T) {
	u, n := newUpstream(t, nil), &noted{}
	p := inFrontOf(t, u, func(o *Options) { o.StartTrace = func(*http.Request, time.Time) Trace { return n } })
	p.chat(agentBody(3, 20), "Origin", "https://evil.example")
	p.stop()
	if n.sending != 0 || len(n.ended) != 1 || n.ended[0].Steps != (Steps{}) || n.ended[0].Status != http.StatusForbidden {
		t.Error(n.sending, n.ended)
	}
}

// TestUntracedHeadersPass: without a tracer, or for a request that it does not trace,
// the client's header passes as it is.
func TestUntracedHeadersPass(t *testing.T) {
	for _, start := range []func(*http.Request, time.Time) Trace{nil, func(*http.Request, time.Time) Trace { return nil }} {
		u, p := plain(t, func(o *Options) { o.StartTrace = start })
		p.chat(agentBody(3, 20), "Traceparent", "the client's")
		p.chat(agentBody(3, 20))
		all := u.requests()
		if len(all) != 2 || all[0].Header.Get("Traceparent") != "the client's" || all[1].Header["Traceparent"] != nil {
			t.Error(all)
		}
	}
}
