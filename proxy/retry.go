package proxy

import (
	"bytes"
	"maps"
	"net/http"
	"strings"

	"laconic/proxy/access"
	"laconic/proxy/answer"
	"laconic/proxy/body"
	"laconic/proxy/learn"
	"laconic/proxy/overflow"
	"laconic/proxy/wire"
)

// RetryInfo is what became of a request that the upstream refused: what the
// refusal said, and the second send, if there was one.
type RetryInfo struct {
	// Reason is "overflow", "template", "thinking" where thinking was bound to
	// another history or missing, or "refused" where a compacted body was refused
	// with 400 or 422 for any other reason.
	Reason string
	// Kind, Shape, Limit, Prompt and Output are the upstream's own, of an
	// overflow; see overflow.Refusal.
	Kind, Shape           string
	Limit, Prompt, Output int
	// Sent: the request was sent a second time. Answered: the client got the
	// answer to that; else it got the first refusal unchanged.
	Sent, Answered bool
	// Why says in a word why it was not sent again, "" when it was.
	Why string
	// Status is that of the second answer; 0 when there was none.
	Status int
	// First and Second are what the two bodies cost, in tokens.
	First, Second int
}

// The reasons for a second send.
const (
	reasonOverflow = "overflow"
	reasonTemplate = "template"
	reasonThinking = "thinking"
	reasonRefused  = "refused"
)

// sender sends a conversation. When the upstream refuses it before it began to
// generate, a shorter one is sent, once; when that is refused too the client gets
// the first refusal unchanged. Nothing of this is seen by a request that is
// answered well, but that the headers of its answer wait for the first event where
// the request is not short.
type sender struct {
	first      *attempt
	compressed bool // the client's body was compressed
}

// RoundTrip sends a request.
func (s *sender) RoundTrip(r *http.Request) (*http.Response, error) {
	x := s.first.c.x
	about := takeAboutBytes(r.Header, s.first.edited)
	res, err := x.p.transport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	defer x.call.body.Release()
	x.call.watch.Answered()
	refusal := x.peek(res, s.first.short())
	if refusal == nil {
		s.first.answered = res.StatusCode == http.StatusOK
		return res, nil
	}
	if second := s.again(r, about, res.StatusCode, refusal); second != nil {
		_ = res.Body.Close()
		return second, nil
	}
	if x.clientLeft() {
		// Nobody is there to see the first answer, and it is not why this ended.
		_ = res.Body.Close()
		return nil, x.r.Context().Err()
	}
	return res, nil
}

// takeAboutBytes returns the headers that say something of the bytes of the
// client's body, but for its length, and removes them from h where the body was
// edited.
func takeAboutBytes(h http.Header, edited bool) (about http.Header) {
	for name, values := range h {
		if !aboutBytes(name) {
			continue
		}
		if !strings.EqualFold(name, "Content-Length") {
			if about == nil {
				about = http.Header{}
			}
			about[name] = values
		}
		if edited {
			delete(h, name)
		}
	}
	return about
}

// peek returns the error that an answer begins with, or nil if there is none. An
// answer that is compressed, which nobody asked for, is not waited for.
func (x *exchange) peek(res *http.Response, atOnce bool) (refusal []byte) {
	if body.Encoding(res.Header) != "" {
		return nil
	}
	_ = x.safely("hold", func() error {
		refusal = answer.Peek(res, x.wire, x.call.watch, atOnce)
		return nil
	})
	return refusal
}

// short reports whether what was sent is short enough that no refusal is
// expected under status 200: no longer than a prompt that was answered, or below
// a quarter of its budget while no limit is in doubt and the window is no guess.
// Bound thinking may be refused at any length, and no limit that a refusal under
// status 200 teaches shortens a history that had some.
func (a *attempt) short() bool {
	if a.bound {
		return false
	}
	n := a.sent().Planned()
	answered, doubt := a.c.known.Answers(n)
	// A budget that a header asks for may be above what the upstream takes.
	budget := min(a.budget.Tokens, a.facts.Accepts(a.c.limits, a.c.asked))
	return answered || n < budget/4 && !doubt && !a.c.guessesWindow()
}

