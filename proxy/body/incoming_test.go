package body

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"
)

// hooked is a context that is done right after it was first asked.
type hooked struct {
	context.Context
	asked atomic.Bool
	then  func()
}

func (h *hooked) Err() error {
	err := h.Context.Err()
	if h.asked.CompareAndSwap(false, true) {
		h.then()
	}
	return err
}

// deadlines is a writer that tells the read deadlines that are set.
type deadlines struct {
	*httptest.ResponseRecorder
	set chan time.Time
}

func (d deadlines) SetReadDeadline(t time.Time) error { d.set <- t; return nil }

// stalling is a body that waits for a near deadline.
type stalling struct {
	set  chan time.Time
	over bool
}

func (s *stalling) Read([]byte) (int, error) {
	for {
		select {
		case t := <-s.set:
			if s.over = time.Until(t) <= closingIdle; s.over {
				return 0, io.EOF
			}
		case <-time.After(5 * time.Second):
			return 0, io.ErrUnexpectedEOF
		}
	}
}

// The server may begin to close in the moment in which a read begins. Its deadline is
// short then, too.
func TestAReadThatBeginsAsTheServerClosesIsShort(t *testing.T) {
	closing, cancel := context.WithCancel(t.Context())
	d := deadlines{httptest.NewRecorder(), make(chan time.Time, 10)}
	s := &stalling{set: d.set}
	hurried := make(chan bool)
	in := NewIncoming(context.Background(), s, http.NewResponseController(d), NewWatch(time.Hour, time.Hour, func(error) {}))
	context.AfterFunc(closing, func() { in.hurry(); close(hurried) })
	in.closing = &hooked{Context: closing, then: func() {
		free := in.mu.TryLock() // else it waits for the read to be armed
		if free {
			in.mu.Unlock()
		}
		if cancel(); free {
			<-hurried
		}
	}}
	if _, err := in.Read(make([]byte, 1)); !s.over {
		t.Errorf("the read had the deadline of a server that stays: %v", err)
	}
}
