package proxy

import (
	"errors"
	"slices"
	"strings"
	"time"

	"laconic/compact"
	"laconic/proxy/apierror"
	"laconic/proxy/body"
	"laconic/proxy/learn"
	"laconic/proxy/wire"
)

// rewrite is a chat request on its way: read, decode, compact, encode, send.
// Each step has one way out, and where anything is in doubt it is the client's
// own bytes: the proxy never makes a request worse than it came.
func (t *trip) rewrite() {
	var no *apierror.Error
	t.orders, no = t.p.orders(t.r.Header)
	for _, name := range t.orders.unknown {
		if t.p.ignored.first(name) {
			t.p.o.Listener.Ignored(IgnoredInfo{ID: t.info.ID, Header: name})
		}
	}
	if no != nil {
		t.refuse(no)
		return
	}
	if !body.Readable(body.Encoding(t.r.Header)) {
		if no := t.choose("", errEncoding); no != nil {
			t.refuse(no)
			return
		}
		t.unread(nil, "encoding", "")
		return
	}
	in, no := t.read()
	if no != nil {
		t.refuse(no)
		return
	}
	began := time.Now()
	req, why, detail := t.decode(in)
	if no := t.chooseFor(in, req); no != nil {
		t.refuse(no)
		return
	}
	if req == nil {
		t.unread(in, why, detail)
		return
	}
	if no := t.checkPath(); no != nil {
		t.refuse(no)
		return
	}
	if why := t.bypassed(in); why != "" {
		t.pass(in, Bypassed, why, "")
		return
	}
	t.unmatched = unmatched(t.orders.pins, req.Conversation)
	info := t.describe(in, req)
	t.loadFacts(req.Model)
	plan, ok := t.compact(req, info)
	if !ok {
		t.pass(in, Passed, reasonFault, "")
		return
	}
	if info.Report.MessagesAfter == 0 {
		t.pass(in, Passed, "empty", "")
		return
	}
	if t.cannotFit(info) {
		if plan, ok = t.repairOnly(req, info); !ok {
			t.pass(in, Passed, reasonFault, "")
			return
		}
	}
	out, sent := in.Sent, sizes{}
	switch {
	case t.mode() == ModeShadow:
		info.Outcome, sent = Shadow, t.sizesOf(req, req.Conversation.Messages, info.Report.Before)
	case info.Outcome == Over && t.policy().Reject:
		info.Outcome = Rejected
	default:
		if out, sent, ok = t.encode(in, req, plan, info); !ok {
			t.pass(in, Passed, reasonFault, "")
			return
		}
		if info.Outcome == Over && t.policy().Reject {
			info.Outcome = Rejected // by the model's count of the text that stands for what left
		}
	}
	t.prepare(req, &plan, info)
	info.Edits, info.Counted = plan.Edits, t.counted()
	info.Overhead = time.Since(began)
	t.decided(info)
	if info.Outcome == Rejected {
		t.refuse(tooLong(&info.Report, t.budget.Messages, t.functions))
		return
	}
	t.sendMeasured(in, out, req, &plan, info, sent)
}

// decode reads the conversation out of a body. No request: why not, in a word,
// and more of it for the operator.
func (t *trip) decode(in *body.Body) (req *wire.Request, why, detail string) {
	if in.Text == nil {
		return nil, "encoding", in.Problem
	}
	err := t.safely("decode", func() (err error) {
		req, err = t.wire.Decode(in.Text)
		return err
	})
	var pass *wire.PassError
	switch {
	case errors.As(err, &pass):
		return nil, string(pass.Reason), pass.Detail
	case err != nil || req == nil:
		return nil, reasonFault, ""
	}
	return req, "", ""
}

// describe starts the account of a request. Nothing in it may point into the
// body, which is to be dropped long before the account is.
func (t *trip) describe(in *body.Body, req *wire.Request) *RewriteInfo {
	return &RewriteInfo{
		ID: t.info.ID, Model: strings.Clone(apierror.Clip(t.named(req.Model), 128)), Route: t.route.Match, Policy: t.policy().Name,
		Tags: t.orders.tags, PinsUnmatched: t.unmatched, Stream: req.Stream, BytesBefore: len(in.Text), BytesAfter: len(in.Text),
	}
}

