package proxy

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"laconic/compact"
	"laconic/proxy/summarize"
)

// TestFiftyRequestsAtOnceAskOnce, and get the same.
func TestFiftyRequestsAtOnceAskOnce(t *testing.T) {
	u := newUpstream(t, nil)
	open := make(chan struct{})
	model := newUpstream(t, func(w http.ResponseWriter, r *http.Request) {
		<-open
		tells(answered(told, "stop"))(w, r)
	})
	r := summarized(t, u, model, waiting)
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			if res := r.chat(history(long)); res.StatusCode != 200 {
				t.Errorf("%s", res.body)
			}
		})
	}
	for range 2000 {
		if len(model.requests()) > 0 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	close(open)
	wg.Wait()
	if got := len(model.requests()); got != 1 {
		t.Errorf("%d requests to the summarizer", got)
	}
	first := string(u.requests()[0].Body)
	for _, g := range u.requests() {
		if string(g.Body) != first || !strings.Contains(first, "[Summary of") {
			t.Fatal("they did not all get the same")
		}
	}
}

// TestAClientThatLeavesDoesNotEndItsSummary: the next request has it.
func TestAClientThatLeavesDoesNotEndItsSummary(t *testing.T) {
	u := newUpstream(t, nil)
	asked, open := make(chan struct{}), make(chan struct{})
	model := newUpstream(t, func(w http.ResponseWriter, r *http.Request) {
		close(asked)
		<-open
		tells(answered(told, "stop"))(w, r)
	})
	r := summarized(t, u, model, waiting)
	ctx, leave := context.WithCancel(context.Background())
	req, err := http.NewRequestWithContext(ctx, "POST", r.url+"/v1/chat/completions", strings.NewReader(history(long)))
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		res, err := client.Do(req)
		if err == nil {
			_ = res.Body.Close()
		}
		ended <- err
	}()
	<-asked
	leave()
	if err := <-ended; err == nil {
		t.Fatal("the client did not leave")
	}
	r.replies(1)
	close(open)
	r.quietly()
	r.chat(history(long))
	if got := r.lastSummary(2); got.Outcome != summarize.Hit {
		t.Errorf("%+v", got)
	}
	if n := len(model.requests()); n != 1 {
		t.Errorf("%d requests to the summarizer", n)
	}
}

// TestARequestIsHeldNoLongerThanItMay.
func TestARequestIsHeldNoLongerThanItMay(t *testing.T) {
	open := make(chan struct{})
	model := newUpstream(t, func(w http.ResponseWriter, r *http.Request) {
		<-open
		tells(answered(told, "stop"))(w, r)
	})
	u := newUpstream(t, nil)
	f := func(wait time.Duration, want string) {
		t.Helper()
		r := summarized(t, u, model, func(o *Options) { o.Summarizer.Wait = wait })
		if res := r.chat(history(long)); res.StatusCode != 200 {
			t.Fatalf("%s", res.body)
		}
		if got := r.lastSummary(1); got.Outcome != summarize.Digest || got.Reason != want {
			t.Errorf("%+v, want %s", got, want)
		}
	}
	f(0, "preparing")
	f(20*time.Millisecond, "waited")
	close(open)
}

// TestTheSlotChangesOnce, from digest to summary, and nothing behind it does.
func TestTheSlotChangesOnce(t *testing.T) {
	open := make(chan struct{})
	model := newUpstream(t, func(w http.ResponseWriter, r *http.Request) {
		<-open
		tells(answered(told, "stop"))(w, r)
	})
	u := newUpstream(t, nil)
	r := summarized(t, u, model)
	r.chat(history(long))
	r.chat(history(long + 1))
	close(open)
	r.quietly()
	r.chat(history(long + 2))
	r.chat(history(long + 3))
	all := u.requests()
	var kinds []string
	for i, g := range all {
		kinds = append(kinds, strings.Fields(slotOf(t, g.Body))[0])
		now := sentMessages(t, g.Body)
		if i == 0 {
			continue
		}
		if then := sentMessages(t, all[i-1].Body); !slices.Equal(now[2:len(then)], then[2:]) {
			t.Errorf("turn %d: what stands behind the slot changed", i)
		}
	}
	if fmt.Sprint(kinds) != "[[Record [Record [Summary [Summary]" || slotOf(t, all[2].Body) != slotOf(t, all[3].Body) {
		t.Errorf("the slots began with %v", kinds)
	}
}

// TestSummariesComeLast: where all workers are busy, or bodies have the memory,
// none is begun.
func TestSummariesComeLast(t *testing.T) {
	open := make(chan struct{})
	model := newUpstream(t, func(w http.ResponseWriter, r *http.Request) {
		<-open
		tells(answered(told, "stop"))(w, r)
	})
	u := newUpstream(t, nil)
	r := summarized(t, u, model, func(o *Options) { o.Summarizer.Workers = 1 })
	for n, f := range []struct{ body, want string }{
		{history(long), "preparing"},
		{strings.ReplaceAll(history(long), "line of", "word of"), "busy"},
		{history(long), "preparing"},
	} {
		r.chat(f.body)
		if got := r.lastSummary(n + 1); got.Reason != f.want {
			t.Errorf("request %d: %+v, want %s", n+1, got, f.want)
		}
	}
	close(open)
	r.quietly()
	r = summarized(t, u, model, func(o *Options) { o.Limits = Limits{Memory: 400 << 10, Body: 200 << 10} })
	r.chat(strings.Replace(history(40), "line of f1.", strings.Repeat("line of f1. ", 5000), 1))
	if got := r.lastSummary(1); got.Reason != "memory" {
		t.Errorf("%+v", got)
	}
}

