package proxy

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"laconic/compact"
	"laconic/proxy/admission"
	"laconic/store"
)

// TestShutdownDoesNotWaitForEver for a job that cannot be ended.
func TestShutdownDoesNotWaitForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSummaries(&Proxy{}, &Summarizer{Transport: http.DefaultTransport})
		s.ended.Add(1)
		began := time.Now()
		s.close()
		if took := time.Since(began); took != mostEnding {
			t.Errorf("it waited %v", took)
		}
		s.ended.Done()
	})
}

// TestAJobEndsBetweenTwoMessages, not when all of them are written and counted.
func TestAJobEndsBetweenTwoMessages(t *testing.T) {
	s := newSummaries(&Proxy{}, &Summarizer{Transport: http.DefaultTransport})
	defer s.close()
	ctx, cancel := context.WithCancel(context.Background())
	msgs := make([]compact.Message, 100)
	for i := range msgs {
		msgs[i] = compact.Message{Role: compact.User, Parts: []compact.Part{{Text: compact.Plain("text")}}}
	}
	counted := 0
	s.o.Counter = counting(func() { counted++; cancel() })
	_, err := (&job{s: s}).pieces(ctx, "", msgs, 1000)
	if counted > 3 || !errors.Is(err, context.Canceled) {
		t.Errorf("%d were counted, %v", counted, err)
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
	if j, why := r.summaries.start(&trip{p: r.Proxy}, compact.Conversation{}, gapNames{keys: make([]store.Key, 1)}, &compact.Slot{}, false); j != nil || why != "shutdown" {
		t.Errorf("it starts another: %q", why)
	}
}

// TestOtherRequestsDoNotWaitForTheReadingOfASummary: the lock that all requests
// take is free while a job is made.
func TestOtherRequestsDoNotWaitForTheReadingOfASummary(t *testing.T) {
	model := newUpstream(t, nil)
	r := summarized(t, newUpstream(t, nil), model)
	s, read := r.summaries, false
	task := compact.Encoded("x", 1, &compact.Coding{
		Decode: func(string) string {
			read = true
			if !s.mu.TryLock() {
				t.Error("the lock is held while the task is read")
			} else {
				s.mu.Unlock()
			}
			return "x"
		},
	})
	in := compact.Conversation{Messages: []compact.Message{{Role: compact.User, Parts: []compact.Part{{Text: task}}}}}
	trip := &trip{p: r.Proxy, route: &r.o.Default}
	trip.orders.policy = r.o.Default.Policy
	trip.route.Policy = r.o.Default.Policy
	j, why := s.start(trip, in, gapNames{keys: make([]store.Key, 1)}, &compact.Slot{Size: 1000}, false)
	if j == nil || !read {
		t.Fatalf("no job: %q, read: %v", why, read)
	}
	<-j.done
	if n := r.memory.Stats().Bytes; n != 0 {
		t.Errorf("%d bytes of memory are still held", n)
	}
}

// TestAMarkIsSettledHoweverLate the request is that asks for it.
func TestAMarkIsSettledHoweverLate(t *testing.T) {
	s := newSummaries(&Proxy{o: Options{Listener: Listener{Summarized: func(JobInfo) {}}}, memory: admission.NewGate(1000, 100)}, &Summarizer{Transport: http.DefaultTransport})
	defer s.close()
	job := func(why string, warm digestKey) {
		j := &job{s: s, done: make(chan struct{}), seat: s.p.memory.Reserve(""), why: why}
		s.workers <- struct{}{}
		late := warm
		late[0]++
		j.settles(warm)
		j.finish(store.Key{})
		j.settles(late)
		for _, key := range []digestKey{warm, late} {
			if _, ok := s.settled.GetIfPresent(key); ok != (why == "") {
				t.Errorf("%q: settled: %v", why, ok)
			}
		}
	}
	job("", digestKey{1})
	job("elsewhere", digestKey{3})
}

// counting tells of each count.
type counting func()

func (c counting) Part(p *compact.Part) int    { c(); return 10 }
func (counting) Envelope(*compact.Message) int { return 0 }
func (counting) Call(*compact.Call) int        { return 0 }
func (counting) Fixed(_, _, _ []byte) int      { return 0 }
func (counting) Exact() bool                   { return false }
