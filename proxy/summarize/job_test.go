package summarize

import (
	"context"
	"errors"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	"laconic/compact"
	"laconic/store"
)

// TestShutdownDoesNotWaitForEver for a job that cannot be ended.
func TestShutdownDoesNotWaitForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService()
		s.ended.Add(1)
		began := time.Now()
		s.Close()
		if took := time.Since(began); took != closeWait {
			t.Errorf("it waited %v", took)
		}
		s.ended.Done()
	})
}

// TestAJobEndsBetweenTwoMessages, not when all of them are written and counted.
func TestAJobEndsBetweenTwoMessages(t *testing.T) {
	s := newService()
	defer s.Close()
	ctx, cancel := context.WithCancel(context.Background())
	msgs := make([]compact.Message, 100)
	for i := range msgs {
		msgs[i] = compact.Message{Role: compact.User, Parts: []compact.Part{{Text: compact.Plain("text")}}}
	}
	counted := 0
	s.o.Counter = counting(func() { counted++; cancel() })
	_, err := (&job{s: s}).pieces(ctx, []source{{msgs: msgs}}, 1000)
	if counted > 3 || !errors.Is(err, context.Canceled) {
		t.Errorf("%d were counted, %v", counted, err)
	}
}

// TestOtherRequestsDoNotWaitForTheReadingOfASummary: the lock that all requests
// take is free while a job is made.
func TestOtherRequestsDoNotWaitForTheReadingOfASummary(t *testing.T) {
	s, read := newService(), false
	defer s.Close()
	s.o.Counter, s.o.Upstream = counting(func() {}), &url.URL{Scheme: "http", Host: "127.0.0.1:9"}
	s.store = opened(t, store.Options{})
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
	j, why := s.start(&Request{Counter: s.o.Counter}, in, gap{}, &compact.Slot{Spans: []compact.Span{{Size: 1000}}}, 0, false)
	if j == nil || !read {
		t.Fatalf("no job: %q, read: %v", why, read)
	}
	<-j.done
	if n := s.env.Memory.Stats().Bytes; n != 0 {
		t.Errorf("%d bytes of memory are still held", n)
	}
}

// TestAJobThatCannotBeLoadedLeavesNothing behind.
func TestAJobThatCannotBeLoadedLeavesNothing(t *testing.T) {
	s := newService()
	defer s.Close()
	bad := compact.Encoded("x", 1, &compact.Coding{Decode: func(string) string { panic("canary") }})
	in := compact.Conversation{Messages: []compact.Message{{Role: compact.User, Parts: []compact.Part{{Text: bad}}}}}
	func() {
		defer func() { _ = recover() }()
		j, why := s.start(&Request{}, in, gap{}, &compact.Slot{Spans: []compact.Span{{Size: 1000}}}, 0, false)
		t.Errorf("%v, %q", j, why)
	}()
	if n := s.Running(); n != 0 {
		t.Error("something is left")
	}
}

// counting tells of each count.
type counting func()

func (c counting) Part(*compact.Message, *compact.Part) int { c(); return 10 }
func (counting) Envelope(*compact.Message) int              { return 0 }
func (counting) Call(*compact.Call) int                     { return 0 }
func (counting) Fixed(compact.Beside) int                   { return 0 }
func (counting) Exact() bool                                { return false }
