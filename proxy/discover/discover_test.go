package discover

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"laconic/compact"
)

func TestSomeUpstreamsAreNotAsked(t *testing.T) {
	for _, host := range []string{"api.openai.com", "API.OPENAI.COM:443", "x.openai.azure.com", "api.deepseek.com"} {
		if !Silent(&url.URL{Host: host}) {
			t.Error(host)
		}
	}
	for _, host := range []string{"localhost:8080", "openrouter.ai", "notapi.openai.com.example"} {
		if Silent(&url.URL{Host: host}) {
			t.Error(host)
		}
	}
}

// Lists may differ by credential, and names that nobody has make no window old.
func TestWhatIsPublishedOfModelsAddsUp(t *testing.T) {
	a, now := &upstream{}, time.Now()
	f := func(of Windows, after time.Duration, want string) {
		t.Helper()
		a.keep(Found{Windows: of}, "m", now.Add(after))
		got := ""
		for _, model := range []string{"a", "b", "c"} {
			p, _ := a.published.of(model)
			got += fmt.Sprint(p.Window, " ")
		}
		if got != want {
			t.Errorf("after %v: %s, want %s", after, got, want)
		}
	}
	f(Windows{"a": {Window: 1000}, "b": {Window: 2000}}, 0, "1000 2000 0 ")
	f(Windows{"b": {Window: 3000}}, publishedLife/2, "1000 3000 0 ")
	f(nil, publishedLife-1, "1000 3000 0 ")
	f(Windows{"c": {Window: 4000}}, publishedLife, "0 0 4000 ")
	f(nil, 2*publishedLife, "0 0 0 ")
}

// A look in which a page failed adds, and takes nothing back.
func TestAPageThatFailsTakesNothingBack(t *testing.T) {
	k, now := &upstream{}, time.Now()
	f := func(p compact.Published, fails bool, want compact.Published) {
		t.Helper()
		k.keep(Found{Windows: Windows{anyModel: p}, loads: !fails, failed: fails}, "m", now)
		if got, _ := k.published.of("m"); got != want || !k.last.loads {
			t.Errorf("%+v, loads %v, want %+v", got, k.last.loads, want)
		}
	}
	whole := compact.Published{Window: 4096, NoTools: true, Runs: compact.Runs{Name: "/x.gguf", Vocabulary: 32_064, Template: "t"}}
	f(whole, false, whole)
	f(compact.Published{Window: 2048, Runs: compact.Runs{Name: "m", Vocabulary: 32_064}}, true, whole)
	f(compact.Published{Runs: compact.Runs{Name: "m"}}, true, whole) // it starts
	other := compact.Published{Window: 2048, Runs: compact.Runs{Name: "m", Vocabulary: 32_064}}
	f(other, false, other)
	if k.keep(Found{Windows: Windows{"n": whole}, failed: true}, "n", now); k.published["n"] != whole || k.next != now.Add(soonTime) {
		t.Errorf("%+v, asked again at %v", k.published, k.next)
	}
}

// handled answers requests by a handler, without a network.
type handled struct {
	http.HandlerFunc
	mu    sync.Mutex
	asked []string
}

func (h *handled) RoundTrip(r *http.Request) (*http.Response, error) {
	h.mu.Lock()
	h.asked = append(h.asked, r.URL.Path)
	h.mu.Unlock()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result(), nil
}

func asking(h http.HandlerFunc) (*Asker, *handled) {
	to := &handled{HandlerFunc: h}
	return New(to, "test", func(v any) { panic(v) }), to
}

// askAs asks for a window under a key, and again once there was time for an answer.
func (m *Asker) askAs(model, key string) (compact.Published, bool) {
	u := Upstream{URL: &url.URL{Scheme: "http", Host: "upstream", Path: "/v1"}, Header: http.Header{"Authorization": {key}}}
	m.Window(u, model)
	synctest.Wait()
	return m.Window(u, model)
}

// However many credentials may not ask, the upstream hears of few, and one that may
// is not kept waiting by them.
func TestCredentialsThatAreDeniedDoNotMultiplyQuestions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, to := asking(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "good" {
				w.WriteHeader(401)
				return
			}
			_, _ = io.WriteString(w, `{"data":[{"id":"m","max_model_len":2048}]}`)
		})
		f := func(key string, window, asked int) {
			t.Helper()
			if p, _ := m.askAs("m", key); p.Window != window || len(to.asked) != asked {
				t.Errorf("%s: a window of %d, asked %v", key, p.Window, to.asked)
			}
		}
		for i := range 40 {
			f(fmt.Sprint("random ", i), 0, 1)
		}
		time.Sleep(deniedPause)
		f("good", 2048, 2)
		time.Sleep(freshTime)
		f("random 41", 2048, 3)
		f("random 42", 2048, 3)
		time.Sleep(publishedLife)
		f("good", 2048, 4)
		m.Close()
	})
}

// An upstream is asked again after a question that panicked.
func TestAQuestionThatPanicsIsNotTheLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := true
		m, _ := asking(func(w http.ResponseWriter, _ *http.Request) {
			if broken {
				panic("broken")
			}
			_, _ = io.WriteString(w, `{"data":[{"id":"m","max_model_len":2048}]}`)
		})
		failed := 0
		m.failed = func(any) { failed++ }
		m.askAs("m", "k")
		broken = false
		time.Sleep(freshTime)
		if p, _ := m.askAs("m", "k"); p.Window != 2048 || failed != 1 {
			t.Errorf("a window of %d after %d panics", p.Window, failed)
		}
		m.Close()
	})
}

