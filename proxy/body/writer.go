package body

import (
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// WriteIdle is how long one write to the client may take. There is no limit on
// an answer as a whole: it would cut long streams.
const WriteIdle = 60 * time.Second

// Writer is the client's ResponseWriter under a deadline for each write: a client
// that stops reading is cut off, one that reads slowly for hours is not. Without
// its Unwrap ReverseProxy could not flush, and streams would be held back.
type Writer struct {
	http.ResponseWriter
	Controller *http.ResponseController
	timer      *time.Timer // in HTTP/2
	expired    atomic.Bool // the timer did
	mu         sync.Mutex  // guards over
	over       bool        // the request is

	// Length is the length of the answer in bytes. 0: it is not known, and whoever writes
	// the answer flushes it; else each Write but the last does.
	Length int64

	Status int // 0 while nothing final was written
	Bytes  int64
	Err    error // of the first write that failed
}

// NewWriter returns the writer of a request.
func NewWriter(w http.ResponseWriter, r *http.Request) *Writer {
	rw := &Writer{ResponseWriter: w, Controller: http.NewResponseController(w)}
	if r.ProtoMajor == 2 {
		rw.timer = time.AfterFunc(WriteIdle, rw.cut)
	}
	rw.arm() // also for the server's own "100 Continue"
	rw.disarm()
	return rw
}

// cut ends the write that is under way in HTTP/2. There a deadline that passes
// resets the stream even if nothing is being written, so it is set only once it
// has passed.
func (w *Writer) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over {
		return // the server's writer is gone, and to use it would panic
	}
	w.expired.Store(true)
	_ = w.Controller.SetWriteDeadline(time.Unix(1, 0))
}

// End ends the deadlines: the request is over.
func (w *Writer) End() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
	w.disarm()
}

// arm moves the deadline.
func (w *Writer) arm() {
	if w.timer != nil {
		w.timer.Reset(WriteIdle)
		return
	}
	_ = w.Controller.SetWriteDeadline(time.Now().Add(WriteIdle)) // not every ResponseWriter has one
}

func (w *Writer) WriteHeader(status int) {
	w.arm()
	if status >= 200 && w.Status == 0 {
		w.Status = status
	}
	w.ResponseWriter.WriteHeader(status)
	w.disarm()
}

// disarm ends the time of one write in HTTP/2.
func (w *Writer) disarm() {
	if w.timer != nil {
		w.timer.Stop()
	}
}

func (w *Writer) Write(b []byte) (int, error) {
	w.arm()
	if w.Status == 0 {
		w.Status = http.StatusOK
	}
	n, err := w.ResponseWriter.Write(b)
	w.Bytes += int64(n)
	w.failed(err)
	if err == nil && w.Bytes < w.Length {
		err = w.FlushError()
	}
	return n, err
}

// FlushError sends what is buffered.
func (w *Writer) FlushError() error {
	w.arm()
	err := w.Controller.Flush()
	w.failed(err)
	return err
}

func (w *Writer) failed(err error) {
	w.disarm()
	if err != nil && w.expired.Load() {
		err = os.ErrDeadlineExceeded // it says only that the stream is closed
	}
	if w.Err == nil {
		w.Err = err
	}
}

// Unwrap lets http.ResponseController reach the server's own writer.
func (w *Writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// answerBuffer is the size of the buffers through which answers pass, one for each
// open answer. They are small, because they are most of what a stream costs.
const answerBuffer = 16 << 10

// Buffers is the httputil.BufferPool of answers. It keeps none: an answer takes seconds.
type Buffers struct{}

// Get returns a buffer.
func (Buffers) Get() []byte { return make([]byte, answerBuffer) }

// Put takes a buffer of Get back.
func (Buffers) Put([]byte) {}
