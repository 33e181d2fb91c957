package strict

import (
	"cmp"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
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

	// MaxID is the longest id of a tool call, in characters. 0 means 40, OpenAI's
	// limit (agno-agi/agno#5382); a negative value, no limit.
	MaxID int

	// Reply returns the answer to an accepted request. nil means a short sentence.
	// SetReply replaces it.
	Reply func(*Request) Reply

	// Thinks returns the thinking of an answer, or "". nil means no thinking. See
	// the package's promise "bound".
	Thinks func(*Request) string

	// Latency is the pause between the events of a stream, and before an answer
	// that is not streamed.
	Latency time.Duration

	// Key is the bearer token that requests must carry; "" means none.
	Key string
}

// Upstream is the server. It is safe for concurrent use.
type Upstream struct {
	o Options

	mu      sync.Mutex // guards o.Reply and what follows
	answers int        // how many were sent; their ids are made of it
	cache   *PromptCache
}

// New returns an Upstream, an http.Handler that answers under /v1 and under /.
func New(o Options) *Upstream {
	o.Limit, o.MaxID = cmp.Or(o.Limit, 128_000), cmp.Or(o.MaxID, 40)
	if o.Count == nil {
		o.Count = Tokens
	}
	if o.CountTools == nil {
		o.CountTools = ToolTokens
	}
	if o.Reply == nil {
		o.Reply = func(*Request) Reply { return Reply{Text: "This is a short answer of the upstream."} }
	}
	return &Upstream{o: o, cache: NewPromptCache()}
}

// Check returns how an Upstream with default options would refuse a request
// with this body; nil if it would answer.
func Check(body []byte) *Refusal { return New(Options{}).Check(body) }

// Check returns how this upstream would refuse a chat completion with this
// body; nil if it would answer.
func (u *Upstream) Check(body []byte) *Refusal {
	_, r := u.Read(body)
	return r
}

// Read is Check that also returns the request, with its size even if the pairs
// are broken. The request is nil if the body is not JSON or a field breaks a rule.
func (u *Upstream) Read(body []byte) (*Request, *Refusal) {
	req, r := decode(body)
	if r != nil {
		return nil, r
	}
	u.count(req)
	if r = longIDs(req.Messages, u.o.MaxID); r != nil {
		return req, r
	}
	if r = pairs(req.Messages); r != nil {
		return req, r
	}
	if r = u.overflow(req); r != nil || u.o.Thinks == nil {
		return req, r
	}
	_, r = bind(body, "")
	return req, r
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
	refusal := u.admit(r, path)
	if other, ok := otherRoutes[path]; ok && refusal == nil {
		send(w, http.StatusOK, indented(other.answer))
		return
	}
	var req *Request
	if refusal == nil {
		req, refusal = apis[path].read(u, body)
	}
	if refusal != nil {
		send(w, refusal.Status, refusal.Body())
		return
	}
	req.Header = r.Header.Clone()
	u.answer(w, r, apis[path], req)
}

// apis are the APIs, by their paths.
var apis = map[string]*api{"/chat/completions": chatAPI, "/messages": messagesAPI, "/responses": itemsAPI}

// otherRoutes are the routes beside the APIs, for tests of pass-through.
var otherRoutes = map[string]struct {
	method string
	answer fields
}{
	"/models": {http.MethodGet, fields{"object": "list", "data": []fields{
		{"id": "gpt-4o", "object": "model", "created": 1715367049, "owned_by": "system"},
		{"id": "gpt-4o-mini", "object": "model", "created": 1715367049, "owned_by": "system"},
	}}},
	"/embeddings": {http.MethodPost, fields{
		"object": "list", "data": []fields{{"object": "embedding", "index": 0, "embedding": []float64{0.0625, -0.125, 0.25, 0.5}}},
		"model": "text-embedding-3-small", "usage": fields{"prompt_tokens": 1, "total_tokens": 1},
	}},
}

// admit refuses unknown paths, wrong methods and wrong keys, in this order, as
// OpenAI does.
func (u *Upstream) admit(r *http.Request, path string) *Refusal {
	method := otherRoutes[path].method
	if apis[path] != nil {
		method = http.MethodPost
	}
	refusal := func(status int, k Kind, code, format string, args ...any) *Refusal {
		no := refuse(k, "", code, format, args...)
		no.Status = status
		return no
	}
	key := r.Header.Get("Authorization")
	if own := r.Header.Get("X-Api-Key"); own != "" && apis[path] == messagesAPI {
		key = "Bearer " + own
	}
	switch {
	case method == "":
		return refusal(http.StatusNotFound, KindRoute, "", "Invalid URL (%s %s)", r.Method, r.URL.Path)
	case method != r.Method:
		return refusal(http.StatusMethodNotAllowed, KindRoute, "method_not_supported", "Only %s requests are accepted.", method)
	case u.o.Key == "" || key == "Bearer "+u.o.Key:
		return nil
	case key == "":
		return refusal(http.StatusUnauthorized, KindKey, "", "You didn't provide an API key. You need to provide your API key in an "+
			"Authorization header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY).")
	}
	return refusal(http.StatusUnauthorized, KindKey, "invalid_api_key", "Incorrect API key provided: ********. "+
		"You can find your API key at https://platform.openai.com/account/api-keys.")
}
