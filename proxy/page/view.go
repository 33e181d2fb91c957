package page

import (
	"cmp"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"laconic/compact"
	"laconic/proxy"
	"laconic/proxy/summarize"
	"laconic/view"
)

// news are what changed since a browser looked last, or all of it.
type news struct {
	Version  uint64        `json:"version"` // to ask for what comes after
	Began    time.Time     `json:"began"`
	Requests []requestLine `json:"requests"`
	Threads  []threadLine  `json:"conversations"`
	Totals   totals        `json:"totals"`
	SignedIn bool          `json:"signed_in,omitempty"`
	Capture  bool          `json:"capture,omitempty"`
	Board    Board         `json:"board"`
}

// A requestLine is a request in the list.
type requestLine struct {
	ID           string    `json:"id"`
	Began        time.Time `json:"began"`
	Thread       int       `json:"conversation,omitempty"`
	Client       string    `json:"client,omitempty"`
	Model        string    `json:"model,omitempty"`
	Route        string    `json:"route,omitempty"`
	Endpoint     string    `json:"endpoint,omitempty"`
	Method       string    `json:"method,omitempty"`
	Tags         string    `json:"tags,omitempty"`
	Outcome      string    `json:"outcome,omitempty"`
	Reason       string    `json:"reason,omitempty"`
	Wrong        []string  `json:"wrong,omitempty"`
	Why          string    `json:"why,omitempty"` // it went so, and what to do
	Before       int       `json:"before,omitempty"`
	Sent         int       `json:"sent,omitempty"`
	Would        int       `json:"would,omitempty"` // have been sent, without shadow
	Budget       int       `json:"budget,omitempty"`
	Messages     int       `json:"messages,omitempty"`
	MessagesSent int       `json:"messages_sent,omitempty"`
	Stages       []string  `json:"stages,omitempty"`
	Repairs      int       `json:"repairs,omitempty"`
	Over         bool      `json:"over"`             // it ended
	Unsent       bool      `json:"unsent,omitempty"` // no upstream got it
	Status       int       `json:"status,omitempty"`
	Code         string    `json:"code,omitempty"`
	Stated       bool      `json:"told,omitempty"` // the answer stated usage
	CacheStated  bool      `json:"cache_told,omitempty"`
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
	l := requestLine{ID: r.id, Began: r.began, Client: r.client()}
	l.Route, l.Tags, l.Outcome, l.Reason = r.reply.Route, r.reply.Tags, string(r.reply.Outcome), r.reply.Passed
	if r.room > 0 || l.Reason != "" { // a chat that is under way is shown by its model alone
		l.Endpoint, l.Method = r.reply.Endpoint, r.reply.Method
	}
	if r.began.IsZero() {
		l.Began = time.Now()
	}
	if r.thread != nil {
		l.Thread = r.thread.ID
	}
	if i := r.reply.Rewrite; i != nil {
		l.Model = i.Model
		p := &i.Report
		l.Before, l.Sent, l.Budget = p.Before, p.After, p.Budget
		l.Messages, l.MessagesSent, l.Repairs = p.MessagesBefore, p.MessagesAfter, p.Repairs
		if i.Outcome == proxy.Shadow {
			l.Sent, l.MessagesSent, l.Would = p.Before, p.MessagesBefore, p.After
		}
		for _, s := range p.Stages {
			l.Stages = append(l.Stages, s.Name)
		}
		l.OverheadUS = i.Overhead.Microseconds()
	}
	if i := &r.reply; r.room > 0 {
		l.Wrong, l.Why = r.wrong(), r.why()
		l.Over, l.Status, l.Code, l.Unsent = true, i.Status, i.Code, i.Unsent
		if i.Unsent {
			l.Sent, l.MessagesSent = 0, 0
		}
		if u := i.Usage; u != nil {
			l.Stated, l.CacheStated, l.Prompt, l.Cached, l.Output = true, u.CacheStated, u.Prompt, u.Cached, u.Completion
		}
		l.FirstByteMS, l.DurationMS = i.FirstByte.Milliseconds(), i.Duration.Milliseconds()
	}
	return l
}

