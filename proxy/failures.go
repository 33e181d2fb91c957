package proxy

import (
	"context"
	"errors"
	"net/http"
	"os"

	"laconic/proxy/apierror"
	"laconic/proxy/body"
)

// unanswered is called when there is no answer to hand on.
func (t *trip) unanswered(_ http.ResponseWriter, _ *http.Request, err error) {
	cause := context.Cause(t.line.done)
	var no *apierror.Error
	switch broke := t.up.Err(); {
	case errors.Is(cause, errShutdown):
		no = shuttingDown()
		no.NoRetry = t.sent()
		t.refuse(no)
	case t.clientLeft():
		// A 200 with nothing in it would be a lie to a client that only closed
		// its sending half.
		panic(http.ErrAbortHandler)
	case broke != nil:
		t.refuse(t.unreadable(broke))
	default:
		t.refuse(t.noAnswer(cause, err))
	}
}

// noAnswer is the error for an upstream that gave none.
func (t *trip) noAnswer(cause, err error) *apierror.Error {
	no := &apierror.Error{Status: http.StatusBadGateway, Type: "server_error", NoRetry: t.sent(), Detail: apierror.Reason(err)}
	var timeout interface{ Timeout() bool }
	switch {
	case errors.Is(err, apierror.ErrSwitchedProtocols):
		no.Code, no.Message = apierror.CodeProtocol, "The upstream's answer was not understood."
	case errors.Is(cause, body.ErrNoHeaders), errors.As(err, &timeout) && timeout.Timeout():
		no.Status, no.Code = http.StatusGatewayTimeout, apierror.CodeTimeout
		no.Message = "The upstream did not answer in time."
		if errors.Is(cause, body.ErrNoHeaders) {
			no.Detail = cause.Error()
		}
	case t.sent():
		no.Code, no.Message = apierror.CodeBroke, "The upstream closed the connection without an answer."
	default:
		no.Code, no.Message = apierror.CodeUnreachable, "The proxy could not reach the upstream."
		no.Hint = "It did not get the whole request; trying again is safe."
	}
	return no
}

// sent tells whether the whole body went to the upstream, which may then have
// started to work on it. A request without a body changes nothing there.
func (t *trip) sent() bool {
	switch {
	case t.out != nil:
		return t.out.Sent()
	case t.up != nil:
		return t.up.Done()
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
		return apierror.CodeShutdown, ""
	case errors.Is(cause, body.ErrSilent):
		return apierror.CodeIdle, cause.Error()
	case errors.Is(t.w.Err, os.ErrDeadlineExceeded):
		return apierror.CodeClientStalled, ""
	case t.clientLeft(), t.w.Err != nil:
		return apierror.CodeClientLeft, ""
	}
	if t.answer != nil {
		return apierror.CodeBroke, apierror.Reason(t.answer.Err())
	}
	return apierror.CodeBroke, ""
}
