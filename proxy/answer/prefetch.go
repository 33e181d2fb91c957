package answer

import (
	"bytes"
	"io"
	"net/http"
	"sync"
	"time"
)

// errorWait is how long an error may take to arrive before it is handed on as it
// comes.
const errorWait = 5 * time.Second

// readError reads an error whole; nil if it does not end in time. An error of no
// bytes is not nil.
func readError(res *http.Response) []byte {
	p := &prefetched{body: res.Body, done: make(chan struct{})}
	go p.fetch()
	timer := time.NewTimer(errorWait)
	defer timer.Stop()
	select {
	case <-p.done:
	case <-timer.C:
	}
	res.Body = p
	seen, err := p.halt()
	if err != io.EOF {
		return nil
	}
	return append([]byte{}, seen...)
}

// prefetched is a body that a goroutine reads ahead, because the body may never
// end. Read returns what was read ahead, then what follows.
type prefetched struct {
	body io.ReadCloser
	done chan struct{} // closed when the goroutine has ended

	mu     sync.Mutex
	seen   []byte
	err    error
	halted bool
}

func (p *prefetched) fetch() {
	defer close(p.done)
	buf := make([]byte, firstRead)
	for {
		n, err := p.body.Read(buf)
		p.mu.Lock()
		p.seen = append(p.seen, buf[:n]...)
		p.err = err
		stop := p.halted || err != nil || len(p.seen) >= mostError
		p.mu.Unlock()
		if stop {
			return
		}
	}
}

// halt stops reading ahead, and returns what was read. A read that is under way
// goes on; Read waits for it.
func (p *prefetched) halt() (seen []byte, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.halted = true
	return bytes.Clone(p.seen), p.err
}

func (p *prefetched) Read(buf []byte) (int, error) {
	for waited := false; ; waited = true {
		p.mu.Lock()
		n := copy(buf, p.seen)
		p.seen = p.seen[n:]
		err := p.err
		p.mu.Unlock()
		switch {
		case n > 0:
			return n, nil
		case err != nil:
			return 0, err
		case waited:
			return p.body.Read(buf)
		}
		<-p.done
	}
}

func (p *prefetched) Close() error { return p.body.Close() }
