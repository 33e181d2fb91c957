package strict

import (
	"io"
	"net/http"
	"strings"
	"sync"
)

// Upstream is the server. Use New; all methods may be called from several goroutines at once.
type Upstream struct {
	o Options

	mu     sync.Mutex // guards what follows
	reply  func(*Request) Reply
	ring   ring
	cached *PromptCache
	count  int // answers so far; makes their ids
}

// New makes an Upstream. It is an http.Handler and answers under /v1 and under / alike.
func New(o Options) *Upstream {
	o = o.withDefaults()
	return &Upstream{
		o: o, reply: o.Reply, cached: NewPromptCache(),
		ring: ring{keep: o.Keep, keepBytes: o.KeepBytes},
	}
}

// Check says how a request with this body would be refused by an Upstream with default options; nil means
// that it would be answered.
func Check(body []byte) *Refusal { return New(Options{}).Check(body) }

// Check says how this upstream would refuse a chat completion with this body; nil means that it would be
// answered. Nothing is recorded.
func (u *Upstream) Check(body []byte) *Refusal {
	_, r := u.Read(body)
	return r
}

// Read is Check that also returns what was read. The request is nil when the body is not JSON or one of its
// fields is missing or has the wrong type; so the size of a conversation whose pairs are broken is known.
// Rules are asked in this order: JSON and fields, length of ids, pairs, order of roles, limit, thinking.
func (u *Upstream) Read(body []byte) (*Request, *Refusal) {
	req, r := decode(body)
	if r != nil {
		return nil, r
	}
	u.o.measure(req)
	if u.o.MaxID > 0 {
		if r := longIDs(req.Messages, u.o.MaxID); r != nil {
			return req, r
		}
	}
	if r := pairs(req.Messages); r != nil {
		return req, r
	}
	if u.o.Shape == Alternating {
		if r := alternating(req); r != nil {
			return req, r
		}
	}
	if r := u.o.window(req); r != nil || u.o.Thinks == nil {
		return req, r
	}
	if _, i := bind(body, ""); i >= 0 {
		return req, misbound(i)
	}
	return req, nil
}

// Limit is the limit in tokens; negative when there is none.
func (u *Upstream) Limit() int { return u.o.Limit }

// SetReply replaces Options.Reply from the next request on.
func (u *Upstream) SetReply(f func(*Request) Reply) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.reply = f
}

// ServeHTTP reads the whole body, records the request, and answers or refuses it.
func (u *Upstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, tooLong, err := drain(r.Body, u.o.MaxBody)
	seen := u.record(r, body)
	if err != nil { // the client left while it was sending
		u.update(func() { seen.Left = true })
		return
	}
	req, refusal := u.admit(r, body, tooLong)
	if refusal != nil {
		u.update(func() { seen.Refusal, seen.Status = refusal, refusal.Status })
		refusal.write(w)
		return
	}
	u.update(func() { seen.Status = http.StatusOK })
	if req == nil {
		u.serveOther(w, r, body)
		return
	}
	req.Header = r.Header.Clone()
	ended := false
	defer func() { // also when the script cuts the connection, which is a panic
		if !ended {
			u.update(func() { seen.Left = true })
		}
	}()
	ended = u.answer(w, r, req, seen)
}

// drain reads a body to its end. What is longer than most is read and thrown away.
func drain(body io.Reader, most int64) (b []byte, tooLong bool, err error) {
	b, err = io.ReadAll(io.LimitReader(body, most+1))
	if err == nil && int64(len(b)) > most {
		_, err = io.Copy(io.Discard, body)
		return nil, true, err
	}
	return b, false, err
}

// admit decides everything that can be decided before an answer starts. The request is nil on other routes.
func (u *Upstream) admit(r *http.Request, body []byte, tooLong bool) (*Request, *Refusal) {
	if refusal := u.admitRoute(r); refusal != nil {
		return nil, refusal
	}
	if tooLong {
		refusal := refuse(KindShape, "", "", "Request entity too large")
		refusal.Status = http.StatusRequestEntityTooLarge
		return nil, refusal
	}
	if route(r) != "/chat/completions" {
		return nil, nil
	}
	req, refusal := u.Read(body)
	if refusal != nil {
		return nil, refusal
	}
	return req, nil
}

// route is the path below the base URL.
func route(r *http.Request) string { return strings.TrimPrefix(r.URL.Path, "/v1") }
