package proxy

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"laconic/compact"
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

// counting tells of each count.
type counting func()

func (c counting) Part(p *compact.Part) int    { c(); return 10 }
func (counting) Envelope(*compact.Message) int { return 0 }
func (counting) Call(*compact.Call) int        { return 0 }
func (counting) Fixed(_, _, _ []byte) int      { return 0 }
func (counting) Exact() bool                   { return false }
