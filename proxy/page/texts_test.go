package page

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"laconic/proxy"
	"laconic/proxy/summarize"
)

const key = "sk-proj-abcdefghij0123456789abcdefghij"

// take lets a page keep one body and what was sent in its place.
func take(p *Page, id, client, body, sent string) {
	r := p.at(id)
	r.from.Key = client
	p.keep(r, textsOf(&proxy.PlanInfo{ID: id, Body: []byte(body), SentBody: []byte(sent)}))
}

// get returns what the page answers for the texts of a request.
func get(p *Page, path string) string {
	w := httptest.NewRecorder()
	p.serveTexts(w, httptest.NewRequest(http.MethodGet, "/page/api/texts/"+path, nil))
	return w.Body.String()
}

func TestTextsAreMasked(t *testing.T) {
	p := newPage(Options{Capture: 1 << 20})
	take(p, "one", "", "{\"model\": \"m\",\n  \"n\": 1.50, \"api_key\":\"x\", \"messages\":[{\"role\":\"user\",\"content\":\"it's "+key+` \u00e9 <b>"}]}`,
		`{"messages":[{"role":"assistant","tool_calls":[{"function":{"arguments":"{\"password\":\"hunter\\u0032\"}"}}]},{"role":"user","content":"`+key+`"}]}`)
	if got, want := get(p, "one.jsonl"), `{"model":"m","n":1.50,"api_key":"[secret]","messages":[{"role":"user","content":"it's [secret] é <b>"}]}`+"\n"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	all := get(p, "one")
	if strings.Contains(all, "abcdefghij") || strings.Contains(all, "hunter") || !strings.Contains(all, `"after":`) {
		t.Error(all)
	}
	take(p, "broken", "", "[", "[")
	for _, none := range []string{"another", "broken"} {
		if got := get(p, none); !strings.Contains(got, "not kept") {
			t.Error(got)
		}
	}
}

// A client that sends much pushes out nothing of one that sends little, and what is kept
// of a client goes when that is asked for.
func TestTextsAreBoundedAndForgotten(t *testing.T) {
	const size = 64 << 10
	p := newPage(Options{Capture: size})
	body := func(n int) string { return fmt.Sprintf(`{"messages":[%q]}`, strings.Repeat("x", n)) }
	holds := func() {
		t.Helper()
		held := map[string]int{}
		total := 0
		for _, r := range p.requests {
			held[r.from.Key] += r.texts.size()
			total += r.texts.size()
		}
		for client, n := range held {
			if n != p.held[map[bool]string{true: client, false: "no key"}[client != ""]] {
				t.Fatalf("%d bytes of %s, noted %v", n, client, p.held)
			}
		}
		if total > size {
			t.Fatalf("%d bytes of %d", total, size)
		}
	}
	kept := func(id string) bool { return p.byID[id].texts != nil }
	take(p, "little", "little", body(1000), body(10))
	for n := range 200 {
		take(p, fmt.Sprint(n), "much", body(5000), body(100))
		holds()
	}
	if !kept("little") || !kept("199") || kept("0") {
		t.Errorf("%v", p.held)
	}
	take(p, "large", "much", body(size), body(10))
	if kept("large") {
		t.Error("more than all was kept")
	}
	take(p, "little", "little", body(1000), body(20)) // sent a second time
	take(p, "nameless", "", body(10), "")
	holds()
	p.Forget("much")
	if kept("199") || !kept("little") || !kept("nameless") {
		t.Errorf("%v", p.held)
	}
	p.Listener().Erased(summarize.ErasedInfo{}) // at another replica
	if kept("little") || kept("nameless") || len(p.held) != 0 {
		t.Errorf("%v", p.held)
	}
	take(p, "last", "little", body(10), "")
	for n := range mostRequests {
		p.at(fmt.Sprint("new ", n))
	}
	if len(p.held) != 0 {
		t.Errorf("%v is held of requests that left", p.held)
	}
}
