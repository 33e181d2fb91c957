package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/sashabaranov/go-openai"

	"laconic/demo/strict"
)

// Options configure Run. Out, Proxy, Upstream and Budget are required.
type Options struct {
	Out io.Writer // where the show is drawn

	// Proxy is the base URL of a running proxy, ending in /v1. Its upstream must
	// be Upstream.
	Proxy string

	// Upstream answers behind the proxy. Run sets its replies and must be its
	// only user.
	Upstream *strict.Upstream

	// Budget, in tokens, is drawn as a line, and is the limit in the comparison with
	// dropping the oldest messages.
	Budget int

	Color bool // ANSI colours
	Fast  bool // no pauses between requests
}

// Sensible sizes for a conversation that grows from 1,200 tokens to 60,000.
const (
	Limit  = 20_000 // of the upstream, hard
	Budget = 16_000 // of the proxy
)

// Run plays the whole conversation through the proxy and draws it. It returns an
// error if a request through the proxy was refused, if an answer arrived
// changed, if there was no answer, or if ctx ended. After a refusal the
// conversation goes on, and the error names the first.
func Run(ctx context.Context, o Options) error {
	conf := openai.DefaultConfig("sk-demo")
	conf.BaseURL, conf.HTTPClient = o.Proxy, &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	s := &show{
		Options: o, client: openai.NewClientWithConfig(conf), quoted: map[strict.Kind]bool{},
		whole: bill{cache: strict.PromptCache{}}, dropped: bill{cache: strict.PromptCache{}},
	}
	_ = json.Unmarshal(recorded, &s.story) // it is part of the program
	s.intro()
	for i := range s.story.Messages {
		switch m := &s.story.Messages[i]; m.Role {
		case "user":
			s.print(bold, "    › "+fit(strings.Join(strings.Fields(m.Content), " "), width-7))
		case "assistant":
			if err := s.request(ctx, s.story.Messages[:i], m); err != nil {
				return err
			}
			if interrupted(s.story.Messages, i) {
				s.note(faint, "The person interrupts the command: this call never gets a result.")
			}
		}
	}
	s.totals()
	if n := len(s.refused); n > 0 {
		return fmt.Errorf("%d of %d requests through the proxy were refused; the first: %w", n, s.requests, s.refused[0])
	}
	return nil
}

// show is one run.
type show struct {
	Options
	client  *openai.Client
	story   openai.ChatCompletionRequest
	arrived atomic.Pointer[strict.Request] // what the upstream accepted last
	before  []strict.Message               // the previous request

	requests, epochs, repairs    int
	tooLong, broken, bareRefused int     // without the proxy
	refused                      []error // with it
	quoted                       map[strict.Kind]bool

	whole, dropped, proxied bill
}

// turn is one request of the client and its answer, measured.
type turn struct {
	body    []byte      // as the client sent it
	header  http.Header // of the answer; nil for a refusal
	reply   strict.Reply
	cached  int   // tokens of the prompt, as the answer says
	refused error // what the client got instead of an answer

	bare          *strict.Refusal // of the client's own bytes; nil: the upstream would answer
	tooLong       bool            // for the upstream, as the client sent it
	client, sent  int             // tokens as the client sent it, and as the proxy did
	epoch, repair bool
}

// request sends the messages, and measures and draws what comes of it.
func (s *show) request(ctx context.Context, messages []openai.ChatCompletionMessage, answer *openai.ChatCompletionMessage) error {
	want := reply(answer)
	s.arrived.Store(nil)
	s.Upstream.SetReply(func(r *strict.Request) strict.Reply {
		s.arrived.Store(r)
		return want
	})
	s.requests++
	t, err := ask(ctx, s.client, openai.ChatCompletionRequest{Model: s.story.Model, Tools: s.story.Tools, Messages: messages})
	if err != nil {
		return err
	}
	if t.refused == nil && !reflect.DeepEqual(t.reply, want) {
		return fmt.Errorf("request %d: the answer arrived changed:\n got %+v\nwant %+v", s.requests, t.reply, want)
	}
	s.measure(&t)
	s.draw(&t, tools(answer))
	if !s.Fast {
		select {
		case <-time.After(70 * time.Millisecond): // so that the eye can follow
		case <-ctx.Done():
		}
	}
	return ctx.Err()
}

// measure combines the client's bytes, the proxy's headers, and what the upstream
// accepted. The proxy's numbers are preferred: like the budget, they are in its
// own count of tokens.
func (s *show) measure(t *turn) {
	own, bare := s.Upstream.Read("/chat/completions", t.body)
	t.bare, t.client, t.sent = bare, own.PromptTokens(), own.PromptTokens()
	if t.tooLong = t.client > s.Upstream.Limit(); t.tooLong {
		s.tooLong++
	}
	if bare != nil {
		s.bareRefused++
		if bare.Kind == strict.KindPairs {
			s.broken++
			t.repair = t.refused == nil
		}
	}
	s.whole.add(own)
	s.dropped.add(dropOldest(*own, s.Budget))
	switch arrived := s.arrived.Load(); {
	case t.refused != nil:
		s.refused = append(s.refused, t.refused)
	case arrived != nil:
		t.sent = arrived.PromptTokens()
		s.proxied.count(t.sent, t.cached)
		n := len(s.before)
		t.epoch = len(arrived.Messages) < n || !slices.EqualFunc(s.before, arrived.Messages[:n], strict.Message.Same)
		s.before = arrived.Messages
	}
	if t.epoch {
		s.epochs++
	}
	if t.repair {
		s.repairs++
	}
	headerNumber(t.header, "x-laconic-tokens-before", &t.client)
	headerNumber(t.header, "x-laconic-tokens-after", &t.sent)
}

// headerNumber sets *to to the number in a header, if the header holds one.
func headerNumber(h http.Header, name string, to *int) {
	if n, err := strconv.Atoi(h.Get(name)); err == nil {
		*to = n
	}
}

// bill is the cost of prompts.
type bill struct {
	largest        int
	prompt, cached int // tokens
	cache          strict.PromptCache
}

// add adds a request that the client's own cache would see.
func (b *bill) add(req *strict.Request) { b.count(req.PromptTokens(), b.cache.Serve(req)) }

func (b *bill) count(prompt, cached int) {
	b.largest = max(b.largest, prompt)
	b.prompt += prompt
	b.cached += cached
}

// dropOldest does what most clients do by hand: it keeps the system message, and
// drops the oldest others until the rest fits and starts with no tool result.
func dropOldest(req strict.Request, budget int) *strict.Request {
	kept, from := req.PromptTokens(), 1
	for from < len(req.Messages)-1 && (kept > budget || req.Messages[from].Role == "tool") {
		kept -= req.Messages[from].Tokens
		from++
	}
	req.Messages = slices.Concat(req.Messages[:1], req.Messages[from:])
	req.MessageTokens = kept - req.ToolTokens
	return &req
}
