// Package page is the page of the admin listener: what the proxy does, as it does
// it, for a person with a browser.
//
// It promises:
//
//   - no content: of messages it keeps roles, sizes and what was done to them, and
//     why. Their texts are there only with a Capture, and are shown masked.
//   - bounded: requests, messages and texts are kept in rings with a size. The
//     oldest leave.
//   - beside the way: a request is noted in one pass over its messages. Views
//     are made when somebody asks.
//   - at home: the page loads nothing from elsewhere, and no script or style that is
//     not one of its files. Nothing that a request says is ever markup.
package page

import (
	"crypto/rand"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"laconic/proxy"
	"laconic/proxy/learn"
	"laconic/proxy/operate"
	"laconic/proxy/summarize"
	"laconic/proxy/why"
	"laconic/view"
)

// Options are what the page shows beside requests.
type Options struct {
	// Version is that of the program.
	Version string
	// Replica names this process, where others share its store; "": it is the only one.
	Replica string
	// Capture is how many bytes of texts are kept; 0: none.
	Capture int
	// Settings returns the configuration in force, in lines.
	Settings func() string
	// Store returns what was found of the store, Findings all that was found.
	Store, Findings func() []why.Finding
	// Proxy returns the proxy that is shown.
	Proxy func() Proxy
}

// Proxy is what the page asks of a [proxy.Proxy].
type Proxy interface {
	Options() proxy.Options
	State() proxy.State
	LearntModels() []learn.Known
	SignIn(w http.ResponseWriter, r *http.Request, token string) bool
	SignOut(w http.ResponseWriter)
}

// Page keeps what the page shows. Make it with New. It is safe for concurrent use.
type Page struct {
	o     Options
	began time.Time

	mu       sync.Mutex
	requests []*request // the newest, oldest first
	byID     map[string]*request
	size     int            // of them, in bytes
	held     map[string]int // bytes of texts, by sender
	threads  []*thread      // the one that was heard of last comes last
	begun    int            // threads so far
	secret   []byte         // of the names of conversations
	totals   totals
	version  uint64 // of the newest change
}

// New makes a page that has seen nothing.
func New(o Options) *Page {
	return &Page{o: o, began: time.Now(), byID: map[string]*request{}, held: map[string]int{}, secret: []byte(rand.Text())}
}

// Listener returns what notes requests.
func (p *Page) Listener() proxy.Listener {
	return proxy.Listener{
		Planned:    p.planned,
		Rewritten:  p.noted,
		Passed:     p.noted,
		Replied:    p.replied,
		Summarized: p.summarized,
		// Another replica was asked, which does not say whose they were.
		Erased: func(summarize.ErasedInfo) { p.Forget("") },
	}
}

// planned notes what a plan makes of each message.
func (p *Page) planned(i proxy.PlanInfo) {
	d, id, from, now := view.Of(&i.Planned), identify(p.secret, &i.Conversation), i.From, time.Now()
	var t *texts
	if p.o.Capture > 0 {
		t = textsOf(&i)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.at(i.ID)
	r.details, r.again = d, i.Again
	r.from = from // also of a request that was dropped meanwhile: its texts are counted by sender
	if !i.Again {
		r.began, r.thread = now, p.threadOf(id, from, now)
	}
	p.keep(r, t)
	p.changed(r)
}

// noted notes a request that is about to be sent, or refused for its size.
func (p *Page) noted(i proxy.ReplyInfo) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.note(i)
}

// note notes what is known of a request. The caller holds mu.
func (p *Page) note(i proxy.ReplyInfo) *request {
	r := p.at(i.ID)
	if i.Rewrite != nil {
		own := *i.Rewrite // which belongs to the request, and all that it has
		own.Edits = nil   // they point into the body
		if i.Rewrite = &own; r.thread != nil {
			r.thread.Model = own.Model
		}
	}
	i.AnsweredBy = "" // which may have any length
	r.reply = i
	p.changed(r)
	return r
}

