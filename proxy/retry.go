package proxy

import (
	"bytes"
	"maps"
	"net/http"
	"time"

	"laconic/compact"
	"laconic/proxy/overflow"
	"laconic/proxy/wire"
)

// sending is what is known of the body that was sent, once it is.
type sending struct {
	report  compact.Report
	bytes   int
	percent int // the counter's factor, see Learnt
	asked   int // tokens of answer that the request asks for; 0: it does not say
	slotted bool
	packed  bool        // the client's own body was compressed
	about   http.Header // what the client's headers say of its bytes
}

// note keeps a header of the client's that says something of its bytes.
func (s *sending) note(name string, values []string) {
	if s.about == nil {
		s.about = http.Header{}
	}
	s.about[name] = values
}

// sendMeasured sends a chat request that was read. In shadow the client wants
// to see what the upstream makes of its own bytes, so nothing is sent again.
func (t *trip) sendMeasured(in *incoming, out []byte, req *wire.Request, plan *compact.Plan, info *RewriteInfo) {
	t.sending = sending{
		report: info.Report, bytes: len(out), percent: t.facts.percent(), asked: req.MaxTokens,
		slotted: plan.Slot != nil, packed: len(in.sent) != len(in.text),
	}
	original := in.text
	if info.Outcome == Shadow {
		original = nil
		t.sending.report.After, t.sending.slotted = info.Report.Before, false
	}
	t.send(newOutgoing(out, original, in.seat))
}

// way is how a request leaves: by RoundTrip below, where it was read.
func (t *trip) way() http.RoundTripper {
	if t.out != nil && t.out.keeping {
		return t
	}
	return t.p.transport
}

// RetryInfo is what became of a request that the upstream refused: what the
// refusal told, and the second send, if there was one.
type RetryInfo struct {
	// Reason is "overflow", "template", or "refused" where a compacted body
	// was refused with 400 or 422 for any other reason.
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
	reasonRefused  = "refused"
)

// RoundTrip sends a chat request that was read. When the upstream refuses it
// before it began to generate, a shorter one is sent, once; when that is
// refused too the client gets the first refusal unchanged. Nothing of this is
// seen by a request that is answered well, but that its headers wait for the
// first byte of its answer.
func (t *trip) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := t.p.transport.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	defer t.out.release()
	t.line.watch.answered()
	first := t.hold(res)
	if first.text == nil || res.StatusCode == http.StatusSwitchingProtocols {
		return res, nil
	}
	second := t.second(req, first)
	if second == nil {
		return res, nil
	}
	_ = first.res.Body.Close()
	return second, nil
}

