package proxy

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"laconic/compact"
	"laconic/proxy/apierror"
	"laconic/proxy/summarize"
)

// headerIgnored says what of a request's x-laconic-* headers did nothing: the
// name of one that there is not, or x-laconic-pin;unmatched=2 for indices of no
// message. A client may pin what it sends later, so that is not refused.
const headerIgnored = "X-Laconic-Ignored"

// IgnoredInfo is a request header x-laconic-… that there is not. It is told once
// for each name.
type IgnoredInfo struct {
	ID     string // of the first request that has it
	Header string // at most 64 bytes
}

// known are the request headers that there are.
var known = []string{headerMode, headerPolicy, headerBudget, headerPin, headerTags, summarize.Header}

// Names of headers come from clients: so many are named in an answer, and so
// many in the log.
const (
	mostIgnored     = 8
	mostIgnoredTold = 100
)

// unknownHeaders are the names of request headers of ours that there are not, in
// lower case and in order.
func unknownHeaders(h http.Header) (names []string) {
	for name := range h {
		if ours(name) && !slices.Contains(known, name) {
			names = append(names, strings.ToLower(apierror.Clip(name, 64)))
		}
	}
	slices.Sort(names)
	return names[:min(len(names), mostIgnored)]
}

// unmatched is how many indices of a client's pins name no message of a
// conversation.
func unmatched(pins []int, in compact.Conversation) (n int) {
	for _, i := range pins {
		if i >= len(in.Messages) {
			n++
		}
	}
	return n
}

// ignored returns the value of the response header; "" for nothing.
func (o *overrides) ignored() string {
	words := slices.Clone(o.unknown)
	if n := o.unmatched; n > 0 {
		words = append(words, strings.ToLower(headerPin)+";unmatched="+strconv.Itoa(n))
	}
	return strings.Join(words, ", ")
}

// toldNames remembers which names were told.
type toldNames struct {
	mu    sync.Mutex
	names map[string]struct{}
}

// first reports whether a name is new, and remembers it; false when there are
// too many.
func (t *toldNames) first(name string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, ok := t.names[name]; ok || len(t.names) >= mostIgnoredTold {
		return false
	}
	if t.names == nil {
		t.names = map[string]struct{}{}
	}
	t.names[name] = struct{}{}
	return true
}
