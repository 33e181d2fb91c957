package proxy

import (
	"net/http"

	"laconic/proxy/access"
	"laconic/proxy/apierror"
	"laconic/proxy/body"
)

// unread forwards a chat request that could not be read, or refuses it where
// the configuration is strict. in is nil when its body was not read at all.
func (t *trip) unread(in *body.Body, why, detail string) {
	if t.route == nil {
		t.route = t.p.o.routeFor(access.ModelInPath(t.r.URL))
	}
	if why := t.bypassed(in); why != "" {
		t.pass(in, Bypassed, why, "")
		return
	}
	if t.p.o.Strict && why != reasonFault {
		t.refuse(unreadable(why, detail))
		return
	}
	t.pass(in, Passed, why, detail)
}

// pass forwards a request unread: its body as it came, or as it comes when in
// is nil.
func (t *trip) pass(in *body.Body, outcome Outcome, reason, detail string) {
	if no := t.checkPath(); no != nil {
		t.refuse(no)
		return
	}
	if reason == reasonFault && t.p.o.RejectFaults {
		t.refuse(&apierror.Error{
			Status: http.StatusInternalServerError, Code: apierror.CodeFault, NoRetry: true, Detail: "it was not sent to the upstream",
			Message: "The proxy failed on this request, and did not send it.",
		})
		return
	}
	i := PassInfo{
		ID: t.info.ID, Chat: t.info.Chat, Method: t.info.Method, Endpoint: t.info.Endpoint,
		Route: t.route.Match, Outcome: outcome, Reason: reason, Detail: detail, Tags: t.orders.tags,
	}
	t.info.Pass, t.info.Outcome = &i, outcome
	t.p.o.Listener.Passed(i)
	if in == nil {
		t.send(nil)
		return
	}
	t.send(body.NewOutgoing(in.Sent, nil, in.Memory))
}
