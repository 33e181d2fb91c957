package proxy

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

func TestNothingInARequestMovesItsDestination(t *testing.T) {
	canary := newUpstream(t, nil)
	host := strings.TrimPrefix(canary.URL, "http://")
	u, p := plain(t, func(o *Options) { o.AllowedOrigins = []string{canary.URL} })
	body := fmt.Sprintf(`{"model":"gpt-4o","api_base":%q,"base_url":%q,"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":%q}},`+
		`{"type":"file","file":{"file_url":%q}}]}]}`, canary.URL, canary.URL, canary.URL+"/x.png", "file:///etc/passwd")
	for _, headers := range [][]string{
		{"X-Forwarded-Host", host},
		{"X-Portkey-Custom-Host", canary.URL},
		{"X-Custom-Host", host},
		{"Forwarded", "host=" + host},
		{"X-Original-Url", canary.URL},
		{"X-Rewrite-Url", "/admin"},
		{"X-Laconic-Upstream", canary.URL},
		{"Origin", canary.URL},
	} {
		p.chat(body, headers...).want(t, 200, headers)
	}
	answer := raw(t, p.addr, strings.Replace(post("", body), "Host: localhost", "Host: "+host, 1))
	if statusOf(t, answer) != 200 {
		t.Errorf("Host: %s", answer)
	}
	p.do("POST", "/v1/proxy/chat/completions", strings.NewReader(body)).want(t, 200)
	for _, got := range u.requests() {
		if got.Host != u.Listener.Addr().String() {
			t.Errorf("Host %s", got.Host)
		}
	}
	u.saw(t, 10)
	canary.saw(t, 0)
}

// A JSON object goes where its model is served, whatever its type and path say, and
// anything else goes on as it came.
func TestAnObjectIsRoutedByItsModelWhateverItsTypeSays(t *testing.T) {
	p, rest, guests := house(t)
	f := func(path, kind, body string, want *upstream) {
		t.Helper()
		before := len(want.requests())
		p.do("POST", path, strings.NewReader(body), "Content-Type", kind).want(t, 200, path, kind)
		all := want.requests()
		if len(all) != before+1 || string(all[before].Body) != body {
			t.Errorf("%s %s %q: it went elsewhere, or changed", path, kind, body)
		}
	}
	const object = `{"model":"guest-1","messages":[]}`
	for _, path := range []string{"/api/chat", "/api/generate", "/v1/rerank"} {
		for _, kind := range []string{"application/json", "application/x-www-form-urlencoded", "text/plain", ""} {
			f(path, kind, object, guests)
			f(path, kind, " \r\n"+object, guests)
			f(path, kind, `{"model":"other"}`, rest)
			f(path, kind, "a=b&c={}", rest)
			f(path, kind, "", rest)
			f(path, kind, strings.Repeat(" ", 5000)+object, rest)
			for _, unclear := range []string{"\ufeff" + object, "{\x00\"\x00m\x00", "{'model':'guest-1'}"} {
				if res := p.do("POST", path, strings.NewReader(unclear), "Content-Type", kind); res.StatusCode != 400 || !strings.Contains(string(res.body), codeUnreadable) {
					t.Errorf("%s %s %q: %d %s", path, kind, unclear, res.StatusCode, res.body)
				}
			}
		}
		for _, text := range []string{object, "x"} {
			if res := p.do("POST", path, strings.NewReader(text), "Content-Encoding", "br"); res.StatusCode != 400 || !strings.Contains(string(res.body), codeUnreadable) {
				t.Errorf("%s, not readable: %d %s", path, res.StatusCode, res.body)
			}
		}
	}
}

// A request through another Laconic is no loop. One through this is refused: a story of
// the binary has that.
func TestAnotherLaconicIsNoLoop(t *testing.T) {
	p := inFrontOf(t, newUpstream(t, nil))
	p.do("GET", "/v1/models", nil, "Via", "1.1 laconic-0123456789abcdef").want(t, http.StatusOK)
}
