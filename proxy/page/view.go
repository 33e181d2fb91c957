package page

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"
	"time"

	"laconic/proxy"
	"laconic/view"
)

// news are what changed since a watcher looked last, or all of it.
type news struct {
	First         bool               `json:"first,omitempty"`
	Began         time.Time          `json:"began"`
	Requests      []requestLine      `json:"requests"`
	Conversations []conversationLine `json:"conversations"`
	Totals        totals             `json:"totals"`
	SignedIn      bool               `json:"signed_in,omitempty"`
	Capture       bool               `json:"capture,omitempty"`
	Board         Board              `json:"board"`
}

// A requestLine is a request in the list.
type requestLine struct {
	ID           string    `json:"id"`
	Began        time.Time `json:"began"`
	Conversation int       `json:"conversation,omitempty"`
	Tenant       string    `json:"tenant,omitempty"`
	Model        string    `json:"model,omitempty"`
	Route        string    `json:"route,omitempty"`
	Endpoint     string    `json:"endpoint,omitempty"`
	Method       string    `json:"method,omitempty"`
	Tags         string    `json:"tags,omitempty"`
	Outcome      string    `json:"outcome,omitempty"`
	Reason       string    `json:"reason,omitempty"`
	Wrong        []string  `json:"wrong,omitempty"`
	Why          string    `json:"why,omitempty"` // it went so, and what to do
	Wire         string    `json:"wire,omitempty"`
	Before       int       `json:"before,omitempty"`
	Sent         int       `json:"sent,omitempty"`
	Budget       int       `json:"budget,omitempty"`
	Messages     int       `json:"messages,omitempty"`
	MessagesSent int       `json:"messages_sent,omitempty"`
	Epochs       int       `json:"epochs,omitempty"`
	Stages       []string  `json:"stages,omitempty"`
	Repairs      int       `json:"repairs,omitempty"`
	Over         bool      `json:"over"`             // it ended
	Unsent       bool      `json:"unsent,omitempty"` // no upstream got it
	Status       int       `json:"status,omitempty"`
	Code         string    `json:"code,omitempty"`
	Told         bool      `json:"told,omitempty"` // the answer stated usage
	Prompt       int       `json:"prompt,omitempty"`
	Cached       int       `json:"cached,omitempty"`
	Output       int       `json:"output,omitempty"`
	OverheadUS   int64     `json:"overhead_us,omitempty"`
	FirstByteMS  int64     `json:"first_byte_ms,omitempty"`
	DurationMS   int64     `json:"duration_ms,omitempty"`
}

// why returns why a request went as it did, and what to do; "" where there is nothing to
// explain.
func (r *request) why() string {
	if says := r.reply.Why.String(); says != "" {
		return says
	}
	if says := cmp.Or(r.reply.Detail, r.reply.Code); says != "" || r.reply.Status < 400 || r.reply.Status == proxy.StatusClientLeft {
		return says
	}
	return fmt.Sprintf("the upstream answered %d", r.reply.Status)
}

func (r *request) line() requestLine {
	l := requestLine{ID: r.id, Began: r.began}
	if r.began.IsZero() {
		l.Began = time.Now()
	}
	if r.conv != nil {
		l.Conversation = r.conv.id
	}
	if r.tenant != nil {
		l.Tenant = r.tenant.name
	}
	if i := &r.rewrite; i.ID != "" {
		l.Model, l.Route, l.Tags, l.Outcome = i.Model, i.Route, i.Tags, string(i.Outcome)
		p := &i.Report
		l.Before, l.Sent, l.Budget = p.Before, p.After, p.Budget
		if i.Outcome == proxy.Shadow {
			l.Sent = p.Before
		}
		l.Messages, l.MessagesSent, l.Epochs, l.Repairs = p.MessagesBefore, p.MessagesAfter, p.Epochs, p.Repairs
		for _, s := range p.Stages {
			l.Stages = append(l.Stages, s.Name)
		}
		l.OverheadUS = i.Overhead.Microseconds()
	}
	if i := r.pass; i != nil {
		l.Wire, l.Endpoint, l.Method, l.Route, l.Tags, l.Outcome, l.Reason = i.Wire, i.Endpoint, i.Method, i.Route, i.Tags, string(i.Outcome), i.Reason
	}
	if i := &r.reply; i.ID != "" {
		l.Wire, l.Endpoint, l.Method, l.Outcome = i.Wire, i.Endpoint, i.Method, string(i.Outcome)
		l.Wrong, l.Why = r.wrong(), r.why()
		l.Over, l.Status, l.Code, l.Unsent = true, i.Status, i.Code, i.Unsent
		if i.Unsent {
			l.Sent, l.MessagesSent = 0, 0
		}
		if u := i.Usage; u != nil {
			l.Told, l.Prompt, l.Cached, l.Output = true, u.Prompt, u.Cached, u.Completion
		}
		l.FirstByteMS, l.DurationMS = i.FirstByte.Milliseconds(), i.Duration.Milliseconds()
	}
	return l
}

// A conversationLine is a conversation in the list, with its course.
type conversationLine struct {
	ID     int          `json:"id"`
	Tenant string       `json:"tenant"`
	Named  bool         `json:"named,omitempty"` // the tenant is a client key of the configuration
	Model  string       `json:"model"`
	Began  time.Time    `json:"began"`
	Last   time.Time    `json:"last"`
	More   int          `json:"more,omitempty"`
	Points []view.Point `json:"points"`
	Totals totals       `json:"totals"`
}

