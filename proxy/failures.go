package proxy

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"runtime/debug"
	"strings"

	"laconic/proxy/apierror"
	"laconic/proxy/body"
	"laconic/proxy/plan"
	"laconic/proxy/wire"
)

// unanswered is called when there is no answer to hand on.
func (x *request) unanswered(_ http.ResponseWriter, _ *http.Request, err error) {
	cause := context.Cause(x.call.ctx)
	switch broke := x.call.upload.Err(); {
	case errors.Is(cause, errShutdown):
		no := shuttingDown()
		no.NoRetry = x.call.sent()
		x.refuse(no)
	case errors.Is(broke, os.ErrDeadlineExceeded): // to the server, the client has left by that
		x.refuse(x.unreadable(broke))
	case x.clientLeft():
		// A 200 with nothing in it would be a lie to a client that only closed
		// its sending half.
		panic(http.ErrAbortHandler)
	case broke != nil:
		x.refuse(x.unreadable(broke))
	default:
		x.refuse(x.noAnswer(cause, err))
	}
}

// noAnswer is the error for an upstream that gave none.
func (x *request) noAnswer(cause, err error) *apierror.Error {
	if errors.Is(cause, apierror.ErrStatus) {
		err = cause
	}
	no := &apierror.Error{Status: http.StatusBadGateway, NoRetry: x.call.sent(), Detail: apierror.Reason(err)}
	var timeout interface{ Timeout() bool }
	switch {
	case errors.Is(err, apierror.ErrStatus):
		no.Code = apierror.CodeProtocol
	case errors.Is(cause, body.ErrNoHeaders), errors.As(err, &timeout) && timeout.Timeout():
		no.Status, no.Code = http.StatusGatewayTimeout, apierror.CodeTimeout
		if errors.Is(cause, body.ErrNoHeaders) {
			no.Detail = cause.Error()
		}
	case x.call.sent():
		no.Code = apierror.CodeBroke
	default:
		no.Code = apierror.CodeUnreachable
		no.Hint = "It did not get the whole request; trying again is safe."
		no.Detail = x.route.Upstream.Host + ": " + no.Detail
	}
	says := x.shownUnanswered(no.Code, no.Detail).Says
	no.Message = strings.ToUpper(says[:1]) + says[1:] + "."
	return no
}

// clientLeft reports whether the client closed its connection.
func (x *request) clientLeft() bool {
	err := x.r.Context().Err()
	return err != nil && !errors.Is(context.Cause(x.r.Context()), errShutdown)
}

// broken returns why an answer ended before its end.
func (x *request) broken() (code, detail string) {
	cause := context.Cause(x.call.ctx)
	switch {
	case errors.Is(cause, errShutdown):
		return apierror.CodeShutdown, ""
	case errors.Is(cause, body.ErrSilent):
		return apierror.CodeIdle, cause.Error()
	case errors.Is(x.w.Err, os.ErrDeadlineExceeded):
		return apierror.CodeClientStalled, ""
	case x.clientLeft(), x.w.Err != nil:
		return apierror.CodeClientLeft, ""
	}
	if x.call.answer != nil {
		return apierror.CodeBroke, apierror.Reason(x.call.answer.Err)
	}
	return apierror.CodeBroke, ""
}

// tooLong is the answer to a conversation that stays above its budget under a
// policy that rejects.
func (x *request) tooLong(p *plan.Plan) *apierror.Error {
	r := &p.Report
	said := x.wire.TooLong(r, p.Budget.Messages, p.Tools)
	return &apierror.Error{
		Status: http.StatusBadRequest, Param: said.Param, Code: said.Code, Message: said.Message,
		Detail: fmt.Sprintf("%d tokens in %d messages; %d tokens in %d messages after everything; budget %d",
			r.Before, r.MessagesBefore, r.After, r.MessagesAfter, r.Budget),
	}
}

// unreadable is the answer to a body that cannot be read, where the
// configuration is strict.
func unreadable(why, detail string) *apierror.Error {
	if why == "encoding" {
		return &apierror.Error{
			Status: http.StatusUnsupportedMediaType, Code: why, Detail: detail,
			Message: "The proxy reads request bodies that are plain, gzip or zstd, and this one is not.",
		}
	}
	return &apierror.Error{
		Status: http.StatusBadRequest, Code: why, Detail: detail,
		Message: "The proxy cannot read this request: " + wire.Code(why).Sentence() + ".",
		Hint:    "It is configured to refuse such requests instead of passing them.",
	}
}

func shuttingDown() *apierror.Error {
	return &apierror.Error{
		Status: http.StatusServiceUnavailable, Code: apierror.CodeShutdown, Close: true,
		Message: "The proxy is shutting down.",
	}
}

// ReasonFault is ReplyInfo.Passed of a request that the proxy failed on.
const ReasonFault = "fault"

// safely runs one step of the pure half. A panic or an error in it costs the
// client nothing but the step, and reaches the listener: a body that cannot be
// read is no fault of ours. http.ErrAbortHandler is an order to the server, and
// goes on to it.
func (x *request) safely(step string, f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			if v == http.ErrAbortHandler {
				panic(v)
			}
			x.p.fault(x.info.ID, step, v)
			err = errors.New(ReasonFault)
		}
	}()
	if err = f(); err != nil && !errors.As(err, new(*wire.PassError)) {
		x.p.listener.Failed(FaultInfo{ID: x.info.ID, Where: step, What: err.Error()})
	}
	return err
}

// try runs a step that has no error.
func (x *request) try(step string, f func()) error {
	return x.safely(step, func() error { f(); return nil })
}

// fault tells the listener of a panic.
func (p *Proxy) fault(id, where string, v any) {
	p.listener.Failed(FaultInfo{ID: id, Where: where, What: panicText(v), Stack: string(debug.Stack())})
}
