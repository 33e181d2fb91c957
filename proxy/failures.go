package proxy

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"syscall"
)

// The codes of what went wrong on the way, as ReplyInfo.Code and our errors
// give them.
const (
	codeClientLeft    = "client_left"          // the client closed its connection
	codeClientStalled = "client_stalled"       // the client stopped reading
	codeUnreachable   = "upstream_unreachable" // no connection, or none that held until the body was sent
	codeBroke         = "upstream_broke"       // the connection broke after the body was sent, or inside the answer
	codeTimeout       = "upstream_timeout"     // no headers in time
	codeIdle          = "upstream_silent"      // silence inside the answer
	codeProtocol      = "upstream_protocol"    // an answer that is not HTTP as we know it
	codeShutdown      = "proxy_shutting_down"
	codeFault         = "proxy_fault"
	codeOverloaded    = "proxy_overloaded" // no memory for the body
)

// unanswered is called when there is no answer to hand on.
func (t *trip) unanswered(_ http.ResponseWriter, _ *http.Request, err error) {
	cause := context.Cause(t.line.done)
	var no *refusal
	switch broke := t.up.broke(); {
	case errors.Is(cause, errShutdown):
		no = shuttingDown()
		no.NoRetry = t.sent()
		t.refuse(no)
	case t.clientLeft():
		// A 200 with nothing in it would be a lie to a client that only closed
		// its sending half.
		panic(http.ErrAbortHandler)
	case broke != nil:
		t.refuse(t.unreadable(broke, t.p.o.Limits.Body))
	default:
		t.refuse(t.noAnswer(cause, err))
	}
}

// noAnswer is the error for an upstream that gave none.
func (t *trip) noAnswer(cause, err error) *refusal {
	no := &refusal{Status: http.StatusBadGateway, Type: "server_error", NoRetry: t.sent(), Detail: reason(err)}
	var timeout interface{ Timeout() bool }
	switch {
	case errors.Is(err, errSwitched):
		no.Code, no.Message = codeProtocol, "The upstream's answer was not understood."
	case errors.Is(cause, errNoHeaders), errors.As(err, &timeout) && timeout.Timeout():
		no.Status, no.Code = http.StatusGatewayTimeout, codeTimeout
		no.Message = "The upstream did not answer in time."
		if errors.Is(cause, errNoHeaders) {
			no.Detail = cause.Error()
		}
	case t.sent():
		no.Code, no.Message = codeBroke, "The upstream closed the connection without an answer."
	default:
		no.Code, no.Message = codeUnreachable, "The proxy could not reach the upstream."
		no.Hint = "It did not get the whole request; trying again is safe."
	}
	return no
}

// sent tells whether the whole body went to the upstream, which may then have
// started to work on it. A request without a body changes nothing there.
func (t *trip) sent() bool {
	switch {
	case t.out != nil:
		return t.out.sent.Load()
	case t.up != nil:
		return t.up.done.Load()
	}
	return false
}

// clientLeft tells whether the client closed its connection.
func (t *trip) clientLeft() bool {
	err := t.r.Context().Err()
	return err != nil && !errors.Is(context.Cause(t.r.Context()), errShutdown)
}

// broken says why an answer ended before its end.
func (t *trip) broken() (code, detail string) {
	cause := context.Cause(t.line.done)
	switch {
	case errors.Is(cause, errShutdown):
		return codeShutdown, ""
	case errors.Is(cause, errStreamIdle):
		return codeIdle, cause.Error()
	case errors.Is(t.w.err, os.ErrDeadlineExceeded):
		return codeClientStalled, ""
	case t.clientLeft(), t.w.err != nil:
		return codeClientLeft, ""
	}
	if t.answer != nil {
		return codeBroke, reason(t.answer.err)
	}
	return codeBroke, ""
}

// reason describes the error of an exchange for the operator.
func reason(err error) string {
	if what, ok := ofNetwork(err); ok {
		return what
	}
	return "the answer was not understood"
}

// ofNetwork describes an error of the network; ok is false for any other. Its own
// text is used only where it cannot hold what a peer sent.
func ofNetwork(err error) (what string, ok bool) {
	var (
		dns         *net.DNSError
		operation   *net.OpError
		number      syscall.Errno
		unknown     x509.UnknownAuthorityError
		hostname    x509.HostnameError
		certificate x509.CertificateInvalidError
		record      tls.RecordHeaderError
		alert       tls.AlertError
	)
	switch {
	case err == nil:
		return "", true
	case errors.As(err, &dns):
		return "name lookup: " + dns.Err, true
	case errors.As(err, &unknown), errors.As(err, &hostname), errors.As(err, &certificate):
		return "the upstream's certificate is not valid for it", true
	case errors.As(err, &record), errors.As(err, &alert):
		return "TLS handshake failed", true
	case errors.As(err, &operation):
		what := operation.Op + " " + operation.Net
		if errors.As(err, &number) {
			return what + ": " + number.Error(), true
		}
		if operation.Timeout() {
			return what + ": timeout", true
		}
		return what, true
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return "the connection was closed early", true
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), errors.Is(err, errSwitched):
		return err.Error(), true
	}
	return "", false
}