// TestAServerThatStartsAnewIsAskedAtOnce: however lately its model was loaded before, or
// it was asked for another that it does not tell of.
// A window that an answer contradicts, and that stays, is asked for once a second.
func TestAServerThatStartsAnewIsAskedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		window := 0
		m, to := asking(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/api/ps" && window == 0 {
				_, _ = io.WriteString(w, `{"models":[]}`)
			} else if r.URL.Path == "/api/ps" {
				_, _ = fmt.Fprintf(w, `{"models":[{"name":"m","context_length":%d}]}`, window)
			} else {
				w.WriteHeader(404)
			}
		})
		defer m.Close()
		u := Upstream{URL: &url.URL{Scheme: "http", Host: "upstream", Path: "/v1"}, Header: http.Header{}}
		m.askAs("m", "")
		m.Again(u, "cloud", false)
		synctest.Wait()
		for _, window = range []int{8192, 4096, 2048} { // loaded, and loaded anew twice
			m.Again(u, "m", window < 8192)
			synctest.Wait()
			if p, _ := m.Window(u, "m"); p.Window != window {
				t.Errorf("a window of %d, want %d", p.Window, window)
			}
		}
		asked := len(to.asked)
		for range 5 {
			m.Again(u, "m", true)
			synctest.Wait()
		}
		if n := len(to.asked) - asked; n != 3 { // one question, of three pages
			t.Errorf("asked for %d pages of a window that stays", n)
		}
		window = 1024
		time.Sleep(reloadTime)
		m.Again(u, "m", true)
		synctest.Wait()
		if p, _ := m.Window(u, "m"); p.Window != window {
			t.Errorf("a window of %d after a question that brought nothing new, want %d", p.Window, window)
		}
	})
}

// A server that somebody starts anew has another window, which the next request asks for where
// one met it while it was away, and else one after a minute, also if it still starts.
func TestAServerThatWasAwayIsAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		window, starts := 2048, false
		m, _ := asking(func(w http.ResponseWriter, _ *http.Request) {
			if starts {
				w.WriteHeader(503)
				return
			}
			_, _ = fmt.Fprintf(w, `{"data":[{"id":"m","owned_by":"vllm","max_model_len":%d}]}`, window)
		})
		defer m.Close()
		f := func(want int) {
			t.Helper()
			if p, _ := m.askAs("m", "k"); p.Window != want {
				t.Errorf("a window of %d, want %d", p.Window, want)
			}
		}
		f(2048)
		window = 4096
		f(2048)
		m.Lost(Upstream{URL: &url.URL{Scheme: "http", Host: "upstream", Path: "/v1"}})
		f(4096)
		window = 8192
		time.Sleep(soonTime)
		f(8192)
		window, starts = 1024, true
		m.Lost(Upstream{URL: &url.URL{Scheme: "http", Host: "upstream", Path: "/v1"}})
		f(8192)
		starts = false
		time.Sleep(soonTime)
		f(1024)
	})
}

func TestAModelThatNobodyHasMakesNoWindowOld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, to := asking(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"data":[{"id":"m","max_model_len":2048}]}`)
		})
		for n := 1; n <= 10; n++ {
			m.askAs("nobody's", "k")
			if len(to.asked) != n {
				t.Errorf("asked %d times, want %d", len(to.asked), n)
			}
			time.Sleep(freshTime)
		}
		m.Close()
	})
}

// TestWhoCutsAndWhoRefuses: an upstream that has the pages of one that cuts what is
// too long is known as that, and so is one that does not answer.
func TestWhoCutsAndWhoRefuses(t *testing.T) {
	f := func(name, account string, pages map[string]string, status int, want bool) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			m, _ := asking(func(w http.ResponseWriter, r *http.Request) {
				page, ok := pages[r.URL.Path]
				if !ok {
					w.WriteHeader(status)
				}
				_, _ = io.WriteString(w, page)
			})
			u := Upstream{URL: &url.URL{Scheme: "http", Host: "upstream", Path: "/v1"}, Account: account, Header: http.Header{}}
			m.Window(u, "m")
			synctest.Wait()
			if _, refuses := m.Window(u, "m"); refuses != want {
				t.Errorf("%s: refuses %v", name, refuses)
			}
			m.Close()
		})
	}
	f("a stranger without their pages", "", nil, 404, true)
	f("one that publishes", "", map[string]string{"/v1/models": `{"data":[{"id":"m","max_model_len":90000}]}`}, 404, true)
	f("Ollama", "", map[string]string{"/api/ps": `{"models":[{"name":"m","context_length":90000}]}`}, 404, false)
	f("Ollama, nothing loaded", "", map[string]string{"/api/ps": `{"models":[]}`}, 404, false)
	f("LM Studio", "", map[string]string{"/api/v0/models": `{"data":[]}`}, 404, false)
	f("pages for people", "", map[string]string{"/api/ps": "<html>", "/api/v0/models": "<html>", "/api/v1/models": "<html>"}, 404, true)
	f("one that says nothing", "", nil, 500, false)
	f("one that is not for this client", "", nil, 401, false)
	f("with the operator's key", "k", nil, 404, false)
}
