package strict

import (
	"cmp"
	"io"
	"net/http"
	"strings"
	"sync"
)

// Options configure an Upstream. The zero value works. The functions are called
// from several goroutines at once.
type Options struct {
	// Limit is the hard limit of the model in tokens of prompt, plus the output
	// that the request asks for. 0 means 128,000; a negative value, no limit.
	Limit int

	// PromptAlone leaves the output out of the limit, as llama.cpp does.
	PromptAlone bool

	// Count returns the tokens of one message; nil means Tokens. CountTools
	// returns those of the JSON of tools and functions; nil means ToolTokens.
	Count      func(Message) int
	CountTools func(json []byte) int

	// Reply returns the answer to an accepted request. nil means a short sentence.
	// SetReply replaces it.
	Reply func(*Request) Reply

	// Thinks returns the thinking of an answer, or nil. nil means no thinking.
	Thinks func(*Request) *Thought

	// Rule refuses requests that keep all other rules; nil refuses nothing.
	Rule func(*Request) *Refusal

	// Key is the bearer token that requests must carry; "" means none.
	Key string
}

// Upstream is the server. It is safe for concurrent use.
type Upstream struct {
	o Options

	mu      sync.Mutex // guards o.Reply and what follows
	answers int        // how many were sent; their ids are made of it
	cache   PromptCache
}

// New returns an Upstream, an http.Handler that answers under /v1 and under /.
func New(o Options) *Upstream {
	o.Limit = cmp.Or(o.Limit, 128_000)
	if o.Count == nil {
		o.Count = Tokens
	}
	if o.CountTools == nil {
		o.CountTools = ToolTokens
	}
	if o.Reply == nil {
		o.Reply = func(*Request) Reply { return Reply{Text: "This is a short answer of the upstream."} }
	}
	if o.Rule == nil {
		o.Rule = func(*Request) *Refusal { return nil }
	}
	return &Upstream{o: o, cache: PromptCache{}}
}

// Read returns a request of an API, by its path below /v1, with its size even if the
// pairs are broken, and how this upstream would refuse it. The request is nil if the body
// is not JSON or a field breaks a rule.
func (u *Upstream) Read(path string, body []byte) (*Request, *Refusal) {
	return apis[path].read(u, body)
}

// judged counts a request of OpenAI's, whose first fault is given, and returns how it is
// refused.
func (u *Upstream) judged(req *Request, fault *Refusal, pairs func([]Message) *Refusal) (*Request, *Refusal) {
	if fault != nil {
		return nil, fault
	}
	u.count(req)
	if r := pairs(req.Messages); r != nil {
		return req, r
	}
	return req, cmp.Or(u.overflow(req), u.o.Rule(req))
}

// count sets what a request costs.
func (u *Upstream) count(req *Request) {
	for i := range req.Messages {
		m := &req.Messages[i]
		m.Tokens = u.o.Count(*m)
		req.MessageTokens += m.Tokens
	}
	if req.Tools != nil {
		req.ToolTokens = u.o.CountTools(req.Tools)
	}
}

// Limit returns the limit in tokens; negative if there is no limit.
func (u *Upstream) Limit() int { return u.o.Limit }

// SetReply replaces Options.Reply from the next request on.
func (u *Upstream) SetReply(f func(*Request) Reply) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.o.Reply = f
}

// ServeHTTP reads the whole body, and answers or refuses.
func (u *Upstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client left while it was sending
	}
	path := strings.TrimPrefix(r.URL.Path, "/v1")
	a, refusal := apis[path], u.admit(r, path)
	var req *Request
	if a != nil && refusal == nil {
		req, refusal = a.read(u, body)
	}
	switch {
	case refusal != nil:
		send(w, refusal.Status, refusal.Body(path == "/messages"))
	case a == nil:
		send(w, http.StatusOK, []byte(otherRoutes[path][1]))
	default:
		req.Header = r.Header.Clone()
		u.answer(w, a, req)
	}
}

// apis are the APIs, by their paths.
var apis = map[string]*api{
	"/chat/completions": {(*Upstream).readChat, "call", completion, chunks},
	"/messages":         {(*Upstream).readMessages, "toolu", message, messageEvents},
	"/responses":        {(*Upstream).readItems, "call", response, responseEvents},
}

// otherRoutes are the methods and the answers of the routes beside the APIs, for tests
// of pass-through.
var otherRoutes = map[string][2]string{
	"/models":     {http.MethodGet, `{"object": "list", "data": [{"id": "gpt-4o", "object": "model"}, {"id": "gpt-4o-mini", "object": "model"}]}`},
	"/embeddings": {http.MethodPost, `{"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.0625,-0.125]}]}`},
}

// admit refuses unknown paths, wrong methods and wrong keys, in this order, as
// OpenAI does.
func (u *Upstream) admit(r *http.Request, path string) *Refusal {
	method := otherRoutes[path][0]
	if apis[path] != nil {
		method = http.MethodPost
	}
	refusal := func(status int, code, format string, args ...any) *Refusal {
		no := refuse(KindAccess, "", code, format, args...)
		no.Status = status
		return no
	}
	key := r.Header.Get("Authorization")
	if own := r.Header.Get("X-Api-Key"); own != "" {
		key = "Bearer " + own
	}
	switch {
	case method == "":
		return refusal(http.StatusNotFound, "", "Invalid URL (%s %s)", r.Method, r.URL.Path)
	case method != r.Method:
		return refusal(http.StatusMethodNotAllowed, "method_not_supported", "Only %s requests are accepted.", method)
	case u.o.Key != "" && key != "Bearer "+u.o.Key:
		return refusal(http.StatusUnauthorized, "invalid_api_key", "Incorrect API key provided: ********. "+
			"You can find your API key at https://platform.openai.com/account/api-keys.")
	}
	return nil
}
