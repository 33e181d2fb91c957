package proxy

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"laconic/e2e/rig"
	"laconic/proxy/summarize"
)

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
	req := must(http.NewRequestWithContext(ctx, "POST", r.url+"/v1/chat/completions", strings.NewReader(history(long))))
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
	model.saw(t, 1)
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
	r := summarized(t, u, model)
	for n, want := range strings.Fields(strings.Repeat("preparing ", 8) + "busy preparing") {
		r.chat(strings.ReplaceAll(history(long), "line of", fmt.Sprintf("line %d of", n%9)))
		if got := r.lastSummary(n + 1); got.Reason != want {
			t.Errorf("request %d: %+v, want %s", n+1, got, want)
		}
	}
	close(open)
	r.quietly()
	r = summarized(t, u, model, func(o *Options) { o.Limits.Memory, o.Limits.Body = 400<<10, 200<<10 })
	r.chat(strings.Replace(history(40), "line of f1.", strings.Repeat("line of f1. ", 5000), 1))
	if got := r.lastSummary(1); got.Reason != "memory" {
		t.Errorf("%+v", got)
	}
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
				o.Limits.Memory, o.Limits.Body = 600<<10, 200<<10
				o.Summarizer.Wait, o.Summarizer.Timeout = wait, 2*time.Minute
			})
			first := make(chan response, 1)
			go func() { first <- r.chat(history(long)) }()
			<-asked
			second := make(chan response, 1)
			go func() { second <- r.chat(large) }()
			ended := "memory"
			if wait > 0 {
				ended = ""
				rig.Eventually(t, "the second asks for the room", func() bool { return r.State().Memory.ToWork == 1 })
				close(open)
			}
			for _, res := range []response{<-first, <-second} {
				res.want(t, 200)
			}
			r.quietly()
			if got := r.summarized(); got != ended {
				t.Errorf("the job ended by %q", got)
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
	reply, asked, _ := leaving("")
	r := summarized(t, newUpstream(t, nil), newUpstream(t, reply), func(o *Options) { o.Summarizer.Timeout = time.Hour })
	r.chat(history(long))
	<-asked
	r.stop()
	if n, ended := r.State().Summarizing, r.summarized(); n != 0 || ended != "shutdown" {
		t.Errorf("%d run, ended by %q", n, ended)
	}
}