// compact repairs and folds the conversation.
func (t *trip) compact(req *wire.Request, info *RewriteInfo) (plan compact.Plan, ok bool) {
	err := t.safely("compact", func() error {
		in := req.Conversation
		t.boundBy(&in)
		way, _ := t.wayOf(&t.facts)
		counter := t.facts.Counter(t.ways[way].Counter)
		if t.model = counter; t.ownCounter() {
			t.facts.Count = learn.Fact[learn.Count]{}
		}
		in.Fixed = counter.Fixed(req.Tools, req.Functions, req.ResponseFormat)
		t.functions = in.Fixed - counter.Fixed(nil, nil, nil)
		t.budget = t.facts.Budget(t.limits(), req.MaxTokens)
		plan, info.Report = compact.Compact(in, shaped(t.policy(), t.facts.Shape.Value), counter, t.budget)
		if t.weight = nil; t.heavy(info.BytesBefore) {
			plan = t.lighten(req, in, counter, &info.Report)
		}
		info.Facts, info.Told = t.facts, t.window
		info.Outcome = Outcome(info.Report.Outcome)
		return nil
	})
	return plan, err == nil
}

// cannotFit tells whether the upstream said a limit that the tools and framing
// alone are above. To shorten the conversation then helps nobody: if the limit
// is true the request is refused all the same, with numbers that the client
// cannot make anything of, and if it is not, its history was lost for nothing.
func (t *trip) cannotFit(info *RewriteInfo) bool {
	return info.Outcome == Over && !t.policy().Reject && (t.facts.Window.Value > 0 || t.facts.Input.Value > 0 || t.facts.Hard.Value > 0) &&
		info.Report.Fixed >= t.facts.Accepts(t.limits(), 0)
}

// repairOnly makes the plan that changes no more than it must.
func (t *trip) repairOnly(req *wire.Request, info *RewriteInfo) (compact.Plan, bool) {
	facts := t.facts
	t.facts.Shape.Value = learn.ShapeOriginal
	plan, ok := t.compact(req, info)
	t.facts, info.Facts = facts, facts
	return plan, ok
}

// policy is the policy of this request, with the client's pins.
func (t *trip) policy() *compact.Policy {
	p := t.route.Policy
	if t.orders.policy != nil {
		p = t.orders.policy
	}
	if len(t.orders.pins) > 0 {
		with := *p
		with.Pins.Messages = slices.Concat(p.Pins.Messages, t.orders.pins)
		p = &with
	}
	return p
}

// encode makes the body that is sent, and counts it. One that needed no edit is
// what the client sent, compressed if it was.
func (t *trip) encode(in *body.Body, req *wire.Request, plan compact.Plan, info *RewriteInfo) (out []byte, sent sizes, ok bool) {
	err := t.safely("encode", func() (err error) {
		in := req.Conversation
		in.Fixed = info.Report.Fixed
		text := t.slotText(in, &plan, info)
		edited := plan.Apply(in, text)
		switch {
		case t.ownCounter():
			info.Report.Sent(in.Fixed+compact.CostAll(t.model, edited), t.budget)
			info.Outcome = Outcome(info.Report.Outcome)
		case t.weight != nil:
			info.Report.After = in.Fixed + compact.CostAll(t.weight.Counter, edited)
		}
		t.signed = bound(edited)
		counted := info.Report.After
		if plan.Slot != nil || t.weight != nil || t.ownCounter() {
			counted = 0 // a slot is charged more than its text costs, and the policy may count otherwise
		}
		sent = t.sizesOf(req, edited, counted)
		out, err = req.Encode(edited)
		if err == nil && len(out) == 0 {
			err = errors.New("encoded to nothing")
		}
		return err
	})
	if err != nil {
		return nil, sizes{}, false
	}
	info.BytesAfter = len(out)
	if len(out) == len(in.Text) && &out[0] == &in.Text[0] {
		return in.Sent, sent, true
	}
	t.edited = true
	return out, sent, true
}

// decided tells the listener and keeps of the account what may be kept.
func (t *trip) decided(info *RewriteInfo) {
	t.p.o.Listener.Rewritten(*info)
	info.Edits = nil
	t.info.Rewrite, t.info.Outcome = info, info.Outcome
}
