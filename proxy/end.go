package proxy

import (
	"crypto/tls"
	"net"
	"net/http"
	"time"

	"laconic/proxy/apierror"
	"laconic/proxy/discover"
	"laconic/proxy/learn"
	"laconic/proxy/operate"
	"laconic/proxy/why"
	"laconic/proxy/wire"
)

// end closes a request, however it went, and tells the listener. A panic of
// ours costs this request and no other; http.ErrAbortHandler, by which an
// answer is cut, goes on to the server: swallowed, it would make a broken
// answer look complete.
func (x *request) end() {
	v := recover()
	defer x.w.End()
	cut := v == http.ErrAbortHandler
	if v != nil && !cut {
		x.p.fault(x.info.ID, "request", v)
		if x.w.Status == 0 {
			clear(x.w.Header())
			x.refuse(&apierror.Error{
				Status: http.StatusInternalServerError, Code: apierror.CodeFault, NoRetry: x.call.sent(), Close: true,
				Message: "The proxy failed on this request.",
			})
		} else {
			cut = true
			x.info.Code = apierror.CodeFault
		}
	}
	x.account(cut)
	if x.call != nil {
		if x.call.answer != nil && x.call.answer.Stream {
			x.p.streaming.Add(-1)
		}
		x.observeUpstream()
		x.call.end()
	}
	x.info.Why = x.reason()
	if x.info.Wire != "" {
		x.p.outcomes.Note(string(x.info.Outcome), x.info.Why)
		if x.info.Cut {
			x.p.outcomes.Note(operate.Cut, x.info.CutShort())
		}
	}
	x.memory.Free()
	x.spend()
	x.p.listener.Replied(x.info)
	if x.trace != nil {
		_ = x.try("trace", func() { x.trace.Ended(x.info) })
	}
	if cut {
		x.breakOff()
		panic(http.ErrAbortHandler)
	}
	if x.r.ProtoMajor == 2 {
		_ = x.w.FlushError() // what the server writes after this has no deadline
	}
}

// account fills in how the request ended.
func (x *request) account(cut bool) {
	i := &x.info
	i.Duration = time.Since(x.start)
	i.Status, i.Bytes = x.w.Status, x.w.Bytes
	i.Unsent = !x.call.sent() && i.FirstByte == 0 && (i.Retry == nil || !i.Retry.Sent)
	if cut && i.Code == "" && x.call != nil {
		i.Code, i.Detail = x.broken()
	}
	if i.Code == apierror.CodeClientLeft || i.Code == apierror.CodeClientStalled {
		i.Status = StatusClientLeft
	}
	if x.call != nil && x.call.answer != nil {
		i.Streamed = x.call.answer.Stream
		_ = x.try("usage", func() { x.readEnd(cut) })
	}
}

// readEnd reads the end of the answer and learns from it.
func (x *request) readEnd(cut bool) {
	i := &x.info
	a, kept := x.call.answer.End()
	if i.Unread = !kept; !kept {
		return
	}
	end := x.wire.End(a)
	i.Usage, i.Done = end.Usage, end.Done
	if x.trace != nil {
		i.AnsweredBy = x.wire.AnsweredBy(a)
	}
	if r := i.Retry; r != nil && r.Reason == reasonCompaction {
		i.Usage = nil // nobody is billed for an answer of ours
		return
	}
	broken := cut || x.call.answer.Err != nil
	if !broken {
		i.Ended = end.Flaw
	}
	if a := x.attempt; a != nil && x.w.Status == http.StatusOK { // i.Status says that the client left
		var window int
		var doubtful bool
		i.Cut, window, doubtful = a.learn(&end, broken)
		if unset := a.c.askAgain(doubtful); window == 0 && unset > 0 && end.Usage == nil {
			window = a.c.Known.Assume(unset)
		}
		if window > 0 {
			x.p.listener.Upstream(UpstreamInfo{
				Upstream: shownURL(x.route.Upstream), Change: operate.Change{Event: operate.Cuts}, Model: i.Rewrite.Model, Window: window, Assumed: !i.Cut, Hint: why.Raise,
			})
		}
	}
}

// learn learns from the answer to an attempt. See [learn.Model.Answered].
func (a *attempt) learn(end *wire.End, broken bool) (cut bool, window int, doubtful bool) {
	var bill learn.Bill
	if u := end.Usage; u != nil && u.Prompt > 0 {
		bill = learn.Bill{Prompt: u.Prompt, Completion: u.Completion, Cached: u.Cached, NoRoom: !broken && end.Flaw == wire.BeforeOutput}
	} else if !a.answered || broken || !end.Generated || end.Flaw != "" && end.Flaw != wire.HalfEvent && end.Flaw != wire.WithoutDone {
		return false, 0, false
	}
	sent := a.Sent
	sent.MayCut = !sent.Stated && a.c.x.p.asker.Loads(a.c.x.settings.asking(a.c.x.r.Header, a.c.x.route))
	if discover.Silent(a.c.x.route.Upstream) {
		sent.List = learn.List{} // these hosts refuse, and drop old thinking
	}
	return a.c.Known.Answered(sent, bill)
}

// StatusClientLeft is the status of a request whose client left before the answer's
// end. nginx calls it so; no client sees it.
const StatusClientLeft = 499

// breakOff resets the connection of an HTTP/1.0 client. Its answers have
// neither chunks nor, mostly, a length: only a reset tells a cut one from a
// complete one.
func (x *request) breakOff() {
	if x.r.ProtoMajor != 1 || x.r.ProtoMinor != 0 {
		return
	}
	conn, _, err := x.w.Controller.Hijack()
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

// spend counts the tokens of a request that is over: those of the answer's usage,
// or the prompt by our count where a prompt was sent and no usage came.
func (x *request) spend() {
	if x.quota == nil {
		return
	}
	tokens := 0
	switch i := &x.info; {
	case i.Usage != nil:
		tokens = i.Usage.Prompt + i.Usage.Completion
	case i.Rewrite != nil && !i.Unsent && (i.Status < 400 || i.Status == StatusClientLeft):
		tokens = i.Rewrite.Report.After
	}
	x.p.quotas.Spend(x.client, *x.quota, tokens, time.Now())
}