func (c *conversation) line() conversationLine {
	l := conversationLine{ID: c.id, Model: c.model, Began: c.began, Last: c.last, More: c.more, Totals: c.totals}
	hidden := max(0, len(c.points)-mostPoints)
	l.More += hidden
	l.Points = append([]view.Point{}, c.points[hidden:]...)
	if c.tenant != nil {
		l.Tenant, l.Named = c.tenant.name, c.tenant.named
	}
	return l
}

// viewSince returns what changed since a version, nil for nothing, and the version
// that it is of.
func (p *Page) viewSince(seen uint64, first bool) (v *news, now uint64, closed bool) {
	down, fault := p.down(), p.storeFault() // asked first: who tells that they changed waits for mu
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || !first && p.version == seen {
		return nil, p.version, p.closed
	}
	v = &news{First: first, Began: p.began, Totals: p.totals, Board: p.board(time.Now()), Requests: []requestLine{}, Conversations: []conversationLine{}}
	v.Board.Down, v.Board.Store = down, fault
	if first {
		v.Capture = p.capture != nil
		v.SignedIn = p.o.Asks != nil && p.o.Asks()
	}
	touched := map[*conversation]bool{}
	for _, r := range p.ring.all {
		if !first && r.version <= seen {
			continue
		}
		v.Requests = append(v.Requests, r.line())
		touched[r.conv] = true
	}
	for _, c := range p.convs.order {
		if first || touched[c] {
			v.Conversations = append(v.Conversations, c.line())
		}
	}
	return v, p.version, false
}

// serveState is all that the page shows when it opens.
func (p *Page) serveState(w http.ResponseWriter, _ *http.Request) {
	v, _, _ := p.viewSince(0, true)
	serveJSON(w, v)
}

// A requestView is one request, opened.
type requestView struct {
	requestLine
	*view.Request
	Shadow      bool              `json:"shadow,omitempty"`
	Again       bool              `json:"again,omitempty"`
	Policy      string            `json:"policy,omitempty"`
	Stream      bool              `json:"stream,omitempty"`
	BytesBefore int               `json:"bytes_before,omitempty"`
	BytesAfter  int               `json:"bytes_after,omitempty"`
	StageCounts []view.StageCount `json:"stage_counts,omitempty"`
	// OtherCount is what came less what was sent and what the stages saved: not 0 where
	// a policy counts otherwise than the upstream.
	OtherCount  int              `json:"other_count,omitempty"`
	NotEnough   bool             `json:"not_enough,omitempty"`
	Dropped     int              `json:"results_dropped,omitempty"`
	Summary     *summaryLine     `json:"summary,omitempty"`
	Retry       *proxy.RetryInfo `json:"retry,omitempty"`
	Ended       string           `json:"ended,omitempty"`
	CutUpstream bool             `json:"cut_by_upstream,omitempty"`
	Rewritten   int              `json:"rewritten,omitempty"`
	Facts       []string         `json:"facts,omitempty"`
	Priced      bool             `json:"priced,omitempty"`
	Paid        float64          `json:"paid,omitempty"`
	Detail      string           `json:"detail,omitempty"`
}

type summaryLine struct {
	Outcome string `json:"outcome"`
	Spans   int    `json:"spans"`
	Digests int    `json:"digests"`
	Reason  string `json:"reason,omitempty"`
	Model   string `json:"model,omitempty"`
	WaitMS  int64  `json:"wait_ms,omitempty"`
}

func (r *request) view() requestView {
	v := requestView{requestLine: r.line(), Request: r.details, Shadow: r.shadow, Again: r.again}
	if i := &r.rewrite; i.ID != "" {
		v.Policy, v.Stream, v.BytesBefore, v.BytesAfter = i.Policy, i.Stream, i.BytesBefore, i.BytesAfter
		v.NotEnough, v.Dropped = i.Report.NotEnough, i.Report.ResultsDropped
		v.StageCounts, v.OtherCount = view.Stages(&i.Report)
		if s := i.Summary; s != nil {
			v.Summary = &summaryLine{s.Outcome, s.Spans, s.Digests, s.Reason, s.Model, s.Duration.Milliseconds()}
		}
		v.Facts = i.Facts.Words()
	}
	if i := r.pass; i != nil {
		v.Detail = i.Detail
	}
	if i := &r.reply; i.ID != "" {
		v.Retry, v.Ended, v.CutUpstream = i.Retry, i.Ended, i.Cut
		if i.Detail != "" {
			v.Detail = i.Detail
		}
	}
	v.Rewritten, v.Priced, v.Paid = r.cost.rewritten, r.cost.priced, r.cost.paid
	return v
}

// serveRequest is one request, opened.
func (p *Page) serveRequest(w http.ResponseWriter, r *http.Request) {
	id := strings.TrimPrefix(r.URL.Path, "/page/api/request/")
	p.mu.Lock()
	one := p.ring.byID[id]
	var v requestView
	if one != nil {
		v = one.view()
	}
	p.mu.Unlock()
	if one == nil {
		notFound(w)
		return
	}
	serveJSON(w, v)
}