// again sends another body in the place of a refused one, if that may help; nil:
// the client gets the first answer.
func (s *sender) again(r *http.Request, about http.Header, status int, refusal []byte) (res *http.Response) {
	x := s.first.c.x
	_ = x.safely("retry", func() error {
		if second := s.reconsider(status, x.wire.Refusal(status, refusal)); second != nil {
			if second.edited || s.compressed {
				about = nil // they are true of the client's own bytes alone
			}
			res = second.send(r, about)
		}
		return nil
	})
	return res
}

// second is the attempt in the place of a refused one.
type second struct {
	attempt
	body []byte
	// trial is what it was planned under after a refusal for size, shape how much of
	// a plan it holds after one for roles.
	trial learn.Trial
	shape learn.Shape
	// cut names the history out of which it takes all bound thinking.
	cut learn.CutKey
}

// send sends the second body. nil: it was not answered either, or not well.
func (s *second) send(r *http.Request, about http.Header) *http.Response {
	x := s.c.x
	i := x.info.Retry
	i.Sent, i.Second = true, s.info.Report.After
	out := r.Clone(r.Context())
	out.GetBody = nil
	for name := range out.Header {
		if aboutBytes(name) || idempotencyKey(name) {
			delete(out.Header, name)
		}
	}
	maps.Copy(out.Header, about)
	again := body.NewOutgoing(s.body, &body.Body{}, false)
	again.Watch = x.call.watch
	defer again.Release()
	out.Body, out.ContentLength = again, int64(len(s.body))
	x.call.watch.Restart()
	res, err := x.p.transport.RoundTrip(out)
	if err != nil {
		return nil
	}
	x.call.watch.Answered()
	i.Status = res.StatusCode
	refusal := x.peek(res, false)
	if refusal != nil || res.StatusCode < 200 || res.StatusCode > 299 {
		if refusal != nil {
			s.refused(i.Reason, x.wire.Refusal(res.StatusCode, refusal))
		}
		_ = res.Body.Close()
		return nil
	}
	i.Answered, s.answered = true, true
	s.accepted(i.Reason)
	return res
}

// idempotencyKey reports whether a header names the first body to an upstream that
// repeats its answer whatever comes under the same name. The second body has
// none, and not one of ours either: some upstreams say what a key has to look
// like, and nobody will ask for that body's answer again.
func idempotencyKey(name string) bool {
	var buf [64]byte
	return bytes.HasSuffix(access.AppendDashed(buf[:0], name), []byte("idempotency-key"))
}

// accepted learns from the answer to the second body, and makes its account the
// request's.
func (s *second) accepted(reason string) {
	x, known := s.c.x, s.c.known
	switch reason {
	case reasonOverflow:
		known.Accepted(s.trial)
	case reasonTemplate:
		known.SetShape(s.shape)
	}
	if s.bound {
		known.AddCut(s.cut) // later requests leave out the same
	}
	a := s.attempt // without the body
	a.info.Outcome = Retried
	x.info.Rewrite, x.info.Outcome, x.attempt = &a.info, Retried, &a
}

// refused learns from the refusal of the second body.
func (s *second) refused(reason string, r wire.Refusal) {
	switch {
	case reason == reasonOverflow:
		s.c.known.RefusedAgain(s.trial, r.Size, s.sent())
	case reason == reasonTemplate && r.Roles && s.shape == learn.ShapeOriginal:
		s.c.known.SetShape(learn.ShapeFull) // the client's own list is at fault: no shape of ours cures it
	case reason == reasonTemplate && r.Roles:
		s.c.known.SetShape(s.shape)
	}
}

// refusedLate reports whether an answer that nobody waited for was a refusal,
// and learns from it: the next request fits, or is waited for.
func (a *attempt) refusedLate(status int, text []byte) bool {
	x := a.c.x
	if x.info.Retry != nil {
		return false
	}
	begins, data := x.wire.FirstEvent(text, true)
	if begins != overflow.Error {
		return false
	}
	r := x.wire.Refusal(status, data)
	if r.Generated || r.Size.Kind == overflow.None {
		return false
	}
	a.startOverflowInfo(r.Size).Why = "late"
	if !learn.Hopeless(r.Size) {
		a.c.known.RefusedLate(r.Size, a.sent())
	}
	return true
}
