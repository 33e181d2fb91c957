package proxy

import (
	"crypto/rand"
	"net/http"
	"slices"
	"strings"
	"time"

	"laconic/compact"
	"laconic/proxy/access"
	"laconic/proxy/admission"
	"laconic/proxy/answer"
	"laconic/proxy/apierror"
	"laconic/proxy/body"
	"laconic/proxy/learn"
	"laconic/proxy/wire"
)

// trip is one request on its way to the upstream and back.
type trip struct {
	p     *Proxy
	r     *http.Request
	w     *body.Writer
	start time.Time
	wire  wire.Wire // nil: the body is not read

	orders orders
	route  *Route
	// unmatched is how many of the client's pins name no message.
	unmatched int
	budget    compact.Budget
	learnt    *learn.Model      // what was learnt, now
	facts     learn.Facts       // as they were read
	window    compact.Published // what the upstream tells; nothing where it is configured
	ways      []Way             // in which the upstream may count
	thinking
	// weight counts for a plan that is within a limit of bytes too; nil: there
	// is none.
	weight *weighed
	model  compact.Counter // counts as the upstream does, whatever the policy counts by
	// functions is what the tools cost, in tokens.
	functions int
	counted   func() Counted
	heldFor   time.Duration // how long it waited for summaries

	wholeBody bool // the client's body was read to its end
	edited    bool // the body that is sent is not the client's any more

	seat *admission.Reservation // memory held for the body
	out  *body.Outgoing         // the body, when it is held
	up   *body.Upload           // the body, when it is streamed
	line *line                  // to the upstream, once there is one

	sending sending // what was sent of a chat request that was read

	answer *answer.Body // of the upstream, once there is one

	info ReplyInfo
}

func (p *Proxy) begin(w http.ResponseWriter, r *http.Request) *trip {
	t := &trip{
		p: p, r: r, w: body.NewWriter(w, r), start: time.Now(),
		info: ReplyInfo{ID: randomID(), Endpoint: access.Endpoint(r.Method, r.URL.Path)},
	}
	if r.Method == http.MethodPost {
		t.wire = wire.For(t.info.Endpoint)
	}
	t.info.Chat = t.wire != nil
	if slices.Contains(access.Methods, r.Method) {
		t.info.Method = r.Method // any other word could be anything
	}
	return t
}

// refuse answers in place of the upstream.
func (t *trip) refuse(no *apierror.Error) {
	t.info.Own, t.info.Code, t.info.Detail = true, no.Code, no.Detail
	if t.info.Outcome == "" {
		t.info.Outcome = Rejected
	}
	t.stamp(t.w.Header())
	unread := t.bodyUnread()
	// In HTTP/2 it would end all requests of the connection; what is not read of
	// a body there is in nobody's way.
	no.Close = (no.Close || unread) && t.r.ProtoMajor == 1
	no.Write(t.w)
	if unread {
		t.seat.Free()
		t.linger()
	}
}

// randomID names a request, or this process, in 16 letters and digits.
func randomID() string { return strings.ToLower(rand.Text()[:16]) }
