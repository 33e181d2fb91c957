package proxy

import (
	"net/http"
	"time"
)

// Trace follows one request for a tracer: what is told to a [Listener] comes too
// late for a header that names the trace to the upstream. Its methods are called by
// the goroutine of the request, which waits for them. If one panics, the request
// goes on.
type Trace interface {
	// Sending: the request is about to be sent to out.URL. The headers that name the
	// trace may be set in out, in the place of the client's; nothing else may be
	// changed. It is not called for a request that is refused before. A second send
	// has the same headers.
	Sending(out *http.Request)
	// Ended: the request is over. It is called exactly once.
	Ended(ReplyInfo)
}

// Steps is when the steps of a request were done, counted from its headers; 0 for
// those that it did not reach.
type Steps struct {
	Read    time.Duration // the body was read
	Decoded time.Duration // the conversation was decoded
	Folded  time.Duration // it was repaired and folded, and its body written
	Sending time.Duration // the request was about to be sent
}
