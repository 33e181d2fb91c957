package page

import (
	"encoding/json"
	"net/http"
	"time"
)

// watcher is a browser that looks.
type watcher struct{ changed chan struct{} }

// wake tells a watcher that something changed. It never waits: one that is told
// already reads all that changed.
func (w *watcher) wake() {
	select {
	case w.changed <- struct{}{}:
	default:
	}
}

const (
	// mostWatchers bounds the streams of events.
	mostWatchers = 32
	// pace is how long a watcher is left alone after it was told something.
	pace = 200 * time.Millisecond
	// stillThere is how often a silent stream says that it lives, and finds out that
	// nobody reads it.
	stillThere = 15 * time.Second
	// writeTime is how long a reader may take for one event.
	writeTime = 20 * time.Second
)

// watch adds a watcher; nil: there are too many.
func (p *Page) watch() *watcher {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.watching) >= mostWatchers || p.closed {
		return nil
	}
	w := &watcher{changed: make(chan struct{}, 1)}
	p.watching[w] = struct{}{}
	return w
}

func (p *Page) unwatch(w *watcher) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.watching, w)
}

// serveEvents is a stream of what changed: first all, then each time what did since.
func (p *Page) serveEvents(rw http.ResponseWriter, r *http.Request) {
	w := p.watch()
	if w == nil {
		http.Error(rw, "Too many browsers look at this page.", http.StatusServiceUnavailable)
		return
	}
	defer p.unwatch(w)
	control := http.NewResponseController(rw)
	rw.Header().Set("Content-Type", "text/event-stream")
	if r.Method == http.MethodHead {
		return
	}
	tick := time.NewTicker(stillThere)
	defer tick.Stop()
	send := func(text []byte) bool {
		_ = control.SetWriteDeadline(time.Now().Add(writeTime))
		_, err := rw.Write(text)
		return err == nil && control.Flush() == nil
	}
	seen := uint64(0)
	for first := true; ; first = false {
		v, now, closed := p.viewSince(seen, first)
		if closed {
			return
		}
		if first || v != nil {
			text, err := json.Marshal(v)
			if err != nil || !send([]byte("data: "+string(text)+"\n\n")) {
				return
			}
			seen = now
		} else if !send([]byte(": \n\n")) {
			return
		}
		select {
		case <-r.Context().Done():
			return
		case <-time.After(pace):
		}
		select {
		case <-r.Context().Done():
			return
		case <-w.changed:
		case <-tick.C:
		}
	}
}

// serveJSON writes a value.
func serveJSON(w http.ResponseWriter, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		http.Error(w, "This cannot be shown.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(text)
}
