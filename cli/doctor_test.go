package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"laconic/demo/strict"
	"laconic/e2e/rig"
	"laconic/proxy/discover"
	"laconic/proxy/why"
	"laconic/store/storetest"
)

// examined runs laconic doctor with a configuration, and returns its exit code and
// its findings.
func examined(t *testing.T, text string, args ...string) (code int, all []finding) {
	t.Helper()
	t.Chdir(t.TempDir())
	writeFile(t, "laconic.yaml", text)
	code, out, said := run(t, append([]string{"doctor", "--json"}, args...)...)
	if err := json.Unmarshal([]byte(out), &all); err != nil || said != "" {
		t.Fatalf("%v\n%s%s", err, out, said)
	}
	return code, all
}

// has reports whether there is a finding, by pieces of what it says and of its fix.
func has(all []finding, check string, s why.State, says, fix string) bool {
	for _, f := range all {
		if f.Check == check && f.State == s && strings.Contains(f.Says, says) && strings.Contains(f.Fix, fix) {
			return true
		}
	}
	return false
}

// upstreamWith is a strict upstream that publishes a window.
func upstreamWith(t *testing.T, o strict.Options, wrap func(http.Handler) http.Handler) string {
	t.Helper()
	u := strict.New(o)
	var h http.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/models" && (o.Key == "" || r.Header.Get("Authorization") == "Bearer "+o.Key) {
			_, _ = io.WriteString(w, `{"object":"list","data":[{"id":"small","object":"model","owned_by":"vllm","max_model_len":8000}]}`)
			return
		}
		if !strings.HasPrefix(r.URL.Path, "/v1/") {
			http.NotFound(w, r)
			return
		}
		u.ServeHTTP(pausing{w}, r)
	})
	if wrap != nil {
		h = wrap(h)
	}
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

// pausing takes a while for each event of a stream.
type pausing struct{ http.ResponseWriter }

func (p pausing) FlushError() error {
	time.Sleep(30 * time.Millisecond)
	return http.NewResponseController(p.ResponseWriter).Flush()
}

// buffered keeps an answer until it is complete, as a web server with buffering does.
func buffered(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec := httptest.NewRecorder()
		next.ServeHTTP(rec, r)
		for name := range rec.Header() {
			w.Header().Set(name, rec.Header().Get(name))
		}
		w.WriteHeader(rec.Code)
		_, _ = w.Write(rec.Body.Bytes())
	})
}

const unwatched = "admin: off\n"

