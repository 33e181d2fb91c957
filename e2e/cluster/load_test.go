//go:build unix

package cluster

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	"laconic/e2e/rig"
)

// result is what became of one request.
type result struct {
	id      string // its header x-request
	at      time.Time
	replica string // "": it did not come to an answer
	status  int
	whole   bool // it ended as its kind ends
	err     error
	took    time.Duration
}

func (r result) failed() bool { return r.err != nil || r.status != http.StatusOK || !r.whole }

// load is traffic on the balancer: requests at a rate, whoever answers, and streams
// that are always open.
type load struct {
	c       *cluster
	rate    int // requests a second
	streams int
	events  string // of a stream: how many, and their pace
	// keys: every fifth request comes with a credential of its own.
	keys bool

	mu       sync.Mutex
	requests []result
	streamed []result
	open     map[int]bool    // the streams that were opened
	asked    *sync.WaitGroup // the requests that began since the last settle
	n        int
	stop     context.CancelFunc
	ended    sync.WaitGroup
}

// begin starts the traffic, and waits until the streams are open.
func (l *load) begin() {
	l.c.t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	l.stop, l.open, l.asked = stop, map[int]bool{}, &sync.WaitGroup{}
	for i := range l.streams {
		l.ended.Go(func() {
			time.Sleep(time.Duration(i) * time.Millisecond) // not all at once
			for ctx.Err() == nil {
				l.stream(i)
			}
		})
	}
	l.ended.Go(func() {
		body := conversation("gpt-4o", 4, 500, false)
		tick := time.NewTicker(time.Second / time.Duration(l.rate))
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				l.mu.Lock()
				l.asked.Go(func() { l.request(body) })
				l.mu.Unlock()
			}
		}
	})
	rig.Eventually(l.c.t, "the streams", func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return len(l.open) == l.streams
	})
}

// end stops the traffic; what is open ends by itself.
func (l *load) end() (requests, streams []result) {
	l.stop()
	l.ended.Wait()
	l.asked.Wait()
	return l.requests, l.streamed
}

// settle waits until the requests have ended that began before it, and forgets those that
// ended.
func (l *load) settle() {
	l.mu.Lock()
	before := l.asked
	l.asked = &sync.WaitGroup{}
	l.mu.Unlock()
	before.Wait()
	l.since()
}

// since takes the requests that ended since the last call.
func (l *load) since() (some []result) {
	l.mu.Lock()
	defer l.mu.Unlock()
	some, l.requests = l.requests, nil
	return some
}

// next returns the number of the next request, and its id.
func (l *load) next() (n int, id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.n++
	return l.n, fmt.Sprintf("%p-%d", l, l.n)
}

func (l *load) ask(n int, id string, body []byte, headers ...string) (res *http.Response, err error) {
	r, err := http.NewRequest(http.MethodPost, l.c.URL+"/v1/chat/completions", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Request", id)
	r.Header.Set("Authorization", "Bearer sk-load")
	if l.keys && n%5 == 0 {
		r.Header.Set("Authorization", "Bearer sk-"+id)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return rig.Client.Do(r)
}

// send sends a request, and returns what became of it, which is whole if it ends with
// end. It calls begun once the answer has.
func (l *load) send(body []byte, end string, begun func(), headers ...string) (one result) {
	n, id := l.next()
	one = result{id: id, at: time.Now()}
	defer func() { one.took = time.Since(one.at) }()
	res, err := l.ask(n, id, body, headers...)
	if one.err = err; err != nil {
		return one
	}
	defer res.Body.Close()
	begun()
	one.replica, one.status = res.Header.Get("X-Replica"), res.StatusCode
	var text []byte
	text, one.err = io.ReadAll(res.Body)
	one.whole = bytes.HasSuffix(bytes.TrimSpace(text), []byte(end))
	if one.err == nil && one.status != http.StatusOK {
		one.err = fmt.Errorf("%d: %.100s", one.status, text)
	}
	return one
}

func (l *load) request(body []byte) {
	one := l.send(body, "}", func() {})
	l.mu.Lock()
	defer l.mu.Unlock()
	l.requests = append(l.requests, one)
}

var streamBody = []byte(`{"model":"gpt-4o","stream":true,"messages":[{"role":"user","content":"Tell me more."}]}`)

func (l *load) stream(i int) {
	one := l.send(streamBody, "data: [DONE]", func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.open[i] = true
	}, "X-Events", l.events)
	l.mu.Lock()
	l.streamed = append(l.streamed, one)
	l.mu.Unlock()
	if one.failed() {
		time.Sleep(50 * time.Millisecond)
	}
}

// failures returns how many of some results failed, and what the first says.
func failures(all []result) (n int, first string) {
	for _, r := range all {
		if r.failed() {
			if n++; n == 1 {
				first = fmt.Sprintf("replica %q, status %d, whole %v, after %v: %v", r.replica, r.status, r.whole, r.took, r.err)
			}
		}
	}
	return n, first
}

// took returns a percentile of how long some requests took.
func took(all []result, percent int) time.Duration {
	if len(all) == 0 {
		return 0
	}
	list := make([]time.Duration, len(all))
	for i, r := range all {
		list[i] = r.took
	}
	slices.Sort(list)
	return list[min(len(list)-1, len(list)*percent/100)]
}