func (p *Page) replied(i proxy.ReplyInfo) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.note(i)
	if r.began.IsZero() {
		r.began = time.Now().Add(-i.Duration)
	}
	if r.from == (proxy.Sender{}) { // it was not planned
		r.from.Key = i.Client
	}
	p.account(r)
	r.room = 2000 // it will take no more
	if r.details != nil {
		r.room += r.details.Size()
	}
	p.size += r.room
	p.drop()
}

// summarized counts what summaries cost, which is a part of what compaction does.
func (p *Page) summarized(i summarize.JobInfo) {
	if !i.Made && i.Tries == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.totals.Summaries++
	p.totals.SummaryTokens += i.SourceTokens
}

// changed notes that a request is not what it was.
func (p *Page) changed(r *request) {
	p.version++
	r.version = p.version
}

// Pages are the pages of the admin listener.
func (p *Page) Pages() []operate.Page {
	get := func(path string, h http.HandlerFunc) operate.Page {
		return operate.Page{Path: path, Handler: safe(h), Browser: true}
	}
	return []operate.Page{
		get("/", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/page/", http.StatusSeeOther) }),
		get("/page/", p.file),
		get("/page/api/state", p.serveState),
		get(BoardPath, func(w http.ResponseWriter, _ *http.Request) { serveJSON(w, p.Board()) }),
		get("/page/api/request/", p.serveRequest),
		get("/page/api/texts/", p.serveTexts),
		get("/page/api/facts", p.serveFacts),
		{Path: SignIn, Methods: []string{http.MethodGet, http.MethodPost}, Handler: safe(p.serveSignIn), Open: true},
		{Path: "/page/style.css", Handler: safe(p.file), Open: true},
		{Path: "/page/icon.svg", Handler: safe(p.file), Open: true},
	}
}

// notFound answers a request for what there is not.
func notFound(w http.ResponseWriter) {
	http.Error(w, "There is no such page.", http.StatusNotFound)
}

// serveJSON writes a value, which can be.
func serveJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

// serveFacts is what was learnt of upstreams, and the configuration in force.
func (p *Page) serveFacts(w http.ResponseWriter, _ *http.Request) {
	f := struct {
		Upstreams []operate.Upstream `json:"upstreams"`
		Models    []learn.Known      `json:"models"`
		Settings  string             `json:"settings"`
		Findings  []why.Finding      `json:"findings"`
	}{p.o.Proxy().State().Upstreams, p.o.Proxy().LearntModels(), p.o.Settings(), p.o.Findings()}
	p.mu.Lock()
	for i := range f.Models {
		m := &f.Models[i]
		for _, r := range p.requests { // the name that its requests have
			if m.Sender != [32]byte{} && r.from.Credential == m.Sender {
				m.Credential = nameOf(r.from)
			}
		}
	}
	p.mu.Unlock()
	serveJSON(w, f)
}

// request is what is kept of one request. Only texts holds content.
type request struct {
	id      string
	began   time.Time
	from    proxy.Sender
	thread  *thread         // nil: its conversation could not be read
	reply   proxy.ReplyInfo // as far as it is known
	details *view.Request   // never changed
	again   bool            // they are of the second send
	texts   *texts          // nil: they are not kept
	cost    totals
	room    int // in the ring, in bytes; 0: it is not over
	version uint64
}

// client returns the name of who sent the request; "": it is not known.
func (r *request) client() string {
	if r.details == nil && r.from.Key == "" {
		return ""
	}
	return nameOf(r.from)
}

// Bounds of what is kept of requests.
const (
	mostRequests = 1000
	mostBytes    = 24 << 20
)

// at returns the request of an id, and makes it if it is new. The caller holds mu, as
// that of drop does.
func (p *Page) at(id string) *request {
	r := p.byID[id]
	if r == nil {
		r = &request{id: id}
		p.byID[id] = r
		p.requests = append(p.requests, r)
		p.drop()
	}
	return r
}

// drop lets the oldest requests go.
func (p *Page) drop() {
	for len(p.requests) > 1 && (len(p.requests) > mostRequests || p.size > mostBytes) {
		r := p.requests[0]
		p.keep(r, nil)
		p.requests[0] = nil
		p.requests = p.requests[1:]
		delete(p.byID, r.id)
		p.size -= r.room
	}
}
