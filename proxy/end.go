package proxy

import (
	"crypto/tls"
	"net"
	"net/http"
	"time"

	"laconic/proxy/apierror"
)

// end closes a request, however it went, and tells the listener. A panic of
// ours costs this request and no other; http.ErrAbortHandler, by which an
// answer is cut, goes on to the server: swallowed, it would make a broken
// answer look complete.
func (t *trip) end() {
	v := recover()
	defer t.w.End()
	cut := v == http.ErrAbortHandler
	if v != nil && !cut {
		t.fault("request", v)
		if t.w.Status == 0 {
			clear(t.w.Header())
			t.refuse(&apierror.Error{
				Status: http.StatusInternalServerError, Code: apierror.CodeFault, NoRetry: t.sent(), Close: true,
				Message: "The proxy failed on this request.",
			})
		} else {
			cut = true
			t.info.Code = apierror.CodeFault
		}
	}
	t.account(cut)
	t.showed()
	if t.line != nil {
		t.line.cancel(errRequestDone)
		t.line.watch.Stop()
	}
	if t.out != nil {
		t.out.Release()
		_ = t.out.Close()
	}
	t.seat.Free()
	t.p.o.Listener.Replied(t.info)
	if cut {
		t.breakOff()
		panic(http.ErrAbortHandler)
	}
	if t.r.ProtoMajor == 2 {
		_ = t.w.FlushError() // what the server writes after this has no deadline
	}
}

// account fills in how the request ended.
func (t *trip) account(cut bool) {
	t.info.Duration = time.Since(t.start)
	t.info.Status, t.info.Bytes = t.w.Status, t.w.Bytes
	if cut && t.info.Code == "" && t.line != nil {
		t.info.Code, t.info.Detail = t.broken()
	}
	if t.info.Code == apierror.CodeClientLeft || t.info.Code == apierror.CodeClientStalled {
		t.info.Status = statusClientLeft
	}
	if a := t.answer; a != nil {
		t.info.Streamed = a.Stream()
		_ = t.safely("usage", func() error {
			text, whole, kept := a.End()
			if t.info.Unread = !kept; !kept {
				return nil
			}
			end := t.wire.End(text, a.Stream(), whole)
			t.info.Usage, t.info.Done = end.Usage, end.Done
			if whole && t.refusedLate(t.info.Status, text) {
				return nil
			}
			broken := a.Err() != nil || cut
			if !broken {
				t.info.Ended = end.Flaw
			}
			t.sending.answered = t.sending.answered && !broken && (end.Flaw == "" || end.Incomplete()) && end.Generated
			t.learnFromAnswer()
			return nil
		})
	}
}

// breakOff resets the connection of an HTTP/1.0 client. Its answers have
// neither chunks nor, mostly, a length: only a reset tells a cut one from a
// complete one.
func (t *trip) breakOff() {
	if t.r.ProtoMajor != 1 || t.r.ProtoMinor != 0 {
		return
	}
	conn, _, err := t.w.Controller.Hijack()
	if err != nil {
		return // the server closes it
	}
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn() // its own Close would tell the client of a good end
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}
