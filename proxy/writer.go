package proxy

import (
	"net/http"
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
	armed  time.Time // when the deadline was set
	status int       // 0 while nothing final was written
	bytes  int64
	err    error // of the first write that failed
}

func newRollingWriter(w http.ResponseWriter) *rollingWriter {
	rw := &rollingWriter{ResponseWriter: w, rc: http.NewResponseController(w)}
	rw.arm() // also for the server's own "100 Continue"
	return rw
}

// arm moves the deadline, but not at every event of a fast stream: the time a
// write has is between nine tenths of writeIdle and the whole of it.
func (w *rollingWriter) arm() {
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
	if w.err == nil {
		w.err = err
	}
}

// Unwrap lets http.ResponseController reach the server's own writer.
func (w *rollingWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
