// Package apierror is the proxy's own answers: what it says when it cannot hand on
// an upstream's answer.
//
// It promises:
//
//   - one shape: every error has a code for programs and a message for people; the
//     wire that the client speaks writes them.
//   - private: no error holds content or a credential, and only one for a client
//     whose x-laconic-* headers are honoured an address of the upstream; what a
//     peer sent is clipped before it reaches a log.
//   - safe to retry: an error after which the upstream may still bill the request
//     tells the SDKs not to send it again.
package apierror

import (
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Error is an answer of the proxy's own, in place of the upstream's. It has three
// readers: Code is for programs, Message and Hint are for whoever reads the
// client's error, Detail is for the operator and goes to the log alone.
type Error struct {
	Status  int
	Code    string
	Param   string // the field at fault; "" is sent as null
	Message string
	Hint    string // what would help; a sentence after the message
	Detail  string

	RetryAfter time.Duration // 0: no such header
	NoRetry    bool          // OpenAI's SDKs must not repeat the request: it may have run already
	Close      bool          // the rest of the request's body will not be read
	Allow      string        // of a 405
}

func (e *Error) Error() string { return e.Code + ": " + e.Message }

// Said returns what the reader of the client's error sees: the message with its
// hint, and OpenAI's type of an error with that status.
func (e *Error) Said() (message, kind string) {
	message, kind = e.Message, "invalid_request_error"
	if e.Hint != "" {
		message += " " + e.Hint
	}
	switch {
	case e.Status == http.StatusTooManyRequests:
		kind = "rate_limit_error"
	case e.Status >= 500:
		kind = "server_error"
	}
	return message, kind
}

// Write sends the error to a client, with a body in JSON. Other headers may be set
// on w before.
func (e *Error) Write(w http.ResponseWriter, body []byte) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("X-Content-Type-Options", "nosniff")
	if e.Allow != "" {
		h.Set("Allow", e.Allow)
	}
	if e.Status == http.StatusUnauthorized {
		h.Set("Www-Authenticate", "Bearer")
	}
	if e.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(int((e.RetryAfter+time.Second-1)/time.Second)))
	}
	if e.NoRetry {
		// The Node and Python SDKs repeat any 5xx twice unless told not to, so
		// one lost answer would be billed three times.
		h.Set("X-Should-Retry", "false")
	}
	if e.Close {
		h.Set("Connection", "close")
	}
	if e.Status == http.StatusUpgradeRequired {
		h.Set("Upgrade", "HTTP/1.1")                   // what the connection may be used for instead (RFC 9110 §15.5.22)
		h["Connection"] = []string{"close", "Upgrade"} // net/http sees the first
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(e.Status)
	_, _ = w.Write(body) // a client that left needs no answer
}

// The codes of what went wrong on the way, as our errors and ReplyInfo.Code
// carry them.
const (
	CodeClientLeft    = "client_left"          // the client closed its connection
	CodeClientStalled = "client_stalled"       // the client stopped reading
	CodeUnreachable   = "upstream_unreachable" // no connection, or it broke before the whole body was sent
	CodeBroke         = "upstream_broke"       // the connection broke after the body was sent, or inside the answer
	CodeTimeout       = "upstream_timeout"     // no headers in time
	CodeIdle          = "upstream_silent"      // silence inside the answer
	CodeProtocol      = "upstream_protocol"    // an answer that is not HTTP
	CodeShutdown      = "proxy_shutting_down"
	CodeFault         = "proxy_fault"
	CodeOverloaded    = "proxy_overloaded"    // no memory for the body
	CodeRate          = "rate_limit_exceeded" // a client key used what it may in a minute
	CodeBudget        = "insufficient_quota"  // a client key used what it may in a day
)

// Clip returns at most the first most bytes of a text of the client's or the
// upstream's, made safe for a log. Each character that does not print (controls,
// line breaks, marks that turn the direction of text) becomes U+FFFD.
func Clip(s string, most int) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, s[:min(len(s), most)])
}
