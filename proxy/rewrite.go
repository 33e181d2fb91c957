package proxy

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"laconic/compact"
	"laconic/proxy/access"
	"laconic/proxy/apierror"
	"laconic/proxy/body"
	"laconic/proxy/plan"
	"laconic/proxy/wire"
	"laconic/view"
)

// rewrite makes the body of a request whose endpoint has a wire: read, decode,
// plan, fill the slot, encode. The error is an *passed where the request goes on
// with the client's own bytes, or an *apierror.Error where it does not go on: the
// proxy never makes a request worse than it came.
func (x *request) rewrite() (*body.Outgoing, error) {
	if no := x.readOverrides(); no != nil {
		return nil, no
	}
	in, req, err := x.decode()
	if err != nil {
		return nil, err
	}
	x.info.Steps.Decoded = time.Since(x.start)
	c := x.planning(req)
	var p *plan.Plan
	if err := x.try("compact", func() { p = c.PlanOrRepair(req) }); err != nil {
		return nil, &passed{in: in, outcome: Passed, reason: ReasonFault}
	}
	if p.Report.MessagesAfter == 0 {
		return nil, &passed{in: in, outcome: Passed, reason: "empty"}
	}
	first, out, err := c.attempt(p, req)
	if err != nil {
		return nil, &passed{in: in, outcome: Passed, reason: ReasonFault}
	}
	if first.info.Outcome != Rejected && !c.Left() { // past the warm mark, the summary of the coming epoch is begun
		_ = x.try("summary", func() { x.p.summaries.Prepare(c.slot, req.Conversation, &p.Plan) })
	} else if first.info.Outcome == Rejected && x.clientLeft() { // it was planned no further than to the next epoch, and might fit
		return nil, &apierror.Error{Status: StatusClientLeft, Code: apierror.CodeClientLeft, Message: "The client left."}
	}
	x.info.Steps.Folded = time.Since(x.start)
	first.info.Overhead = x.info.Steps.Folded - x.info.Steps.Read
	x.tellPlan(p, &first, req.Conversation, in.Text, out, false)
	first.info.Why = first.over()
	x.info.Rewrite, x.info.Outcome = &first.info, first.info.Outcome
	x.info.Route, x.info.Tags = x.route.Match, x.overrides.tags
	info, edited := x.info, first.info
	edited.Edits, info.Rewrite = p.Edits, &edited // for the listener alone: they point into the body
	x.p.listener.Rewritten(info)
	if first.info.Outcome == Rejected {
		return nil, x.tooLong(p)
	}
	x.attempt = &first
	if &out[0] == &in.Text[0] {
		out = in.Sent // compressed, if it was
	}
	if first.info.Outcome == Shadow { // the client wants to see what the upstream makes of its own bytes
		return body.NewOutgoing(out, in, false), nil
	}
	x.via = &retrier{first: &first}
	return body.NewOutgoing(out, in, true), nil
}

// decode reads the body whole, unless it is compressed in a way that is not known, and
// the conversation out of it, and chooses the route by the model. A body that was read is
// returned with the error, too.
func (x *request) decode() (*body.Body, *wire.Request, error) {
	if !body.Readable(body.Encoding(x.r.Header)) {
		if no := x.choose("", errEncoding); no != nil {
			return nil, nil, no
		}
		return nil, nil, x.unread(nil, "encoding", "")
	}
	in, no := x.read()
	if no != nil {
		return nil, nil, no
	}
	x.info.Steps.Read = time.Since(x.start)
	req, why, detail := x.decodeText(in)
	if no := x.chooseFor(in, req); no != nil {
		return in, nil, no
	}
	if x.wire == wire.Responses { // the text of each record that was sealed here stands in the place of its item
		if opened := wire.Unseal(in.Text, sealPrefix, x.open); opened != nil {
			dropAboutBytes(x.r.Header)
			in.Sent, in.Text = opened, opened
			req, why, detail = x.decodeText(in)
		}
	}
	if req == nil || x.bypassed(in) != "" {
		return in, nil, x.unread(in, why, detail)
	}
	if no := access.CheckPath(x.r, x.route.Key); no != nil {
		return in, nil, no
	}
	return in, req, nil
}

// decodeText returns no request where a body cannot be read: why not, in a word,
// and more of it for the operator.
func (x *request) decodeText(in *body.Body) (req *wire.Request, why, detail string) {
	if in.Problem != "" {
		return nil, "encoding", in.Problem
	}
	err := x.safely("decode", func() (err error) {
		req, err = x.wire.Decode(in.Text)
		return err
	})
	if pass, ok := errors.AsType[*wire.PassError](err); ok {
		return nil, string(pass.Reason), pass.Detail
	}
	if err != nil {
		return nil, ReasonFault, ""
	}
	return req, "", ""
}

