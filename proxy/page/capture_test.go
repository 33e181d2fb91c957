package page

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"laconic/proxy"
)

const key = "sk-proj-abcdefghij0123456789abcdefghij"

// take lets a capture keep one body and what was sent in its place, and waits until
// it is masked.
func take(c *capture, id string, t *tenant, body, sent string) {
	c.take(&proxy.PlanInfo{ID: id, Body: []byte(body), SentBody: []byte(sent)}, t)
	c.ended.Wait()
}

// get returns what the page answers for the texts of a request.
func get(p *Page, path string) string {
	w := httptest.NewRecorder()
	p.serveTexts(w, httptest.NewRequest(http.MethodGet, "/page/api/texts/"+path, nil))
	return w.Body.String()
}

func TestTextsAreMasked(t *testing.T) {
	p := New(Options{Capture: 1 << 20})
	defer p.Close()
	take(p.capture, "one", &tenant{},
		"{\"model\": \"m\",\n  \"n\": 1.50, \"api_key\":\"x\", \"messages\":[{\"role\":\"user\",\"content\":\"it's "+key+` \u00e9 <b>"}]}`,
		`{"messages":[{"role":"assistant","tool_calls":[{"function":{"arguments":"{\"password\":\"hunter\\u0032\"}"}}]},{"role":"user","content":"`+key+`"}]}`)
	if got, want := get(p, "one.jsonl"), `{"model":"m","n":1.50,"api_key":"[secret]","messages":[{"role":"user","content":"it's [secret] é <b>"}]}`+"\n"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	all := get(p, "one")
	if strings.Contains(all, "abcdefghij") || strings.Contains(all, "hunter") || !strings.Contains(all, `"after":`) {
		t.Error(all)
	}
	if got := get(p, "another"); !strings.Contains(got, "not kept") {
		t.Error(got)
	}
}

// A text is seen by nobody before it is masked.
func TestTextsWaitForTheirMask(t *testing.T) {
	p := New(Options{Capture: 1 << 20})
	defer p.Close()
	p.capture.masking = true // by nobody
	take(p.capture, "one", &tenant{}, `["`+key+`"]`, "")
	if p.capture.texts("one") != nil {
		t.Error("it is seen")
	}
	told := make(chan string)
	go func() { told <- get(p, "one") }() // waits
	p.capture.mask()
	if got := <-told; !strings.Contains(got, `["[secret]"]`) {
		t.Error(got)
	}
	for _, end := range []func(){func() { p.Forget("") }, p.Close} {
		p.capture.masking = true
		take(p.capture, "two", &tenant{}, `["b"]`, "")
		go func() { told <- get(p, "two") }()
		end()
		if got := <-told; !strings.Contains(got, "not kept") {
			t.Error(got)
		}
	}
}

// A tenant that sends much pushes out nothing of one that sends little.
func TestTextsAreBounded(t *testing.T) {
	const size = 64 << 10
	c := newCapture(size)
	defer c.close()
	much, little := &tenant{name: "much"}, &tenant{name: "little"}
	body := func(n int) string { return fmt.Sprintf(`{"messages":[%q]}`, strings.Repeat("x", n)) }
	holds := func() {
		t.Helper()
		held := 0
		for _, one := range c.byID {
			held += capturedRoom + len(one.before) + len(one.after)
		}
		listed := 0
		for _, s := range c.shares {
			listed += len(s.all)
		}
		if held != c.held || held > size || listed != len(c.byID) {
			t.Fatalf("%d bytes, %d noted, of %d; %d requests, %d listed", held, c.held, size, len(c.byID), listed)
		}
	}
	take(c, "little", little, body(1000), body(10))
	for n := range 200 {
		take(c, fmt.Sprint(n), much, body(5000), body(100))
		holds()
	}
	if c.texts("little") == nil || c.texts("199") == nil || c.texts("0") != nil {
		t.Errorf("%d bytes, %d requests", c.held, len(c.byID))
	}
	take(c, "large", much, body(size), body(10))
	if c.texts("large") != nil {
		t.Error("more than all was kept")
	}
	take(c, "little", little, body(1000), body(20)) // sent a second time
	if n := len(c.shares[little].all); n != 1 {
		t.Errorf("%d texts of one request", n)
	}
	take(c, "no JSON", little, "[", "[")
	take(c, "of marks", little, `{"a":["`+strings.Repeat(`p@://a:b@h `, 1000)+`"]}`, "") // it grows
	holds()
	if c.texts("no JSON") != nil || c.texts("of marks") == nil {
		t.Error(len(c.byID))
	}
}

// What is kept of a client goes when it is asked for, whether it was masked or not.
func TestTextsAreForgotten(t *testing.T) {
	p := New(Options{Capture: 1 << 20})
	defer p.Close()
	alice, other := &tenant{name: "ALICE", named: true}, &tenant{name: "key 0a0b0c"}
	take(p.capture, "one", alice, `["a"]`, "")
	take(p.capture, "two", other, `["b"]`, "")
	p.capture.masking = true // by nobody, until it is asked to
	take(p.capture, "three", alice, `["c"]`, `["d"]`)
	p.Forget("ALICE")
	p.capture.mask()
	if c := p.capture; c.texts("one") != nil || c.texts("three") != nil || c.texts("two") == nil || len(c.shares) != 1 || c.held != c.byID["two"].size {
		t.Errorf("%d texts of %d senders, %d bytes", len(c.byID), len(c.shares), c.held)
	}
	p.Forget("")
	if c := p.capture; len(c.byID)+len(c.shares)+c.held != 0 {
		t.Errorf("%d texts of %d senders, %d bytes", len(c.byID), len(c.shares), c.held)
	}
	New(Options{}).Forget("ALICE") // nothing is captured
}

// What waits to be masked is bounded, and counted as what is kept is.
func TestTextsThatWaitAreBounded(t *testing.T) {
	const size = 64 << 10
	c := newCapture(size)
	c.masking = true // by nobody
	body := fmt.Sprintf(`[%q]`, strings.Repeat("x", 5000))
	for n := range 2 * mostWaiting {
		take(c, fmt.Sprint(n), &tenant{}, body, "")
		if c.held > size {
			t.Fatalf("%d bytes", c.held)
		}
	}
	if len(c.waiting) != mostWaiting {
		t.Errorf("%d wait", len(c.waiting))
	}
	c.close()
	c.mask()
	if take(c, "late", &tenant{}, body, ""); len(c.waiting) != 0 || c.texts("late") != nil {
		t.Error("it goes on after its end")
	}
}

// Many at once.
func TestTextsOfManyAtOnce(t *testing.T) {
	p := New(Options{Capture: 64 << 10})
	var all sync.WaitGroup
	for n := range 8 {
		who := &tenant{}
		all.Go(func() {
			for i := range 100 {
				id := fmt.Sprintf("%d-%d", n, i%90)
				p.capture.take(&proxy.PlanInfo{ID: id, Body: []byte(fmt.Sprintf(`{"a":"%d %s"}`, i, key))}, who)
				if got := get(p, id); strings.Contains(got, key) {
					t.Error(got)
				}
			}
		})
	}
	all.Wait()
	p.Close()
	if p.capture.held > p.capture.size {
		t.Errorf("%d bytes", p.capture.held)
	}
}
