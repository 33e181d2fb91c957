package proxy

import (
	"net/http"
	"testing"
)

// A row of models says how its requests are dealt with; a header comes before it, where
// headers are honoured. A request that is to be left alone passes even if it cannot be
// read and strict refuses that.
func TestTheModeOfARoute(t *testing.T) {
	long := agentBody(30, 60)
	f := func(mode string, least int64, body string, headers []string, want Outcome, reason string) {
		t.Helper()
		u, p := plain(t, func(o *Options) {
			o.Default.Mode, o.Default.MinBody, o.Strict = mode, least, true
			o.Overrides = len(headers) > 0
		})
		p.chat(body, headers...)
		r := p.replies(1)[0]
		if r.Outcome != want || r.Passed != reason {
			t.Errorf("%q, %d, %q: %s %q, want %s %q", mode, least, headers, r.Outcome, r.Passed, want, reason)
		}
		if same := string(u.only(t).Body) == body; same != (want != Compacted) {
			t.Errorf("%q, %d, %q: sent as it came: %v", mode, least, headers, same)
		}
	}
	f("", 0, long, nil, Compacted, "")
	f(ModeOn, 0, long, nil, Compacted, "")
	f(ModeShadow, 0, long, nil, Shadow, "")
	f(ModeOff, 0, long, nil, Bypassed, "mode")
	f(ModeOff, 0, "nonsense", nil, Bypassed, "mode")
	f(ModeOn, int64(len(long)), long, nil, Compacted, "")
	f(ModeOn, int64(len(long))+1, long, nil, Bypassed, "small")
	f(ModeShadow, int64(len(long))+1, long, nil, Bypassed, "small")
	f(ModeOn, 100, "nonsense", nil, Bypassed, "small")
	on, off := []string{headerMode, ModeOn}, []string{headerMode, ModeOff}
	f(ModeOff, 0, long, on, Compacted, "")
	f(ModeOn, 1<<20, long, on, Compacted, "")
	f(ModeOn, 1<<20, long, off, Bypassed, "mode")
	f(ModeOn, 0, "nonsense", off, Bypassed, "mode")
	f(ModeOff, 0, long, []string{headerMode, ModeShadow}, Shadow, "")
	f(ModeOff, 0, long, []string{headerTags, "x"}, Bypassed, "mode")
}

// A shadow sends the client's own body, so nothing is sent a second time.
func TestAShadowOfARouteIsSentOnce(t *testing.T) {
	u := newUpstream(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(400)
		_, _ = w.Write([]byte(`{"error":{"code":"context_length_exceeded","message":"This model's maximum context length is 100 tokens. However, your messages resulted in 3000 tokens."}}`))
	})
	p := inFrontOf(t, u, func(o *Options) { o.Default.Mode = ModeShadow })
	if r := p.chat(agentBody(30, 60)); r.StatusCode != 400 || len(u.requests()) != 1 {
		t.Errorf("%d, %d hits", r.StatusCode, len(u.requests()))
	}
}
