package proxy

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// echo is a service that answers with what it was given.
type echo struct{}

func (echo) Serves(r *http.Request) bool { return r.URL.Path == "/compact" || r.URL.Path == "/health" }

func (echo) Serve(w http.ResponseWriter, r *http.Request, came time.Time, failed func(any)) {
	if came.IsZero() {
		return
	}
	w.Header().Set(headerOutcome, string(Compacted))
	if r.Header.Get("Fail") != "" {
		failed("BUG: it broke")
	}
	_, _ = io.Copy(w, r.Body)
}

func TestTheServiceAnswersInPlaceOfTheUpstream(t *testing.T) {
	u, p := plain(t, func(o *Options) { o.Service, o.Limits.Body = echo{}, 1000 })
	packed := string(gzipped(t, []byte("a body")))
	f := func(method, path, body string, status int, want string, headers ...string) ReplyInfo {
		t.Helper()
		res := p.do(method, path, strings.NewReader(body), headers...)
		if res.StatusCode != status || !strings.Contains(string(res.body), want) {
			t.Errorf("%s %s: %d %q", method, path, res.StatusCode, res.body)
		}
		all := p.replies(1)
		p.mu.Lock()
		p.all = nil
		p.mu.Unlock()
		return all[0]
	}
	if i := f("POST", "/compact", "a body", 200, "a body"); i.Outcome != Compacted || !i.Own || i.Endpoint != "/compact" || i.Code != "" {
		t.Errorf("%+v", i)
	}
	f("POST", "/compact", "a body", 200, "a body", "Fail", "yes")
	if all := p.faults(); len(all) != 1 || all[0].Where != "service" || all[0].What != "BUG: it broke" {
		t.Errorf("%+v", all)
	}
	f("GET", "/health", "", 200, "")
	f("POST", "/compact", packed, 200, "a body", "Content-Encoding", "gzip")
	f("POST", "/compact", packed[:12], 400, "invalid_body", "Content-Encoding", "gzip")
	f("POST", "/compact", "a body", 415, "encoding_not_served", "Content-Encoding", "br")
	f("POST", "/compact", strings.Repeat("x", 1001), 413, "body")
	f("POST", "/compact", "a body", 403, "origin_not_allowed", "Origin", "https://elsewhere.example")
	u.saw(t, 0)
	f("POST", "/v1/compact", "{}", 200, "")
	u.saw(t, 1)
}

func TestTheServiceAsksForAKey(t *testing.T) {
	_, p := plain(t, func(o *Options) {
		o.Service, o.ClientKeys, o.Default.Key = echo{}, []ClientKey{{Key: "one"}}, "house"
	})
	for key, status := range map[string]int{"": 401, "Bearer two": 401, "Bearer one": 200} {
		p.do("POST", "/compact", strings.NewReader("a body"), "Authorization", key).want(t, status, key)
		p.do("GET", "/health", nil, "Authorization", key).want(t, status, "/health", key) // as docs/service.md says
	}
}

func TestTheServiceIsNotOpenToOthersWithoutKeys(t *testing.T) {
	o := options(newUpstream(t, nil).base(t, "/v1"))
	o.Listen, o.Service = "0.0.0.0:7280", echo{}
	if _, err := New(o); err == nil || !strings.Contains(err.Error(), "the service is on") {
		t.Errorf("%v", err)
	}
	o.ClientKeys, o.Default.Key = []ClientKey{{Key: "one"}}, "house"
	p := must(New(o))
	p.Close()
}
