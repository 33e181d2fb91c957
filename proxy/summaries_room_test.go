package proxy

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"laconic/proxy/summarize"
)

// TestASummarizerMayRefuseALimit, or a temperature: models that write at most
// 4,096 tokens do. It is asked without, and from the start the next time.
func TestASummarizerMayRefuseALimit(t *testing.T) {
	for _, code := range []int{http.StatusBadRequest, http.StatusUnprocessableEntity} {
		var model *upstream
		model = newUpstream(t, func(w http.ResponseWriter, r *http.Request) {
			all := model.requests()
			if s := string(all[len(all)-1].Body); strings.Contains(s, `"max_`) || strings.Contains(s, `"temperature"`) {
				http.Error(w, `{"error":{"message":"the valid range of max_tokens is [1, 8192]"}}`, code)
				return
			}
			tells(answered(told, "stop"))(w, r)
		})
		r := summarized(t, newUpstream(t, nil), model, waiting)
		for n, body := range []string{history(long), strings.ReplaceAll(history(long), "line of", "word of")} {
			r.chat(body)
			if got := r.lastSummary(n + 1); got.Outcome != summarize.Made {
				t.Errorf("%d, request %d: %+v", code, n+1, got)
			}
		}
		if got := len(model.requests()); got != 3 {
			t.Errorf("%d: it was asked %d times for two summaries, want 3", code, got)
		}
	}
}

// TestWhatIsRefusedInAnyCase says nothing of limits.
func TestWhatIsRefusedInAnyCase(t *testing.T) {
	model := newUpstream(t, func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "{}", http.StatusBadRequest) })
	r := summarized(t, newUpstream(t, nil), model, waiting)
	r.chat(history(long))
	if got := r.lastSummary(1); got.Reason != "status_400" {
		t.Errorf("%+v", got)
	}
	r.chat(strings.ReplaceAll(history(long), "line of", "word of"))
	if all := model.requests(); len(all) != 4 || !strings.Contains(string(all[2].Body), `"max_tokens"`) {
		t.Errorf("%d requests, the third without a limit", len(all))
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
	f(summarize.LeastWindow, 4000, 60)
	f(summarize.LeastWindow, 20_000, 100)
	f(8192, 20_000, 200)
	f(16_384, 100_000, 800)
}

// TestALongEarlierSummaryIsReadOnce, as the first of what is summarized, where
// it would leave too little of the window for each piece.
func TestALongEarlierSummaryIsReadOnce(t *testing.T) {
	early := strings.Repeat("It read one more of the files. ", 100) + told // however it is shortened, its beginning stays
	var n atomic.Int32
	model := newUpstream(t, func(w http.ResponseWriter, r *http.Request) {
		if n.Add(1) == 1 {
			tells(answered(early, "stop"))(w, r)
			return
		}
		tells(answered(told, "stop"))(w, r)
	})
	vault, u := memoryStore(t), newUpstream(t, nil)
	with := func(window int) *running {
		return summarized(t, u, model, waiting, func(o *Options) {
			o.Summarizer.Window, o.Summarizer.Store, o.Default.Limits.Budget = window, vault, 8000
		})
	}
	r := with(100_000)
	turns := 20
	for ; n.Load() == 0 && turns < 200; turns++ {
		r.chat(history(turns))
	}
	r.quietly()
	if c := r.SummaryCounts(); c.Jobs != 1 {
		t.Fatalf("%+v", c)
	}
	r.stop()
	r = with(summarize.LeastWindow)
	r.chat(history(turnWith(t, 8000, 0, madeAnew)))
	all := model.requests()
	if len(all) < 3 {
		t.Fatalf("%d requests", len(all))
	}
	if second := string(all[1].Body); !strings.Contains(second, "one more of the files") || strings.Contains(second, "Update the summary") {
		t.Errorf("the second request:\n%s", second)
	}
	if third := string(all[2].Body); strings.Contains(third, "one more of the files") || !strings.Contains(third, "Update the summary") {
		t.Errorf("the third request:\n%s", third)
	}
}