// A threadLine is a thread in the list, with its course.
type threadLine struct {
	ID     int          `json:"id"`
	Client string       `json:"client"`
	Named  bool         `json:"named,omitempty"` // the client has a key of the configuration
	Model  string       `json:"model"`
	Began  time.Time    `json:"began"`
	Last   time.Time    `json:"last"`
	More   int          `json:"more,omitempty"` // earlier points that left
	Points []view.Point `json:"points"`
	Totals totals       `json:"totals"`
}

// since returns what changed since a version; 0: all.
func (p *Page) since(seen uint64) news {
	board := p.Board() // takes mu itself
	p.mu.Lock()
	defer p.mu.Unlock()
	v := news{
		Version: p.version, Began: p.began, Totals: p.totals, Board: board, Requests: []requestLine{}, Threads: []threadLine{},
		Capture: p.o.Capture > 0, SignedIn: p.o.Proxy().Options().AdminToken != "",
	}
	touched := map[*thread]bool{}
	for _, r := range p.requests {
		if r.version > seen {
			v.Requests = append(v.Requests, r.line())
			touched[r.thread] = true
		}
	}
	for _, t := range p.threads {
		if seen == 0 || touched[t] {
			l := t.threadLine
			l.Points = append([]view.Point{}, t.Points...)
			v.Threads = append(v.Threads, l)
		}
	}
	return v
}

// serveState is what changed since the version that the browser saw; all of it, where it
// names none, or one of another process.
func (p *Page) serveState(w http.ResponseWriter, r *http.Request) {
	seen, _ := strconv.ParseUint(r.FormValue("since"), 10, 64)
	if r.FormValue("began") != p.began.Format(time.RFC3339Nano) {
		seen = 0
	}
	serveJSON(w, p.since(seen))
}

// A requestView is one request, opened.
type requestView struct {
	requestLine
	*view.Request
	Shadow      bool                  `json:"shadow,omitempty"`
	Again       bool                  `json:"again,omitempty"`
	Policy      string                `json:"policy,omitempty"`
	Stream      bool                  `json:"stream,omitempty"`
	StageCounts []compact.StageReport `json:"stage_counts,omitempty"`
	// OtherCount is what came less what was sent and what the stages saved: not 0 where
	// a policy counts otherwise than the upstream.
	OtherCount  int              `json:"other_count,omitempty"`
	NotEnough   bool             `json:"not_enough,omitempty"`
	Dropped     int              `json:"results_dropped,omitempty"`
	Summary     *summarize.Info  `json:"summary,omitempty"`
	Retry       *proxy.RetryInfo `json:"retry,omitempty"`
	Ended       string           `json:"ended,omitempty"`
	CutUpstream bool             `json:"cut_by_upstream,omitempty"`
	Rewritten   int              `json:"rewritten,omitempty"`
	Detail      string           `json:"detail,omitempty"`
}

func (r *request) view() requestView {
	i := cmp.Or(r.reply.Rewrite, &proxy.RewriteInfo{})
	v := requestView{
		requestLine: r.line(), Request: r.details, Shadow: i.Outcome == proxy.Shadow, Again: r.again, Policy: i.Policy, Stream: i.Stream, Summary: i.Summary,
		NotEnough: i.Report.NotEnough, Dropped: i.Report.ResultsDropped, Retry: r.reply.Retry, Ended: r.reply.Ended, CutUpstream: r.reply.Cut,
		Rewritten: r.cost.Rewritten, Detail: cmp.Or(r.reply.Detail, r.reply.PassedDetail),
	}
	v.StageCounts, v.OtherCount = view.Stages(&i.Report)
	return v
}

// serveRequest is one request, opened.
func (p *Page) serveRequest(w http.ResponseWriter, r *http.Request) {
	id := strings.TrimPrefix(r.URL.Path, "/page/api/request/")
	p.mu.Lock()
	one := p.byID[id]
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
