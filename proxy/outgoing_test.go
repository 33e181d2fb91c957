package proxy

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"laconic/compact"
	"laconic/compact/compacttest"
)

// rewinding is a transport that loses its connection in mid body, as Go's own
// does, and sends it again where it may.
type rewinding struct {
	may    bool
	bodies []string
	again  func() (io.ReadCloser, error)
}

func (r *rewinding) RoundTrip(req *http.Request) (*http.Response, error) {
	_, _ = req.Body.Read(make([]byte, 10))
	r.again = req.GetBody
	body := req.Body
	if r.may = req.GetBody != nil; r.may {
		var err error
		if body, err = req.GetBody(); err != nil {
			return nil, err
		}
	}
	b, err := io.ReadAll(body)
	r.bodies = append(r.bodies, string(b))
	if err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(plainAnswer)), ContentLength: -1,
		ProtoMajor: 1, ProtoMinor: 1, Request: req,
	}, nil
}

// A body that the upstream did not see may be sent again, by Go itself; one
// that it may have worked on is not: an idempotency key would allow that.
func TestABodyCanBeRewoundUntilItsAnswerBegins(t *testing.T) {
	f := func(may bool, path string, headers ...string) {
		t.Helper()
		rt := &rewinding{}
		p := start(t, func() Options {
			o := options(parseURL(t, "http://upstream.test/v1"))
			o.Transport = rt
			return o
		}())
		res := p.do("POST", path, strings.NewReader(chatBody), headers...)
		if res.StatusCode != 200 || rt.may != may {
			t.Errorf("%v: %d, may be rewound: %v", headers, res.StatusCode, rt.may)
		}
		if may && rt.bodies[0] != chatBody {
			t.Errorf("sent again as %q", rt.bodies[0])
		}
		p.replies(1)
		if may {
			if _, err := rt.again(); err == nil {
				t.Error("the body is still there after its answer")
			}
		}
	}
	f(true, "/v1/chat/completions")
	f(false, "/v1/chat/completions", "Idempotency-Key", "abc")
	f(false, "/v1/chat/completions", "X-Idempotency-Key", "")
	f(false, "/v1/responses")
}

// Bodies that are kept for a second send make room for others: a request then
// cannot be sent again, and no other is sent away.
func TestKeptBodiesMakeRoom(t *testing.T) {
	const size = 1 << 20
	answer := make(chan bool)
	u := newUpstream(t, func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength > size/2 {
			<-answer
			says(w, 300_000, 100_000)
			return
		}
		_, _ = io.WriteString(w, plainAnswer)
	})
	p := inFrontOf(t, u, func(o *Options) {
		o.Limits.Memory, o.Limits.Body = 8<<20, 8<<20
		o.Default.Counter, o.Default.Limits = compacttest.Bytes{}, compact.Limits{Window: 10_000_000}
	})
	body := agentBody(100, size/500)
	status := make(chan int, 20)
	for i := range 12 { // of 4 MB each while they are read, 1 MB while they are kept
		go func() { status <- p.chat(body).StatusCode }()
		eventually(t, "it arrived", func() bool { return len(u.requests()) == i+1 })
	}
	begin := time.Now()
	if res := p.chat(chatBody); res.StatusCode != 200 {
		t.Errorf("%d after %v: %s", res.StatusCode, time.Since(begin), res.body)
	}
	close(answer)
	retried, stood := 0, 0
	for range 12 {
		switch s := <-status; s {
		case 200:
			retried++
		case 400:
			stood++
		default:
			t.Errorf("%d", s)
		}
	}
	for _, r := range p.replies(13) {
		if r.Retry != nil && !r.Retry.Sent && r.Retry.Why != "memory" {
			t.Errorf("%+v", r.Retry)
		}
	}
	if stood == 0 {
		t.Error("all bodies were kept: nothing had to make room")
	}
	if n := p.memory.Stats().Bytes; n != 0 {
		t.Errorf("%d bytes of memory are still held", n)
	}
	t.Logf("%d sent again, %d let go", retried, stood)
}
