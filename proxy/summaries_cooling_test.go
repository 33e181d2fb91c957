package proxy

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"laconic/store"
)

// TestOneClientsContentIsNotAnothers: what is in one gap may make any model
// refuse, or give no summary. Only if several gaps in a row do so the model is
// taken to be the reason.
func TestOneClientsContentIsNotAnothers(t *testing.T) {
	f := func(want string, bad http.HandlerFunc) {
		t.Helper()
		var model *upstream
		model = newUpstream(t, func(w http.ResponseWriter, r *http.Request) {
			if all := model.requests(); strings.Contains(string(all[len(all)-1].Body), "line of f1.") {
				tells(answered(told, "stop"))(w, r)
				return
			}
			bad(w, r)
		})
		r := summarized(t, newUpstream(t, nil), model, waiting)
		n := 0
		ask := func(word, key, reason string) {
			t.Helper()
			n++
			r.chat(strings.ReplaceAll(history(long), "line of", word), "Authorization", key)
			if got := r.lastSummary(n); got.Reason != reason {
				t.Errorf("%s: %q, %s: %+v", want, word, key, got)
			}
		}
		ask("evil of", "a", want)
		ask("evil of", "a", "cooling") // this gap
		ask("line of", "b", "")
		for i := range mostDoubts {
			ask(fmt.Sprintf("evil %02d", i), "a", want)
		}
		ask("evil of", "b", "cooling")
		ask("line of", "c", "cooling")
	}
	f("short", tells(answered("no", "stop")))
	f("finish", tells(answered(told, "content_filter")))
	f("status_400", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "{}", http.StatusBadRequest) })
	f("status_413", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "{}", http.StatusRequestEntityTooLarge) })
}

// TestTheSameGapAgainIsNoFurtherDoubt.
func TestTheSameGapAgainIsNoFurtherDoubt(t *testing.T) {
	s := newSummaries(&Proxy{}, &Summarizer{Transport: http.DefaultTransport})
	defer s.close()
	for range 2 * mostDoubts {
		s.doubt("it", store.Key{1})
	}
	if s.isCooling("it") {
		t.Error("one gap is enough")
	}
	for i := range mostDoubts - 2 {
		s.doubt("it", store.Key{2, byte(i)})
	}
	s.warmUp("it")
	s.doubt("it", store.Key{3})
	if s.isCooling("it") {
		t.Error("a success between them does not count")
	}
}

// TestASummarizerIsLeftAloneLongerEachTime, until it answers again.
func TestASummarizerIsLeftAloneLongerEachTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSummaries(&Proxy{}, &Summarizer{Transport: http.DefaultTransport})
		defer s.cancel()
		f := func(pause time.Duration) {
			t.Helper()
			s.coolDown("it")
			s.coolDown("it") // another job of the same time
			time.Sleep(pause - time.Second)
			if !s.isCooling("it") || s.isCooling("other") {
				t.Errorf("it is asked again before %v", pause)
			}
			time.Sleep(2 * time.Second)
			if s.isCooling("it") {
				t.Errorf("it is not asked again after %v", pause)
			}
		}
		for range 2 {
			f(60 * time.Second)
			f(300 * time.Second)
			f(900 * time.Second)
			f(900 * time.Second)
			s.warmUp("it")
		}
	})
}

// TestAnUnfoldedPolicyAsksAgainAtTheNextAttempt, though the summarizer failed a
// moment ago; but by one request at a time.
func TestAnUnfoldedPolicyAsksAgainAtTheNextAttempt(t *testing.T) {
	s := newSummaries(&Proxy{}, &Summarizer{Transport: http.DefaultTransport})
	s.coolDown("own")
	f := func(again bool, want string) {
		t.Helper()
		if j, why := s.standing(store.Key{2}, "own", 1000, true, again); j != nil || why != want {
			t.Errorf("again %v: %v, %q, want %q", again, j, why, want)
		}
	}
	f(false, "cooling")
	f(true, "")
	s.jobs[store.Key{1}] = &job{coolKey: "another"}
	f(true, "")
	s.jobs[store.Key{1}] = &job{coolKey: "own"}
	f(true, "cooling")
}
