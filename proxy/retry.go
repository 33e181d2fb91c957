package proxy

import (
	"cmp"
	"io"
	"maps"
	"net/http"
	"strings"

	"laconic/compact"
	"laconic/proxy/access"
	"laconic/proxy/answer"
	"laconic/proxy/body"
	"laconic/proxy/learn"
	"laconic/proxy/overflow"
	"laconic/proxy/why"
	"laconic/proxy/wire"
)

// RetryInfo is what became of a request that the upstream refused: what the
// refusal said, and the second send, if there was one.
type RetryInfo struct {
	// Refusal has as Reason also "compaction", where the upstream does not know what
	// asks for one. Answered: the client got the answer to the second send; else it got
	// the first refusal unchanged. Hint is that of [overflow.Template], and Second what was
	// sent after the first body.
	why.Refusal
	// Form and Output are the upstream's own, of an overflow; see overflow.Refusal.
	Form   string
	Output int
	// Then is the reason for which the second body was refused, where a third was
	// sent: for length after a template, a template after length, or another demand
	// of the template. "": there was none.
	Then string
	// Why says in a word why it was not sent again, "" when it was; "here": it was
	// answered by the proxy.
	Why string
	// Template is what a chat template asks for that refused the list.
	Template string
	// Status is that of the last answer; 0 when there was none.
	Status int
}

// The reasons for a second send.
const (
	reasonOverflow = "overflow"
	reasonTemplate = "template"
	reasonThinking = "thinking"
	reasonRefused  = "refused"
)

// retrier sends a conversation. When the upstream refuses it before it began to
// generate, a shorter one is sent. When that is refused for something else that is
// known, both are cured, once; when it is refused too the client gets the first
// refusal unchanged. Nothing of this is seen by a request that is answered well.
//
// The headers of a stream go to the client before its first event is known to be no
// refusal. Its x-laconic-* headers are then about the first body, and the log has both.
type retrier struct {
	first *attempt
	// kind is the media type of an answer whose headers the client has. The second
	// answer must have the same; "": it has not got any.
	kind string
}

// RoundTrip sends a request.
func (s *retrier) RoundTrip(r *http.Request) (*http.Response, error) {
	x := s.first.c.x
	if s.first.Edited {
		dropAboutBytes(r.Header)
	}
	res, err := x.p.transport.RoundTrip(r)
	if err != nil {
		if !x.clientLeft() && s.first.c.asks() { // it may start anew with another window
			x.p.asker.Lost(x.settings.asking(x.r.Header, x.route))
		}
		return nil, err
	}
	x.call.watch.Answered()
	if res.StatusCode == http.StatusOK && res.ContentLength < 0 && body.Encoding(res.Header) == "" {
		s.kind = answer.Kind(res)
		answer.Hold(res, x.wire, x.call.watch, func(refusal []byte) (io.ReadCloser, error) {
			second, err := s.instead(r, res, refusal)
			if second == nil {
				return nil, err
			}
			return second.Body, nil
		})
		return res, nil
	}
	if own := s.first.compaction(res); own != nil {
		return own, nil
	}
	second, err := s.instead(r, res, x.peek(res))
	if second == nil && err == nil {
		return res, nil
	}
	_ = res.Body.Close()
	return second, err
}

// instead returns the answer that takes the place of one, nil if none does. That one
// begins with a refusal, or with none.
func (s *retrier) instead(r *http.Request, of *http.Response, refusal []byte) (*http.Response, error) {
	x := s.first.c.x
	defer x.call.body.Release()
	if refusal == nil {
		if of.StatusCode == http.StatusOK {
			s.first.begins()
		}
		return nil, nil
	}
	second := s.again(r, of.StatusCode, refusal)
	if second == nil && x.clientLeft() {
		return nil, x.r.Context().Err() // nobody is there to see the refusal, and it is not why this ended
	}
	return second, nil
}

// begins notes that the answer begins. The upstream has loaded the model by now, and
// the end of the answer may be far: the next request needs the window sooner.
func (a *attempt) begins() {
	a.answered = true
	_ = a.c.askAgain(false)
}

// peek returns the error that an answer begins with, or nil if there is none. An
// answer that is compressed, which nobody asked for, is not waited for.
func (x *request) peek(res *http.Response) (refusal []byte) {
	if body.Encoding(res.Header) != "" {
		return nil
	}
	_ = x.try("hold", func() { refusal = answer.Peek(res, x.wire, x.call.watch) })
	return refusal
}

// again sends another body in the place of a refused one, if that may help; nil:
// the client gets the first answer.
func (s *retrier) again(r *http.Request, status int, refusal []byte) (res *http.Response) {
	x := s.first.c.x
	_ = x.try("retry", func() {
		said := x.wire.Refusal(status, refusal)
		first := s.first.reconsider(status, said)
		if first == nil {
			return
		}
		i := x.info.Retry
		if res, said = first.send(r, s.kind); res != nil || !first.elsewise(said) {
			return
		}
		next := first.reconsider(i.Status, said)
		reason := x.info.Retry.Reason
		if x.info.Retry = i; next == nil {
			return
		}
		i.Then = reason
		next.trial = cmp.Or(next.trial, first.trial)
		res, _ = next.send(r, s.kind)
	})
	if i := x.info.Retry; res == nil && i != nil && i.Sent && i.Status > 0 {
		x.info.Outcome = Refused
	}
	return res
}

