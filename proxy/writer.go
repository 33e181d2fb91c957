package proxy

import (
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// writeIdle is how long one write to the client may take. There is no limit on
// an answer as a whole: it would cut long streams.
const writeIdle = 60 * time.Second

// rollingWriter is the client's ResponseWriter under a write deadline that
// moves along: a client that stops reading is cut off, one that reads slowly
// for hours is not. It has Unwrap, without which ReverseProxy could not flush
// and streams would be held back.
type rollingWriter struct {
	http.ResponseWriter
	rc     *http.ResponseController
	armed  time.Time   // when the deadline was set
	bell   *time.Timer // of HTTP/2
	rung   atomic.Bool // the bell has
	mu     sync.Mutex  // guards over
	over   bool        // the request is
	status int         // 0 while nothing final was written
	bytes  int64
	err    error // of the first write that failed
}

func newRollingWriter(w http.ResponseWriter, r *http.Request) *rollingWriter {
	rw := &rollingWriter{ResponseWriter: w, rc: http.NewResponseController(w)}
	if r.ProtoMajor == 2 {
		rw.bell = time.AfterFunc(writeIdle, rw.cut)
	}
	rw.arm() // also for the server's own "100 Continue"
	rw.disarm()
	return rw
}

// cut ends the write that is under way in HTTP/2. There a deadline that passes
// resets the stream even if nothing is being written, so that one can only be
// set when it has passed.
func (w *rollingWriter) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over {
		return // the server's writer is gone, and to use it would panic
	}
	w.rung.Store(true)
	_ = w.rc.SetWriteDeadline(time.Unix(1, 0))
}

// end is called once the request is over.
func (w *rollingWriter) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
	w.disarm()
}

// arm moves the deadline, but not at every event of a fast stream: the time a
// write has is between nine tenths of writeIdle and the whole of it.
func (w *rollingWriter) arm() {
	if w.bell != nil {
		w.bell.Reset(writeIdle)
		return
	}
	now := time.Now()
	if now.Sub(w.armed) < writeIdle/10 {
		return
	}
	w.armed = now
	_ = w.rc.SetWriteDeadline(now.Add(writeIdle)) // not every ResponseWriter has one
}

func (w *rollingWriter) WriteHeader(status int) {
	w.arm()
	if status >= 200 && w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
	w.disarm()
}

// disarm ends the time of one write in HTTP/2.
func (w *rollingWriter) disarm() {
	if w.bell != nil {
		w.bell.Stop()
	}
}

func (w *rollingWriter) Write(b []byte) (int, error) {
	w.arm()
	if w.status == 0 {
		w.status = http.StatusOK
	}
	n, err := w.ResponseWriter.Write(b)
	w.bytes += int64(n)
	w.note(err)
	return n, err
}

// FlushError sends what is buffered.
func (w *rollingWriter) FlushError() error {
	w.arm()
	err := w.rc.Flush()
	w.note(err)
	return err
}

func (w *rollingWriter) note(err error) {
	w.disarm()
	if err != nil && w.rung.Load() {
		err = os.ErrDeadlineExceeded // it says only that the stream is closed
	}
	if w.err == nil {
		w.err = err
	}
}

// Unwrap lets http.ResponseController reach the server's own writer.
func (w *rollingWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