// TestDoctorFindsFaults: each is found, with what would cure it, and a set-up
// without it is well.
func TestDoctorFindsFiveFaults(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "sk-right")
	t.Setenv("OPENAI_BASE_URL", "")
	slow := strict.Options{Key: "sk-right", Reply: func(*strict.Request) strict.Reply {
		return strict.Reply{Text: strings.Repeat("one two three four five six. ", 8)}
	}}
	good := upstreamWith(t, slow, nil)
	f := func(text string, want int, check string, s why.State, says, fix string, args ...string) {
		t.Helper()
		if code, all := examined(t, unwatched+text, args...); code != want || !has(all, check, s, says, fix) || strings.Contains(fmt.Sprint(all), "canary") {
			t.Errorf("%s: %d %+v", text, code, all)
		}
	}

	code, all := examined(t, unwatched+"upstream: "+good+"/v1\nmodels:\n  - {match: small, window: 8000}\n", "--probe")
	if code != 0 || !has(all, "stream", why.Fine, "as they are made", "") || !has(all, "windows", why.Fine, "1 model", "") || !has(all, "upstream", why.Fine, "with 1 model", "") {
		t.Errorf("a good set-up: %d %+v", code, all)
	}

	for _, alone := range []string{"/v1/responses", "/v1/messages"} {
		only := upstreamWith(t, slow, func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodPost && r.URL.Path != alone {
					http.NotFound(w, r)
					return
				}
				if key := r.Header.Get("X-Api-Key"); key != "" {
					r.Header.Set("Authorization", "Bearer "+key)
				}
				next.ServeHTTP(w, r)
			})
		})
		if _, all := examined(t, unwatched+"upstream: "+only+"/v1\n", "--probe"); !has(all, "stream", why.Fine, "as they are made", "") {
			t.Errorf("%s alone: %+v", alone, all)
		}
	}

	t.Run("unknown model", func(t *testing.T) {
		asked := 0
		only := upstreamWith(t, slow, func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method != http.MethodPost {
					next.ServeHTTP(w, r)
				} else if asked++; r.URL.Path == "/v1/chat/completions" {
					w.WriteHeader(http.StatusNotFound)
					_, _ = io.WriteString(w, `{"error":{"message":"model 'gone' not found","type":"not_found_error"}}`)
				} else {
					http.Error(w, "broken", http.StatusInternalServerError)
				}
			})
		})
		if _, all := examined(t, unwatched+"upstream: "+only+"/v1\n", "--probe", "--model", "gone"); !has(all, "stream", why.Failure, "the probe of gone with 404", "--model NAME") || asked != 1 {
			t.Errorf("asked %d times: %+v", asked, all)
		}
	})
	t.Run("Ollama with nothing loaded", func(t *testing.T) {
		port := serving(t, map[string]string{"/v1/models": `{"data":[{"id":"m"}]}`, "/api/ps": `{"models":[]}`})
		_, all := examined(t, fmt.Sprintf("%supstream: http://127.0.0.1:%d/v1\n", unwatched, port))
		if !has(all, "windows", why.Unknown, "its default window, on machines with little memory, is 4096", "OLLAMA_CONTEXT_LENGTH") {
			t.Errorf("%+v", all)
		}
		if _, _, out, _ := initialized(t, []discover.Program{{Name: "Ollama", Port: port}}); !strings.Contains(out, "hint: Ollama has no model loaded") {
			t.Error(out)
		}
	})
	f("upstream: "+good+"/v1\nmodels:\n  - {match: \"*\", api_key: sk-canary}\n", 2, "upstream", why.Failure, `refuses api_key of the row "*" with 401`, "correct api_key")
	f("upstream: "+good+"/api\n", 2, "upstream", why.Failure, "has no list of models (GET /api/models: 404)", "upstream: "+good+"/v1")
	f("upstream: "+good+"/v1\nmodels:\n  - {match: \"s*\", window: 32000}\n", 2, "windows", why.Failure,
		"small: window is 32000, and the upstream runs it with 8000", `window: 8000 in the row "s*"`)
	f("upstream: "+upstreamWith(t, slow, buffered)+"/v1\n", 1, "stream", why.Warning, "something holds streams back", "proxy_buffering off", "--probe")
	t.Run("tools above 40 %", func(t *testing.T) {
		set := "upstream: " + good + "/v1\nadmin: " + storetest.FreeAddress(t) + "\nmodels:\n  - {match: \"*\", budget: 4000}\n"
		withProxy(t, set, func(base string) {
			tool := fmt.Sprintf(`{"type":"function","function":{"name":"tool","description":"%s","parameters":{"type":"object","properties":{}}}}`, strings.Repeat("does this and that ", 600))
			rig.Post(t, base+"/chat/completions", []byte(`{"model":"small","messages":[{"role":"user","content":"hi"}],"tools":[`+tool+`]}`),
				"Authorization", "Bearer sk-right")
			code, all := examined(t, set)
			if code != 1 || !has(all, "tools", why.Warning, "of the budget, and cannot be compacted", "switch off tools") {
				t.Errorf("%d %+v", code, all)
			}
		})
		if code, all := examined(t, set); code != 0 || !has(all, "traffic", why.Unknown, "no running proxy at 127.0.0.1:", "") {
			t.Errorf("%d %+v", code, all)
		}
	})
	t.Setenv("OPENAI_API_KEY", "sk-canary")
	f("upstream: "+good+"/v1\n", 2, "upstream", why.Failure, "refuses OPENAI_API_KEY", "correct OPENAI_API_KEY")
	t.Setenv("OPENAI_API_KEY", "")
	f("upstream: "+good+"/v1\n", 1, "upstream", why.Warning, "wants a key", "set OPENAI_API_KEY")
}

var baseURL = regexp.MustCompile(`"base_url":"([^"]+)"`)

// withProxy calls f while a proxy with a configuration runs. Run is the whole program, so it
// must not outlive what it was given.
func withProxy(t *testing.T, text string, f func(base string)) {
	t.Helper()
	t.Chdir(t.TempDir())
	writeFile(t, "laconic.yaml", text)
	ctx, stop := context.WithCancel(t.Context())
	var said lockedText
	done := make(chan int, 1)
	go func() {
		done <- Run(ctx, []string{"--listen", "127.0.0.1:0", "--log-format", "json"}, strings.NewReader(""), io.Discard, &said)
	}()
	rig.Eventually(t, "the start", func() bool { return baseURL.MatchString(said.String()) })
	defer func() {
		rig.Client.CloseIdleConnections()
		stop()
		if code := <-done; code != 0 {
			t.Errorf("exit code %d: %s", code, said.String())
		}
	}()
	f(baseURL.FindStringSubmatch(said.String())[1])
}

