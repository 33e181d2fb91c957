package proxy

import (
	"cmp"

	"laconic/compact"
	"laconic/proxy/apierror"
	"laconic/proxy/why"
	"laconic/proxy/wire"
)

// over returns why an attempt is above its budget; nothing where it is not.
func (a *attempt) over() why.Reason {
	r := &a.Report
	if r.Outcome != compact.Over {
		return why.Reason{}
	}
	c, by := a.c, why.Guess
	switch {
	case c.x.overrides.budget == r.Budget:
		by = why.Override
	case c.Limits.Budget == r.Budget:
		by = why.Row
	case a.Facts.Window.Value > 0, a.Facts.Input.Value > 0, a.Facts.Hard.Value > 0, c.info.Published.Window > 0, c.info.Published.Input > 0:
		by = why.Server
	case c.x.route.Configured:
		by = why.Window
	}
	window := cmp.Or(a.Facts.Window.Value, c.Limits.Window, compact.DefaultWindow)
	return why.Over(r, by, min(max(0, window-r.Budget), window/2))
}

// reason returns why the request went as it did, as far as it is known by now; nothing
// where there is nothing to explain.
func (x *request) reason() why.Reason {
	i := &x.info
	switch {
	case unansweredCodes[i.Code] && x.route != nil:
		return why.Unanswered(x.route.Upstream.Host, i.Code, i.Detail)
	case i.Passed != "":
		return why.Passed(i.Passed, wire.Code(i.Passed).Sentence())
	case i.Retry != nil && (i.Retry.Sent || i.Retry.Why != "over"):
		return why.Refused(i.Retry.Refusal)
	case i.Rewrite != nil && i.Rewrite.Why.Says != "":
		return i.Rewrite.Why
	case i.Own:
		return x.said
	case i.Cut, i.Ended != "":
		return i.CutShort()
	case i.Rewrite != nil:
		return why.Repaired(&i.Rewrite.Report)
	}
	return why.Reason{}
}

// CutShort returns why the prompt of a request or its answer was cut short; nothing where
// neither was.
func (i *ReplyInfo) CutShort() why.Reason {
	if i.Cut && i.Usage != nil {
		return why.Cut(i.Usage.Prompt, i.Rewrite.Report.After)
	}
	return why.Ended(i.Ended)
}

var unansweredCodes = map[string]bool{
	apierror.CodeUnreachable: true, apierror.CodeBroke: true, apierror.CodeTimeout: true, apierror.CodeIdle: true, apierror.CodeProtocol: true,
}

// shownReason is the reason that the client may see: an address of an upstream is the
// operator's.
func (x *request) shownReason() string {
	r := x.reason()
	if x.info.Own && unansweredCodes[x.info.Code] {
		r = x.shownUnanswered(x.info.Code, x.info.Detail)
	}
	return why.Header(r)
}

// shownUnanswered is why the upstream did not answer, as the client may see it: whoever
// may change a request's settings may know where it goes.
func (x *request) shownUnanswered(code, detail string) why.Reason {
	if x.settings.Overrides {
		return why.Unanswered(x.route.Upstream.Host, code, detail)
	}
	return why.Unanswered("", code, "")
}
