package metrics

import (
	"net/http"
	"strconv"
	"strings"
	"sync"

	"laconic/proxy"
)

// The routes of requests that no row of the configuration matched, and of those
// that were refused before there was a route. No pattern looks like them.
const (
	defaultRoute = "(default)"
	noRoute      = "(none)"
)

func routeLabel(match string) string {
	if match == "" {
		return defaultRoute
	}
	return match
}

// routeOf returns the route of a request.
func routeOf(i *proxy.ReplyInfo) string {
	switch {
	case i.Rewrite != nil:
		return routeLabel(i.Rewrite.Route)
	case i.Pass != nil:
		return routeLabel(i.Pass.Route)
	}
	return noRoute
}

// overloaded is what Anthropic answers where others say 503.
const overloaded = 529

// statusLabel returns a status that has a name as its number, any other as its
// class: upstreams may answer anything.
func statusLabel(code int) string {
	switch {
	case http.StatusText(code) != "", code == proxy.StatusClientLeft, code == overloaded:
		return strconv.Itoa(code)
	case code >= 100 && code < 600:
		return strconv.Itoa(code/100) + "xx"
	}
	return other
}

// other stands for all values beyond the bound of a label.
const other = "other"

// mostWords bounds the values of one metric's labels that other packages choose.
const mostWords = 200

// words are those values that were seen. They are few, and none is what a client
// wrote; this makes sure of it.
type words struct {
	mu   sync.Mutex
	seen map[string]bool
}

// of returns a word that may be a label.
func (w *words) of(word string) string {
	if status, ok := strings.CutPrefix(word, "status_"); ok {
		n, _ := strconv.Atoi(status)
		word = "status_" + statusLabel(n)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.seen[word]:
	case len(w.seen) >= mostWords:
		return other
	case w.seen == nil:
		w.seen = map[string]bool{word: true}
	default:
		w.seen[word] = true
	}
	return word
}