func TestDoctorJudges(t *testing.T) {
	f := func(got finding, s why.State, says string) {
		t.Helper()
		if got.State != s || !strings.Contains(got.Says, says) || (got.Fix == "") != (s == why.Fine || s == why.Unknown) {
			t.Errorf("%+v, want %s: %s", got, s, says)
		}
	}
	const ms = time.Millisecond
	// came returns what is seen of events that came at these times.
	came := func(at ...time.Duration) finding {
		n := 0
		return timesOf(strings.NewReader(strings.Repeat("data: {}\n\n", len(at))), func() time.Duration { n++; return at[n-1] }).judged()
	}
	every := func(n int, from, pause time.Duration) (at []time.Duration) {
		for i := range n {
			at = append(at, from+time.Duration(i)*pause)
		}
		return at
	}
	f(came(every(40, time.Second, ms/10)...), why.Warning, "holds streams back: 40 events, the first after 1s, the last 4ms later")
	f(came(every(40, 300*ms, 20*ms)...), why.Fine, "as they are made")
	f(came(every(40, 30*ms, ms/10)...), why.Fine, "as they are made") // nothing took any time
	f(came(every(3, time.Second, 0)...), why.Unknown, "too short")
	f(came(slices.Concat(every(33, 700*ms, ms/50), every(8, 820*ms, ms/50))...), why.Warning, "the last 120ms later, 39 of them together with the one before")
	f(came(slices.Concat(every(13, 300*ms, ms/50), every(13, 560*ms, ms/50), every(13, 820*ms, ms/50))...), why.Warning, "holds streams back")
	f(came(slices.Concat(every(20, 300*ms, 20*ms), every(20, time.Second, 20*ms))...), why.Fine, "as they are made") // the model paused
	f(came(slices.Concat(every(50, 300*ms, ms/2), every(50, 340*ms, ms/2))...), why.Fine, "as they are made")        // a fast model
}

// A proxy that goes to another upstream is another set-up's, also where neither has a file.
func TestDoctorKnowsWhoseProxyItAsked(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	admin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, `[{"check":"running","state":"ok","says":"laconic 1 in front of http://127.0.0.1:1/v1, without a configuration file"}]`)
	}))
	defer admin.Close()
	for upstream, want := range map[string]string{"http://127.0.0.1:1/v1": "ok ", "http://127.0.0.1:2/v1": "warn "} {
		_, out, _ := run(t, "doctor", "--admin", admin.Listener.Addr().String(), "--upstream", upstream)
		if _, line, _ := strings.Cut(out, "\n"+want); !strings.Contains(line, " running ") || strings.Contains(out, "another set-up") != (want == "warn ") {
			t.Errorf("%s:\n%s", upstream, out)
		}
	}
}

func TestDoctorOnABrokenFile(t *testing.T) {
	code, all := examined(t, "upstrem: http://x.example/v1\n")
	if code != 2 || len(all) != 1 || !has(all, "configuration", why.Failure, `unknown key`, "did you mean upstream?") {
		t.Errorf("%d %+v", code, all)
	}
}

// An upstream that takes a probe and says nothing is waited for as long as --timeout
// says, before its answer and within it.
func TestDoctorOfAnUpstreamThatIsSilent(t *testing.T) {
	for name, begins := range map[string]bool{"no answer": false, "an answer that begins": true} {
		t.Run(name, func(t *testing.T) {
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodGet {
					_, _ = io.WriteString(w, `{"data":[{"id":"m"}]}`)
					return
				}
				_, _ = io.Copy(io.Discard, r.Body)
				if begins {
					_, _ = io.WriteString(w, "data: {}\n\n")
					_ = http.NewResponseController(w).Flush()
				}
				<-r.Context().Done()
			}))
			defer srv.Close()
			code, all := examined(t, unwatched+"upstream: "+srv.URL+"/v1\n", "--probe", "--timeout", "200ms")
			if code != exitFailures || !has(all, "stream", why.Failure, "its answer did not end in 200ms", "--timeout") {
				t.Errorf("%d %v", code, all)
			}
		})
	}
}

// An upstream that runs and cannot be reached is not to be started.
func TestDoctorKnowsWhyAnUpstreamIsNotReached(t *testing.T) {
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	f := func(upstream, fix string) {
		t.Helper()
		code, all := examined(t, unwatched+"upstream: "+upstream+"\n")
		if code != exitFailures || !has(all, "upstream", why.Failure, "cannot be reached", fix) {
			t.Errorf("%s: %d %v", upstream, code, all)
		}
	}
	f("https"+plain.URL[4:]+"/v1", "write http:// in upstream")
	f("http://no-such-host.invalid/v1", "correct the name of the host")
	private := httptest.NewTLSServer(http.NotFoundHandler())
	private.Config.ErrorLog = log.New(io.Discard, "", 0)
	defer private.Close()
	f(private.URL+"/v1", "SSL_CERT_FILE")
	f("http://127.0.0.1:1/v1", "start it")
}