// second is the attempt in the place of a refused one.
type second struct {
	attempt
	body   []byte
	reason string       // of the refusal
	trial  *learn.Trial // what it was planned under after a refusal for size; else nil
	// cut names the history out of which it takes all bound thinking.
	cut string
}

// elsewise reports whether a refusal of the body is about something else than that of
// the first: an upstream names one fault at a time.
func (s *second) elsewise(r wire.Refusal) bool {
	switch s.reason {
	case reasonOverflow:
		return r.Size.Kind == overflow.None && r.Template != overflow.TemplateTaken ||
			r.Size.Kind == overflow.Output && s.c.x.info.Retry.Kind != string(overflow.Output) // it looks at the answer once the prompt fits
	case reasonTemplate:
		return r.Size.Kind != overflow.None && !r.Size.Unsure ||
			r.Template != overflow.TemplateTaken && r.Template.String() != s.c.x.info.Retry.Template
	}
	return false
}

// send sends the body. No answer: it was not answered either, or not well; then it
// returns what a refusal said. kind is the media type that it must have; "": any.
func (s *second) send(r *http.Request, kind string) (res *http.Response, said wire.Refusal) {
	x := s.c.x
	i := x.info.Retry
	i.Sent, i.Second = true, i.Second+s.Report.After
	out := r.Clone(r.Context())
	out.GetBody = nil
	// The idempotency key names the first body to an upstream that repeats its answer
	// whatever comes under the same name. The second body has none of ours either: some
	// upstreams say what a key has to look like.
	dropAboutBytes(out.Header)
	maps.DeleteFunc(out.Header, func(name string, _ []string) bool { return strings.HasSuffix(access.Dashed(name), "idempotency-key") })
	again := body.NewOutgoing(s.body, &body.Body{}, false)
	again.Watch = x.call.watch
	defer again.Release()
	out.Body, out.ContentLength = again, int64(len(s.body))
	x.call.watch.Restart()
	res, err := x.p.transport.RoundTrip(out)
	if err != nil {
		return nil, said
	}
	x.call.watch.Answered()
	i.Status = res.StatusCode
	if own := s.compaction(res); own != nil {
		now := x.info.Retry // what was sent, and the first refusal, stay with it
		i.Reason, i.Why, i.Status, i.Answered = now.Reason, now.Why, now.Status, true
		x.info.Retry = i
		return own, said
	}
	refusal := x.peek(res)
	takes := res.StatusCode >= 200 && res.StatusCode <= 299
	if kind != "" {
		takes = res.StatusCode == http.StatusOK && answer.Kind(res) == kind && body.Encoding(res.Header) == ""
	}
	if refusal != nil || !takes {
		if refusal != nil {
			said = x.wire.Refusal(res.StatusCode, refusal)
			s.refused(said)
		}
		_ = res.Body.Close()
		return nil, said
	}
	i.Answered = true
	s.begins()
	s.accepted()
	return res, said
}

// accepted learns from the answer to the second body, and makes its account the
// request's.
func (s *second) accepted() {
	x, known := s.c.x, s.c.Known
	if s.trial != nil {
		known.Accepted(*s.trial)
	}
	if s.reason == reasonTemplate {
		known.SetDemands(s.Facts.Demands.Value)
	}
	if s.Bound {
		known.AddCut(s.cut) // later requests leave out the same
	}
	a := s.attempt        // without the body
	kept := known.Facts() // not all that was tried
	a.info.Facts.Input, a.info.Facts.Bytes = kept.Input, kept.Bytes
	a.info.Outcome, a.info.Why = Retried, a.over()
	x.info.Rewrite, x.info.Outcome, x.attempt = &a.info, Retried, &a
}

// refused learns from the refusal of the second body.
func (s *second) refused(r wire.Refusal) {
	switch {
	case s.reason == reasonOverflow && !s.elsewise(r):
		s.c.Known.RefusedAgain(*s.trial, r.Size, s.Sent)
	case s.reason == reasonTemplate && r.Size.Kind != overflow.None:
		s.c.Known.SetDemands(s.Facts.Demands.Value) // the template took it, and it was too long
	case s.reason == reasonTemplate:
		s.refusedDemand(r.Template)
	}
}

// refusedDemand learns from a template that refused the second body, too. A second
// demand is met beside the first.
func (s *second) refusedDemand(t overflow.Template) {
	is := s.Facts.Demands.Value
	switch more := demanded[t] &^ is; {
	case t == overflow.TemplateTaken:
	case more != 0 && t.String() != s.c.x.info.Retry.Template:
		s.c.Known.SetDemands(is | more)
	case is.Has(compact.Original):
		s.c.Known.SetDemands(is &^ (compact.NoSlot | compact.Original)) // the client's own list is at fault: no demand cures it
	case s.Report.Epochs > 0:
		s.c.Known.SetDemands(is) // the next request tries the next
	}
}
