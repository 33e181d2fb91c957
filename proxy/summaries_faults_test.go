package proxy

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"laconic/proxy/summarize"
)

// long is a history that has passed an epoch, and not the next warm mark.
const long = 16

// waiting lets a request wait for its summary, so that a test sees what became
// of it.
func waiting(o *Options) { o.Summarizer.Wait = 10 * time.Second }

// lastSummary is what became of the slot of the newest request.
func (r *running) lastSummary(n int) summarize.Info {
	r.t.Helper()
	r.replies(n)
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.sent) < n || r.sent[n-1].Summary == nil {
		r.t.Fatalf("request %d of %d had no slot", n, len(r.sent))
	}
	return *r.sent[n-1].Summary
}

// TestWhateverASummarizerDoesTheDigestStandsIn: the request is answered, the
// reason is told, nothing of the answer is kept, and the summarizer is left
// alone for a while; only for this gap, where what it was asked may be why.
func TestWhateverASummarizerDoesTheDigestStandsIn(t *testing.T) {
	ofContent := func(reason string) bool { return !(&summarize.JobInfo{Tries: 1, Reason: reason}).ModelFailed() }
	f := func(name, want string, tries int, reply http.HandlerFunc, change ...func(*Options)) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			u, model := newUpstream(t, nil), newUpstream(t, reply)
			r := summarized(t, u, model, append([]func(*Options){waiting}, change...)...)
			for i, body := range []string{history(long), strings.ReplaceAll(history(long), "line of", "word of")} {
				n := i + 1
				res := r.chat(body)
				res.want(t, 200, n)
				reason := want
				if n == 2 && !ofContent(want) {
					reason = "cooling"
				}
				if got := r.lastSummary(n); got.Outcome != summarize.Digest || got.Reason != reason {
					t.Errorf("request %d: %+v, want %s", n, got, reason)
				}
				if stages := res.Header.Get(headerStages); !strings.HasSuffix(stages, "summary;digest;reason="+reason) {
					t.Errorf("the header says %q", stages)
				}
			}
			r.quietly()
			jobs := 1
			if ofContent(want) {
				jobs = 2
			}
			if got := len(model.requests()); got != tries*jobs {
				t.Errorf("it was asked %d times, want %d in each job", got, tries)
			}
			r.chat(history(long))
			if got := r.lastSummary(3); got.Reason != "cooling" {
				t.Errorf("the first gap again: %+v", got)
			}
			if slot := slotOf(t, u.requests()[0].Body); !strings.HasPrefix(slot, "\n\n[Record of") {
				t.Errorf("the slot holds %q", slot)
			}
			if got := r.summarized(); got != strings.TrimSuffix(strings.Repeat(want+",", jobs), ",") {
				t.Errorf("tried: %s", got)
			}
		})
	}
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { http.Error(w, `{"error":{"message":"canary"}}`, code) }
	}
	f("refuses the key", "status_401", 1, status(401))
	f("refuses the request", "status_400", 2, status(400))
	f("cannot process it", "status_422", 2, status(422))
	f("knows no such model", "status_404", 1, status(404))
	f("has too many requests", "status_429", 2, status(429))
	f("is broken", "status_500", 2, status(500))
	f("sends us elsewhere", "status_307", 1, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
	})
	f("hangs up", "unreachable", 2, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	f("says nothing", "empty", 2, tells(answered("", "stop")))
	f("has no choices", "empty", 2, tells(`{"choices":[]}`))
	f("only reasons", "empty", 2, tells(`{"choices":[{"message":{"content":null,"reasoning_content":"`+strings.ReplaceAll(told, "\n", " ")+`"},"finish_reason":"stop"}]}`))
	f("goes on with the work", "tool_call", 2, tells(`{"choices":[{"message":{"content":"`+strings.ReplaceAll(told, "\n", " ")+`","tool_calls":[{"id":"c","type":"function","function":{"name":"read","arguments":"{}"}}]},"finish_reason":"stop"}]}`))
	f("calls a function", "tool_call", 2, tells(`{"choices":[{"message":{"content":null,"function_call":{"name":"read","arguments":"{}"}},"finish_reason":"function_call"}]}`))
	f("is cut off", "length", 2, tells(answered(told, "length")))
	f("is larger than its slot", "too_large", 2, tells(answered(strings.Repeat(told+" ", 60), "stop")))
	f("is a page", "unreadable", 2, tells("<!DOCTYPE html><html><body>welcome</body></html>"))
	f("streams", "unreadable", 2, tells("data: {\"choices\":[{\"delta\":{\"content\":\"Task\"}}]}\n\ndata: [DONE]\n\n"))
	f("is no JSON", "unreadable", 2, tells("{this is not JSON}"))
	f("is no text", "unreadable", 2, tells(answered(told, "stop")[:100]+"\xff\xfe"+answered(told, "stop")[100:]))
	f("is endless", "unreadable", 2, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"`)
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, strings.Repeat("word ", 10_000)); err != nil {
				return
			}
		}
	})
	short := func(o *Options) { o.Summarizer.Timeout = 500 * time.Millisecond }
	f("hangs", "timeout", 1, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, short)
	f("drips", "timeout", 1, func(w http.ResponseWriter, r *http.Request) {
		for _, b := range []byte(answered(told, "stop")) {
			_, _ = w.Write([]byte{b})
			if http.NewResponseController(w).Flush() != nil || r.Context().Err() != nil {
				return
			}
			time.Sleep(5 * time.Millisecond)
		}
	}, short)
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestAPanicCostsASummaryAndNoMore, and the gap can be tried again.
func TestAPanicCostsASummaryAndNoMore(t *testing.T) {
	u, model := newUpstream(t, nil), newUpstream(t, nil)
	r := summarized(t, u, model, waiting, func(o *Options) {
		o.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
			if r.Header.Get(summarize.Header) != "" {
				panic("canary in a panic")
			}
			return http.DefaultTransport.RoundTrip(r)
		})
	})
	r.chat(history(long)).want(t, 200)
	if got := r.lastSummary(1); got.Outcome != summarize.Digest || got.Reason != "fault" {
		t.Errorf("%+v", got)
	}
	bugs := r.faults()
	if len(bugs) != 1 || bugs[0].Where != "summary" || strings.Contains(bugs[0].What, "canary") {
		t.Errorf("told %+v", bugs)
	}
	if n := r.State().Summarizing; n != 0 {
		t.Errorf("%d are left", n)
	}
}

