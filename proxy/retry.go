package proxy

import (
	"maps"
	"net/http"
	"strings"

	"laconic/compact"
	"laconic/proxy/access"
	"laconic/proxy/answer"
	"laconic/proxy/body"
	"laconic/proxy/learn"
	"laconic/proxy/overflow"
	"laconic/proxy/wire"
)

// RetryInfo is what became of a request that the upstream refused: what the
// refusal told, and the second send, if there was one.
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

// RoundTrip sends a chat request that was read. When the upstream refuses it
// before it began to generate, a shorter one is sent, once; when that is
// refused too the client gets the first refusal unchanged. Nothing of this is
// seen by a request that is answered well, but that the headers of its answer
// wait for the first event where the request is not short.
func (t *trip) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := t.p.transport.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	defer t.out.Release()
	t.line.watch.Answered()
	refusal := t.peek(res, t.short())
	if refusal == nil {
		t.sending.answered = res.StatusCode == http.StatusOK
		return res, nil
	}
	second := t.second(req, res.StatusCode, refusal)
	if second != nil {
		_ = res.Body.Close()
		return second, nil
	}
	if t.clientLeft() {
		// Nobody is there to see the first answer, and it is not why this ended.
		_ = res.Body.Close()
		return nil, t.r.Context().Err()
	}
	return res, nil
}

// peek returns the error with which an answer begins, nil if it is none. An answer
// that is compressed, which nobody asked for, is not waited for.
func (t *trip) peek(res *http.Response, atOnce bool) (refusal []byte) {
	if body.Encoding(res.Header) != "" {
		return nil
	}
	_ = t.safely("hold", func() error {
		refusal = answer.Peek(res, t.wire, t.line.watch, atOnce)
		return nil
	})
	return refusal
}

// short reports whether what was sent is short enough that no refusal is
// expected under status 200: no longer than a prompt that was answered, or below
// a quarter of its budget while no limit is in doubt and the window is no guess.
// Bound thinking may be refused at any length, and no limit that a refusal under
// status 200 teaches shortens a history that had some.
func (t *trip) short() bool {
	if t.bound {
		return false
	}
	n := t.sentBody().Planned()
	answers, doubt := t.learnt.Answers(n)
	if answers {
		return true
	}
	// A budget that a header asks for may be above what the upstream takes.
	budget := min(t.budget.Tokens, t.facts.Accepts(t.limits(), t.sending.asked))
	return n < budget/4 && !doubt && !t.guessesWindow()
}

// guessesWindow reports whether nobody told the window of a model that nobody
// knows.
func (t *trip) guessesWindow() bool {
	return len(t.ways) > 1 && !t.route.Configured && t.window == (compact.Published{}) && t.facts.Window.Value == 0 && t.facts.Input.Value == 0
}

// second sends a refused request again, if that may help. nil: the first
// answer stands.
func (t *trip) second(req *http.Request, status int, refusal []byte) (res *http.Response) {
	began := t.facts
	_ = t.safely("retry", func() error {
		again := t.reconsider(status, t.wire.Refusal(status, refusal))
		if again == nil {
			return nil
		}
		res = t.resend(req, again)
		return nil
	})
	if res == nil {
		t.facts = began
	}
	return res
}

// again is a body that is to be sent in the place of a refused one.
type again struct {
	info   *RewriteInfo
	body   []byte
	sizes  sizes
	edited bool
	// slotted: a text stands for what left.
	slotted bool
	// accepted is done when the upstream took it, refused when it did not.
	accepted func()
	refused  func(wire.Refusal)
}

// reconsider returns what to send in the place of a body that was refused; nil:
// nothing.
func (t *trip) reconsider(status int, r wire.Refusal) *again {
	switch {
	case r.Generated:
		return nil
	case t.bound && r.Thinking != overflow.ThinkingAccepted:
		return t.afterThinking(r.Thinking)
	case r.Size.Kind != overflow.None:
		return t.afterOverflow(r.Size, status)
	case t.sending.report.Epochs == 0: // not compacted: it is the client's own
		return nil
	case r.Roles:
		return t.afterTemplate()
	case status == http.StatusBadRequest || status == http.StatusUnprocessableEntity:
		return t.afterRefusal()
	}
	return nil
}

// plan reads the client's body once more and makes another plan of it, under
// other facts. nil when the body was let go, or there is no memory to read it.
func (t *trip) plan(facts learn.Facts) *again {
	in := t.out.ReadAgain(t.r.Context())
	if in == nil {
		return nil
	}
	req, _, _ := t.decode(in)
	if req == nil {
		return nil
	}
	t.facts, t.afresh = facts, true
	info := *t.info.Rewrite
	info.Summary = nil // of the first plan: this one may have no slot
	plan, ok := t.compact(req, &info)
	if !ok {
		return nil
	}
	t.edited = false
	body, sent, ok := t.encode(in, req, plan, &info)
	if !ok {
		return nil
	}
	t.cut = t.cutOf(req.Conversation.Messages)
	return &again{info: &info, body: body, sizes: sent, edited: t.edited, slotted: plan.Slot != nil}
}

// resend sends a body in the place of a refused one. nil: it was not answered
// either, or not well.
func (t *trip) resend(req *http.Request, a *again) *http.Response {
	i := t.info.Retry
	i.Sent, i.Second = true, a.info.Report.After
	out := req.Clone(req.Context())
	out.GetBody = nil
	for name := range out.Header {
		if aboutBytes(name) || idempotencyKey(name) {
			delete(out.Header, name)
		}
	}
	if !a.edited && !t.sending.packed {
		maps.Copy(out.Header, t.sending.about) // of the client's own bytes they are true
	}
	second := body.NewOutgoing(a.body, nil, nil)
	second.Watch = t.line.watch
	defer second.Release()
	out.Body, out.ContentLength = second, int64(len(a.body))
	t.line.watch.Restart()
	res, err := t.p.transport.RoundTrip(out)
	if err != nil {
		return nil
	}
	t.line.watch.Answered()
	i.Status = res.StatusCode
	refusal := t.peek(res, false)
	if refusal != nil || res.StatusCode < 200 || res.StatusCode > 299 {
		if refusal != nil && a.refused != nil {
			a.refused(t.wire.Refusal(res.StatusCode, refusal))
		}
		_ = res.Body.Close()
		return nil
	}
	i.Answered = true
	if a.accepted != nil {
		a.accepted()
	}
	t.accepted(a)
	return res
}

// idempotencyKey tells whether a header names the first body to an upstream that
// repeats its answer whatever comes under the same name. The second body has
// none, and not one of ours either: some upstreams say what a key has to look
// like, and nobody will ask for that body's answer again.
func idempotencyKey(name string) bool {
	return strings.HasSuffix(access.Dashed(name), "idempotency-key")
}

// accepted makes the second body's account the request's.
func (t *trip) accepted(a *again) {
	t.remember()
	info := *a.info
	info.Outcome = Retried
	t.info.Rewrite, t.info.Outcome = &info, Retried
	t.sending.report, t.sending.sizes, t.sending.bytes, t.sending.percent = info.Report, a.sizes, len(a.body), t.facts.Percent()
	t.sending.slotted, t.sending.answered = a.slotted, true
}