// TestARequestThatIsSentAgain is held once: the wait is the request's, not that of
// each of its plans. And what is told of the slot is told of what was sent.
func TestARequestThatIsSentAgain(t *testing.T) {
	open := make(chan struct{})
	defer close(open)
	model := newUpstream(t, func(http.ResponseWriter, *http.Request) { <-open })
	t.Run("is held once", func(t *testing.T) {
		var n atomic.Int32
		u := newUpstream(t, func(w http.ResponseWriter, _ *http.Request) {
			if n.Add(1) == 1 {
				says(w, 2800, 2500)
				return
			}
			_, _ = io.WriteString(w, plainAnswer)
		})
		r := summarized(t, u, model, func(o *Options) {
			o.Summarizer.Wait, o.Default.Limits = 300*time.Millisecond, compact.Limits{Window: 5000}
		})
		if res := r.chat(history(long)); res.Header.Get(headerOutcome) != string(Retried) {
			t.Fatalf("%v", res.Header)
		}
		got := r.replies(1)[0].Rewrite.Summary
		if got == nil || got.Outcome != summarize.Digest || got.Reason != "preparing" || got.Duration != 0 {
			t.Errorf("of the second plan: %+v", got)
		}
		if first := r.lastSummary(1); first.Reason != "waited" {
			t.Errorf("of the first plan: %+v", first)
		}
	})
	t.Run("tells of what was sent", func(t *testing.T) {
		u := newUpstream(t, nil)
		u.Config.Handler = u.recording(func(w http.ResponseWriter, _ *http.Request) {
			if len(u.requests()) == 1 {
				jinja(w)
				return
			}
			_, _ = io.WriteString(w, plainAnswer)
		})
		r := summarized(t, u, model)
		res := r.chat(history(long))
		if res.Header.Get(headerOutcome) != string(Retried) || strings.Contains(string(u.requests()[1].Body), "[Record of") {
			t.Fatalf("%v", res.Header)
		}
		if stages := res.Header.Get(headerStages); strings.Contains(stages, "summary;") {
			t.Errorf("there is no slot, and the header says %q", stages)
		}
	})
}

// TestRequestsTakeTheMemoryOfSummaries: a job that no request waits for is
// ended when a request needs its room, and one that a request waits for is not.
func TestRequestsTakeTheMemoryOfSummaries(t *testing.T) {
	u := newUpstream(t, nil)
	// A body that needs all the room there is.
	large := `{"model":"m","messages":[{"role":"user","content":"` + strings.Repeat("x", 150<<10) + `"}]}`
	for name, wait := range map[string]time.Duration{"nobody waits": 0, "a request waits": time.Minute} {
		t.Run(name, func(t *testing.T) {
			asked, open := make(chan struct{}, 1), make(chan struct{})
			model := newUpstream(t, func(w http.ResponseWriter, r *http.Request) {
				asked <- struct{}{}
				select {
				case <-open:
				case <-r.Context().Done():
				}
				tells(answered(told, "stop"))(w, r)
			})
			r := summarized(t, u, model, func(o *Options) {
				o.Limits = Limits{Memory: 600 << 10, Body: 200 << 10}
				o.Summarizer.Wait, o.Summarizer.Timeout = wait, 2*time.Minute
			})
			first := make(chan response, 1)
			go func() { first <- r.chat(history(long)) }()
			<-asked
			second := make(chan response, 1)
			go func() { second <- r.chat(large) }()
			failed := uint64(1)
			if wait > 0 {
				failed = 0
				time.Sleep(50 * time.Millisecond) // nothing to wait for: nothing may happen
				close(open)
			}
			for _, res := range []response{<-first, <-second} {
				if res.StatusCode != 200 {
					t.Errorf("%d %s", res.StatusCode, res.body)
				}
			}
			r.quietly()
			if c := r.SummaryCounts(); c.Failed["memory"] != failed || c.Jobs != 1-failed {
				t.Errorf("%+v", c)
			}
			// It is not begun again at once, to be ended again: that would be paid for.
			if wait == 0 {
				r.chat(history(long))
				if got := r.lastSummary(3); got.Reason != "cooling" {
					t.Errorf("%+v", got)
				}
				close(open)
				r.chat(strings.ReplaceAll(history(long), "line of", "word of"))
				if got := r.lastSummary(4); got.Reason != "preparing" {
					t.Errorf("another gap: %+v", got)
				}
			}
		})
	}
}

// TestShutdownEndsWhatIsInTheMaking.
func TestShutdownEndsWhatIsInTheMaking(t *testing.T) {
	asked := make(chan struct{})
	model := newUpstream(t, func(_ http.ResponseWriter, r *http.Request) {
		close(asked)
		<-r.Context().Done()
	})
	r := summarized(t, newUpstream(t, nil), model, func(o *Options) { o.Summarizer.Timeout = time.Hour })
	r.chat(history(long))
	<-asked
	r.stop()
	if c := r.SummaryCounts(); c.Running != 0 || c.Failed["shutdown"] != 1 {
		t.Errorf("%+v", c)
	}
}