// passed is why a request goes on with the client's own bytes.
type passed struct {
	in             *body.Body // nil: the body was not read
	outcome        Outcome
	reason, detail string
}

func (p *passed) Error() string { return p.reason }

// unread returns what becomes of a request that could not be read, or is not to be: it
// is passed, or refused where the configuration is strict. in is nil where its body was
// not read at all.
func (x *request) unread(in *body.Body, why, detail string) error {
	if why := x.bypassed(in); why != "" {
		return &passed{in: in, outcome: Bypassed, reason: why}
	}
	if x.settings.Strict && why != ReasonFault {
		return unreadable(why, detail)
	}
	return &passed{in: in, outcome: Passed, reason: why, detail: detail}
}

// pass returns the body of a request that goes on with the client's own bytes; nil:
// as they come.
func (x *request) pass(why *passed) (*body.Outgoing, *apierror.Error) {
	if no := access.CheckPath(x.r, x.route.Key); no != nil {
		return nil, no
	}
	if why.reason == ReasonFault && x.settings.RejectFaults {
		return nil, &apierror.Error{
			Status: http.StatusInternalServerError, Code: apierror.CodeFault, NoRetry: true, Detail: "it was not sent to the upstream",
			Message: "The proxy failed on this request, and did not send it.",
		}
	}
	x.info.Passed, x.info.PassedDetail, x.info.Outcome = why.reason, why.detail, why.outcome
	x.info.Route, x.info.Tags = x.route.Match, x.overrides.tags
	x.p.listener.Passed(x.info)
	if why.in == nil {
		return nil, nil
	}
	return body.NewOutgoing(why.in.Sent, why.in, false), nil
}

// count passes the question of how many tokens a request of some API has.
// Where the upstream has no such path it is answered here, for what would be sent.
func (x *request) count() error {
	x.wire = x.counts
	in, req, err := x.decode()
	tokens := 0 // they are not known
	if err == nil {
		c := x.planning(req)
		_ = x.try("compact", func() { tokens = c.PlanOrRepair(req).Report.After })
	}
	x.wire = nil // the answer is no message
	if no, refused := err.(*apierror.Error); refused {
		return no
	}
	x.via = &tokenCounting{x.p.transport, tokens}
	return &passed{in: in, outcome: Passed, reason: "route"}
}

// tellPlan tells the listener of a plan, if it wants to know. body is what is sent.
func (x *request) tellPlan(p *plan.Plan, a *attempt, in compact.Conversation, client, body []byte, again bool) {
	if x.p.listener.Planned == nil {
		return
	}
	i := PlanInfo{
		ID: x.info.ID, From: Sender{Key: x.info.Client, Credential: a.c.sender}, Again: again, Body: client, SentBody: body,
		Planned: view.Planned{Conversation: in, Sent: p.Messages, Plan: &p.Plan, Counter: p.Counter, Texts: p.Texts},
	}
	if a.info.Outcome == Shadow {
		i.Sent = p.Apply()
	}
	if p.Counted() { // else they are not those of the counter
		i.Before, i.After = p.Costs()
	}
	x.p.listener.Planned(i)
}

// tokenCounting answers in the place of an upstream that does not count.
type tokenCounting struct {
	via    http.RoundTripper
	tokens int
}

func (c *tokenCounting) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := c.via.RoundTrip(r)
	if err != nil || c.tokens == 0 {
		return res, err
	}
	has := func(word string) bool { return bytes.Contains(apierror.Start(res), []byte(word)) }
	lmStudio := res.StatusCode == http.StatusOK && has(`"error"`) && !has("input_tokens")
	if !lmStudio && !apierror.NoPath(res) {
		return res, nil
	}
	_ = res.Body.Close()
	return ownAnswer(res, "application/json", fmt.Appendf(nil, "{\"input_tokens\":%d}\n", c.tokens)), nil
}

// ownAnswer returns an answer of the proxy's own in place of an upstream's.
func ownAnswer(to *http.Response, kind string, text []byte) *http.Response {
	return &http.Response{
		Status: "200 OK", StatusCode: http.StatusOK, Proto: to.Proto, ProtoMajor: to.ProtoMajor, ProtoMinor: to.ProtoMinor, Request: to.Request,
		Header: http.Header{"Content-Type": {kind}}, Body: io.NopCloser(bytes.NewReader(text)), ContentLength: int64(len(text)),
	}
}
