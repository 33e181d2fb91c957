package proxy

import (
	"bytes"
	"io"
	"net/http"
	"sync"
	"time"

	"laconic/compact"
	"laconic/proxy/overflow"
)

const (
	// mostError is how much of an error is read before it goes to the client: a
	// larger one is no error, and may have no end.
	mostError = 1 << 20
	// errorWait is how long an error may take to arrive before it is handed on
	// as it comes.
	errorWait = 5 * time.Second
	// firstRead is the buffer for the start of an answer.
	firstRead = 4 << 10
	// mostJudged is how much is looked at in all to tell whether the start of an
	// answer is an error: one that comes byte by byte is judged at every byte.
	// A look costs at least leastJudged.
	mostJudged  = 16 << 20
	leastJudged = 4 << 10
)

// held is an answer whose start was looked at before the client sees any of it.
type held struct {
	res *http.Response
	// text is the error it is: of an answer with status 200, the data of its
	// first event. nil when it is an answer, or is compressed.
	text []byte
}

// hold reads the start of an answer, as far as is needed to tell whether the
// upstream refused the request: of an error all, of anything else its first
// event, comment or byte. Whatever it reads, the client gets. An answer that is
// compressed, which nobody asked for, is not waited for; nor is the first event
// where atOnce.
func (t *trip) hold(res *http.Response, atOnce bool) *held {
	h := &held{res: res}
	if contentEncoding(res.Header) != "" {
		return h
	}
	_ = t.safely("hold", func() error {
		switch res.StatusCode {
		case http.StatusOK:
			if !atOnce {
				h.first(t.line.watch)
			}
		case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity,
			http.StatusTooManyRequests, http.StatusInternalServerError:
			h.error()
		}
		return nil
	})
	return h
}

// short reports whether what was sent is short enough that no refusal is
// expected under status 200: no longer than a prompt that was answered, or below
// a quarter of its budget while no limit is in doubt and the window is no guess.
// Bound thinking may be refused at any length, and no limit that a refusal under
// status 200 teaches shortens a history that had some.
func (t *trip) short() bool {
	if t.bound {
		return false
	}
	n := t.expected()
	if n <= t.facts.Took {
		return true
	}
	// A budget that a header asks for may be above what the upstream takes.
	budget := min(t.budget.Tokens, t.facts.accepts(t.limits(), t.sending.asked))
	return n < budget/4 && t.facts.Doubt == 0 && t.facts.Tight == 0 && !t.guessesWindow()
}

// guessesWindow reports whether nobody told the window of a model that nobody
// knows.
func (t *trip) guessesWindow() bool {
	return len(t.ways) > 1 && !t.route.Configured && t.window == (compact.Told{}) && t.facts.Window == 0 && t.facts.Input == 0
}

// first waits for the first event or byte of an answer.
func (h *held) first(w *watch) {
	body := h.res.Body
	start := &started{body: body, from: firstReads.Get().(*[firstRead]byte)}
	start.seen = start.from[:0]
	h.res.Body = start
	for judged := 0; judged < mostJudged; {
		if len(start.seen) == cap(start.seen) {
			start.seen = append(make([]byte, 0, 2*cap(start.seen)), start.seen...)
		}
		w.wait()
		n, err := body.Read(start.seen[len(start.seen):cap(start.seen)])
		w.stop()
		start.seen, start.err = start.seen[:len(start.seen)+n], err
		whole := err == io.EOF || h.res.ContentLength >= 0 && int64(len(start.seen)) >= h.res.ContentLength
		begins, data := overflow.FirstEvent(start.seen, whole)
		judged += leastJudged + len(start.seen)
		switch {
		case begins == overflow.Error:
			h.text = bytes.Clone(data)
			return
		case begins == overflow.Answer, err != nil, len(start.seen) >= mostError:
			return
		}
	}
}

// firstReads are buffers for the starts of answers, which are short lived: made
// anew for each of a thousand streams they would leave holes in memory.
var firstReads = sync.Pool{New: func() any { return new([firstRead]byte) }}

// started is a body whose start was read.
type started struct {
	body io.ReadCloser
	seen []byte
	from *[firstRead]byte // the buffer that seen began in; nil once it was given back
	err  error            // came with what was seen
}

func (s *started) Read(buf []byte) (int, error) {
	if len(s.seen) > 0 {
		n := copy(buf, s.seen)
		if s.seen = s.seen[n:]; len(s.seen) == 0 {
			firstReads.Put(s.from) // a stream may go on for an hour
			s.seen, s.from = nil, nil
		}
		return n, nil
	}
	if s.err != nil {
		return 0, s.err
	}
	return s.body.Read(buf)
}

func (s *started) Close() error { return s.body.Close() }

// error reads an error as far as it comes in time.
func (h *held) error() {
	late := &late{body: h.res.Body, done: make(chan struct{})}
	go late.read()
	timer := time.NewTimer(errorWait)
	defer timer.Stop()
	select {
	case <-late.done:
	case <-timer.C:
	}
	h.res.Body = late
	raw, err := late.halt()
	if err != io.EOF {
		return
	}
	if h.text = raw; h.text == nil {
		h.text = []byte{} // an error with nothing in it is one too
	}
}

// late is a body that is read ahead, by a goroutine, because it may not come
// to an end. Who reads it gets what was read, then what follows.
type late struct {
	body io.ReadCloser
	done chan struct{} // the goroutine has ended

	mu     sync.Mutex
	seen   []byte
	err    error
	halted bool
}

func (l *late) read() {
	defer close(l.done)
	buf := make([]byte, firstRead)
	for {
		n, err := l.body.Read(buf)
		l.mu.Lock()
		l.seen = append(l.seen, buf[:n]...)
		l.err = err
		stop := l.halted || err != nil || len(l.seen) >= mostError
		l.mu.Unlock()
		if stop {
			return
		}
	}
}

// halt ends reading ahead, and gives what there is. A read that is under way
// goes on, and Read waits for it.
func (l *late) halt() (seen []byte, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.halted = true
	return bytes.Clone(l.seen), l.err
}

func (l *late) Read(buf []byte) (int, error) {
	for waited := false; ; waited = true {
		l.mu.Lock()
		n := copy(buf, l.seen)
		l.seen = l.seen[n:]
		err := l.err
		l.mu.Unlock()
		switch {
		case n > 0:
			return n, nil
		case err != nil:
			return 0, err
		case waited:
			return l.body.Read(buf)
		}
		<-l.done
	}
}

func (l *late) Close() error { return l.body.Close() }
