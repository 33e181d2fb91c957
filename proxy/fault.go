package proxy

import (
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"runtime/debug"
	"strings"

	"laconic/proxy/apierror"
	"laconic/proxy/wire"
)

// ReasonFault is PassInfo.Reason of a request that the proxy failed on.
const ReasonFault = "fault"

// errFault is a panic that was recovered, and reported to the listener.
var errFault = errors.New("fault")

// safely runs one step of the pure half. A panic or an error in it costs the
// client nothing but the step, and reaches the listener: a body that cannot be
// read is no fault of ours. http.ErrAbortHandler is an order to the server, and
// goes on to it.
func (x *exchange) safely(step string, f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			if v == http.ErrAbortHandler {
				panic(v)
			}
			x.p.fault(x.info.ID, step, v)
			err = errFault
		}
	}()
	var unreadable *wire.PassError
	if err = f(); err != nil && !errors.As(err, &unreadable) {
		x.p.o.Listener.Failed(FaultInfo{ID: x.info.ID, Where: step, What: err.Error()})
	}
	return err
}

// fault tells the listener of a panic.
func (p *Proxy) fault(id, where string, v any) {
	p.o.Listener.Failed(FaultInfo{ID: id, Where: where, What: panicText(v), Stack: string(debug.Stack())})
}

// panicText describes the value of a panic. It may hold what was being read,
// so it is shown only where it cannot.
func panicText(v any) string {
	switch v := v.(type) {
	case runtime.Error:
		return v.Error()
	case string:
		if strings.HasPrefix(v, "BUG:") {
			return apierror.Clip(v, 200)
		}
	}
	return fmt.Sprintf("panic of type %T", v)
}