// second sends a refused request again, if that may help. nil: the first
// answer stands.
func (t *trip) second(req *http.Request, first *held) (res *http.Response) {
	began := t.facts
	_ = t.safely("retry", func() error {
		again := t.reconsider(first)
		if again == nil {
			return nil
		}
		res = t.resend(req, first, again)
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
	edited bool
	// accepted is done when the upstream took it, refused when it did not.
	accepted func()
	refused  func(text []byte, status int)
}

// reconsider says what to send in the place of a body that was refused with
// first; nil: nothing.
func (t *trip) reconsider(first *held) *again {
	status := first.res.StatusCode
	if r := overflow.Read(status, first.text); r.Kind != overflow.None {
		return t.afterOverflow(r, status)
	}
	switch {
	case t.sending.report.Epochs == 0: // not compacted: it is the client's own
		return nil
	case templateRefused(status, first.text):
		return t.afterTemplate()
	case status == http.StatusBadRequest || status == http.StatusUnprocessableEntity:
		return t.afterRefusal()
	}
	return nil
}

// note starts the account of a refusal.
func (t *trip) note(reason string) *RetryInfo {
	t.info.Retry = &RetryInfo{Reason: reason, First: t.sending.report.After}
	return t.info.Retry
}

// afterOverflow learns from a refusal, and folds again under what was learnt.
func (t *trip) afterOverflow(r overflow.Refusal, status int) *again {
	i := t.note(reasonOverflow)
	i.Kind, i.Shape, i.Limit, i.Prompt, i.Output = r.Kind.String(), r.Shape, r.Limit, r.Prompt, r.Output
	if hopeless(r) {
		i.Why = "answer" // compaction cannot help against that
		return nil
	}
	t.learn(r)
	if status == http.StatusTooManyRequests {
		i.Why = "status" // the client waits and comes again; then it fits
		return nil
	}
	a := t.plan(t.lesson.read(t.p))
	if a == nil {
		i.Why = "memory"
		return nil
	}
	if !t.takes(a) || !t.smaller(a, r) {
		i.Why = "over"
		return nil
	}
	a.refused = func(text []byte, status int) {
		if r := overflow.Read(status, text); r.Kind != overflow.None && !hopeless(r) {
			t.learn(r)
		}
	}
	return a
}

// afterTemplate makes the next shape of the plan: without a text in the place
// of what left, then the client's own list, repaired.
func (t *trip) afterTemplate() *again {
	i := t.note(reasonTemplate)
	next := ShapeOriginal
	if t.facts.Shape == ShapeFull && t.sending.slotted {
		next = ShapeNoSlot
	}
	if next == ShapeOriginal && !t.originalFits() {
		i.Why = "over"
		return nil
	}
	facts := t.facts
	facts.Shape = next
	a := t.plan(facts)
	if a == nil {
		i.Why = "memory"
		return nil
	}
	if !t.takes(a) {
		i.Why = "over"
		return nil
	}
	remember := func(s Shape) {
		t.lesson.change(t.p, func(now time.Time, l *Learnt) { l.Shape, l.ShapeUntil = s, now.Add(shapeLife) })
	}
	a.accepted = func() { remember(next) }
	a.refused = func(text []byte, status int) {
		if !templateRefused(status, text) {
			return
		}
		if next == ShapeOriginal {
			next = ShapeFull // the client's own list is at fault: no shape of ours cures it
		}
		remember(next)
	}
	return a
}

// afterRefusal gives the client's own list, repaired where it needs that, in
// the place of a compacted one, where it fits.
func (t *trip) afterRefusal() *again {
	i := t.note(reasonRefused)
	if !t.originalFits() {
		i.Why = "over"
		return nil
	}
	facts := t.facts
	facts.Shape = ShapeOriginal
	a := t.plan(facts)
	if a == nil {
		i.Why = "memory"
	}
	return a
}

// originalFits tells whether the upstream takes the client's own list as far
// as its size goes.
func (t *trip) originalFits() bool {
	return t.sending.report.Before <= t.facts.accepts(t.limits(), t.sending.asked)
}

// takes tells whether the upstream takes a plan, as far as is known: it may be
// above its budget and still have room, where no answer's length was asked for.
func (t *trip) takes(a *again) bool {
	r := &a.info.Report
	return r.After <= max(t.facts.accepts(t.limits(), t.sending.asked), r.Budget) && r.MessagesAfter <= t.budget.Messages
}

// smaller tells whether a plan is smaller than what was refused, in what it was
// refused for.
func (t *trip) smaller(a *again, of overflow.Refusal) bool {
	r := &a.info.Report
	switch of.Kind {
	case overflow.Count:
		return r.MessagesAfter < t.sending.report.MessagesAfter
	case overflow.Bytes:
		return len(a.body) < t.sending.bytes && (of.Limit == 0 || len(a.body) <= of.Limit)
	}
	return r.After*100/t.facts.percent() < t.estimate()
}

// plan reads the client's body once more and makes another plan of it, under
// other facts. nil when the body was let go, or there is no memory to read it.
func (t *trip) plan(facts Learnt) *again {
	text := t.out.kept()
	if text == nil || t.out.seat.holdAgain(t.r.Context(), text) != nil {
		return nil
	}
	in := &incoming{sent: text, text: text, seat: t.out.seat}
	req, _, _ := t.decode(in)
	if req == nil {
		return nil
	}
	t.facts = facts
	info := *t.info.Rewrite
	plan, ok := t.compact(req, &info)
	if !ok {
		return nil
	}
	t.edited = false
	body, ok := t.encode(in, req, plan, &info)
	if !ok {
		return nil
	}
	return &again{info: &info, body: body, edited: t.edited}
}

// resend sends a body in the place of a refused one. nil: it was not answered
// either, or not well.
func (t *trip) resend(req *http.Request, first *held, a *again) *http.Response {
	i := t.info.Retry
	i.Sent, i.Second = true, a.info.Report.After
	out := req.Clone(req.Context())
	out.GetBody = nil
	for name := range out.Header {
		if aboutBytes(name) {
			delete(out.Header, name)
		}
	}
	if !a.edited && !t.sending.packed {
		maps.Copy(out.Header, t.sending.about) // of the client's own bytes they are true
	}
	body := &outgoing{w: t.line.watch, data: a.body}
	defer body.release()
	out.Body, out.ContentLength = body, int64(len(a.body))
	t.line.watch.again()
	res, err := t.p.transport.RoundTrip(out)
	if err != nil {
		return nil
	}
	t.line.watch.answered()
	i.Status = res.StatusCode
	h := t.hold(res)
	failed := h.text != nil && (res.StatusCode != http.StatusOK || isError(h))
	if failed || res.StatusCode < 200 || res.StatusCode > 299 {
		if failed && a.refused != nil {
			a.refused(h.text, res.StatusCode)
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

// isError tells whether an answer with status 200 is an error. Any is: what was
// refused with numbers and what broke otherwise, nothing was generated.
func isError(h *held) bool { return len(bytes.TrimSpace(h.text)) > 0 }

// accepted makes the second body's account the request's.
func (t *trip) accepted(a *again) {
	info := *a.info
	info.Outcome = Retried
	t.info.Rewrite, t.info.Outcome = &info, Retried
	t.sending.report, t.sending.bytes, t.sending.percent = info.Report, len(a.body), t.facts.percent()
}

// learn writes what a refusal tells into the facts of this model, upstream and
// credential.
func (t *trip) learn(r overflow.Refusal) {
	s := sized{estimate: t.estimate(), bytes: t.sending.bytes, asked: t.sending.asked}
	t.lesson.change(t.p, func(now time.Time, l *Learnt) {
		if counted := l.learn(now, r, s); counted > 0 && !t.ownCounter() {
			t.lesson.counted(t.p, now, l, func(c Calibration) { c.Refused(s.estimate, counted) })
		}
		if r.Kind == overflow.Count || r.Kind == overflow.Bytes {
			return
		}
		// A number that does not explain the refusal is wrong, or the counter
		// is. Then a shorter prompt is tried.
		if l.budget(t.limits(), s.asked).Tokens*100/t.percentOf(l) >= s.estimate {
			l.cap(now, int(tooLongBy*float64(s.estimate)))
		}
	})
}

// estimate is what was sent by the counter alone, before its correction.
func (t *trip) estimate() int { return t.sending.report.After * 100 / t.sending.percent }