// TestASmallWindowIsEnough: the answer takes a part of it, so that there is room
// for a transcript, and prompt and answer together do not pass it: servers
// refuse such a request before they read it.
func TestASmallWindowIsEnough(t *testing.T) {
	f := func(window, budget, turns int) {
		t.Helper()
		model := newUpstream(t, tells(answered(told, "stop")))
		r := summarized(t, newUpstream(t, nil), model, waiting, func(o *Options) {
			o.Summarizer.Window, o.Default.Limits.Budget = window, budget
		})
		r.chat(history(turns))
		if got := r.lastSummary(1); got.Outcome != summarize.Made {
			t.Errorf("window %d, budget %d: %+v", window, budget, got)
		}
		all := model.requests()
		for i, g := range all {
			var asked struct {
				Most int `json:"max_tokens"`
			}
			if err := json.Unmarshal(g.Body, &asked); err != nil {
				t.Fatal(err)
			}
			if n := len(g.Body)*2/7 + asked.Most; asked.Most < 500 || n > window*9/10 {
				t.Errorf("window %d, budget %d, piece %d of %d: an answer of %d tokens, %d with its prompt", window, budget, i, len(all), asked.Most, n)
			}
		}
	}
	f(7000, 4000, 60)
	f(4096, 4000, 60)
	f(4096, 20_000, 100)
	f(8192, 20_000, 200)
	f(16_384, 100_000, 800)
}
