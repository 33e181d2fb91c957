package proxy

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"laconic/compact"
	"laconic/compact/compacttest"
	"laconic/compact/stage"
)

// byteLimited is an upstream, or what stands in front of one, that takes bodies
// of no more than limit bytes.
func byteLimited(t *testing.T, limit int) *upstream {
	u := newUpstream(t, nil)
	u.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		u.recording(func(w http.ResponseWriter, _ *http.Request) {
			if len(body) > limit {
				w.WriteHeader(413)
				_, _ = io.WriteString(w, "<html>413 Request Entity Too Large</html>")
				return
			}
			_, _ = io.WriteString(w, plainAnswer)
		})(w, r)
	})
	return u
}

func withMedia(o *Options) {
	strip, err := stage.New("strip_media", nil)
	if err != nil {
		panic(err)
	}
	o.Default.Limits = compact.Limits{Window: 100_000}
	o.Default.Policy = &compact.Policy{Name: "adaptive", Ladder: []compact.Stage{elide{}, strip, drop{}}}
	o.Default.Counter = compacttest.Words{}
}

func image(kilobytes int) string {
	return fmt.Sprintf(`{"role":"user","content":[{"type":"text","text":"look at this"},{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo%s"}}]}`,
		strings.Repeat("A", kilobytes<<10))
}

// A limit on bytes is none on tokens: one large image must not cost the text of
// later conversations.
func TestALargeBodyTeachesNothingOfTokens(t *testing.T) {
	u := byteLimited(t, 1<<20)
	p := inFrontOf(t, u, withMedia)
	if res := p.chat(`{"model":"gpt-4o","messages":[` + image(1500) + `]}`); res.StatusCode != 413 || !strings.Contains(string(res.body), "413 Request") {
		t.Errorf("%d %.100s", res.StatusCode, res.body)
	}
	hits := len(u.requests())
	text := agentBody(200, 400)
	if res := p.chat(text); res.StatusCode != 200 || string(u.requests()[hits].Body) != text {
		t.Errorf("%d, %d bytes of %d were sent", res.StatusCode, len(u.requests()[hits].Body), len(text))
	}
	if f := p.replies(2)[1].Rewrite.Facts; f.Window.Value != 0 || f.Input.Value != 0 || f.Bytes.Value != 0 { // no smaller one was answered
		t.Errorf("%+v", f)
	}
}

// Old images leave before any text, at once and on the next turn.
func TestOfALargeBodyMediaLeaveFirst(t *testing.T) {
	u := byteLimited(t, 1<<20)
	p := inFrontOf(t, u, withMedia)
	const round = `,{"role":"assistant","content":"a picture"},`
	rest, _ := strings.CutPrefix(agentBody(30, 100), `{"model":"gpt-4o","messages":[{"role":"system","content":"be brief"},`)
	body := `{"model":"gpt-4o","messages":[{"role":"system","content":"be brief"},{"role":"user","content":"read the pictures"}` +
		round + image(600) + round + image(600) + round + rest
	for hits := 2; hits <= 3; hits++ {
		if res := p.chat(body); res.StatusCode != 200 || len(u.requests()) != hits {
			t.Fatalf("%d after %d hits", res.StatusCode, len(u.requests()))
		}
	}
	all := u.requests()
	second := string(all[1].Body)
	if strings.Count(second, "(image left out)") == 0 || strings.Contains(second, "(gone)") || strings.Count(second, "word ") != 3000 {
		t.Errorf("%d images left out, %d words of 3000", strings.Count(second, "(image left out)"), strings.Count(second, "word "))
	}
	if !bytes.Equal(all[1].Body, all[2].Body) {
		t.Error("the next turn was planned otherwise")
	}
	r := p.replies(1)[0]
	if r.Outcome != Retried || r.Rewrite.Report.After >= r.Rewrite.Report.Before || r.Rewrite.Report.After < 3000 || r.Retry.Kind != "bytes" {
		t.Errorf("%+v %+v", r.Rewrite.Report, r.Retry)
	}
	// What was answered is no limit: a smaller body is sent as it came.
	text := agentBody(30, 100)
	if p.chat(text); string(u.requests()[3].Body) != text {
		t.Error("a small body was edited")
	}
}

// Where there is no image, text leaves.
func TestALargeBodyOfText(t *testing.T) {
	u := byteLimited(t, 100_000)
	p := inFrontOf(t, u, withMedia)
	body := agentBody(100, 300)
	for hits := 2; hits <= 3; hits++ {
		if res := p.chat(body); res.StatusCode != 200 || len(u.requests()) != hits {
			t.Fatalf("%d after %d hits: %+v", res.StatusCode, len(u.requests()), p.replies(hits - 1)[hits-2].Retry)
		}
	}
}

// Under a limit of bytes a plan keeps its promises.
func TestAPlanUnderALimitOfBytes(t *testing.T) {
	policy := &compact.Policy{Name: "adaptive", Ladder: []compact.Stage{elide{}, telling{}, drop{}}, Counter: compacttest.Words{}}
	epochs := 0
	for _, limit := range []int{3000, 9000, 20_000} {
		b := compact.Limits{Window: 4000}.For(0)
		w := byteWeighted{Counter: compacttest.Words{}, tokens: b.Tokens, bytes: limit}
		with := *mediaFirst(policy)
		with.Counter = w
		runs, broken := compacttest.Sweep(compact.Conversation{Messages: agentMessages(40, 60)}, &with, w, belowTrigger(policy, b))
		for _, err := range broken {
			t.Error(err)
		}
		for i := range runs {
			epochs += len(runs[i].Plan.Epochs)
		}
	}
	if epochs < 50 {
		t.Errorf("only %d epochs", epochs)
	}
}

// TestA413WithoutANumberIsNoLimit: it may be anybody's on the way, and no later
// conversation is cut for it unless a smaller body was answered.
func TestA413WithoutANumberIsNoLimit(t *testing.T) {
	u := newUpstream(t, nil)
	u.Config.Handler = u.recording(func(w http.ResponseWriter, _ *http.Request) {
		if len(u.requests()) <= 2 {
			w.WriteHeader(http.StatusRequestEntityTooLarge)
			return
		}
		_, _ = io.WriteString(w, plainAnswer)
	})
	p := inFrontOf(t, u, withMedia)
	p.chat(agentBody(10, 100))
	hits := len(u.requests())
	if hits != 2 {
		t.Fatalf("%d hits", hits)
	}
	long := agentBody(100, 300)
	if p.chat(long); string(u.requests()[hits].Body) != long {
		t.Errorf("%d bytes of %d were sent", len(u.requests()[hits].Body), len(long))
	}
}
