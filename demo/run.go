package demo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"sync/atomic"
	"time"

	"github.com/sashabaranov/go-openai"

	"laconic/demo/strict"
)

// Options configure Run. Proxy and Upstream are required.
type Options struct {
	Out io.Writer // where the show is drawn; nil means standard output

	// Proxy is the base URL of a running proxy, ending in /v1. Its upstream must
	// be Upstream.
	Proxy string

	// Upstream answers behind the proxy. Run sets its replies and must be its
	// only user.
	Upstream *strict.Upstream

	// Summarizer, if not nil, replaces the model that the proxy asks for
	// summaries. Run only shows its counts.
	Summarizer *Summarizer

	// Budget, in tokens, is drawn as a line if the proxy's headers name none,
	// and is the limit in the comparison with dropping the oldest messages.
	// 0 means 16,000.
	Budget int

	Width int  // columns of the terminal; fewer than 80 are taken as 80
	Color bool // ANSI colours
	Fast  bool // no pauses between requests
	Turns int  // stop after so many requests; 0 means the whole story
}

// Sensible sizes for a conversation that grows from 1,200 tokens to 60,000.
const (
	Limit  = 20_000 // of the upstream, hard
	Budget = 16_000 // of the proxy
)

// pace is the pause after each request, so that the eye can follow.
const pace = 70 * time.Millisecond

// Run plays the whole conversation through the proxy and draws it. It returns an
// error if a request through the proxy was refused, if an answer arrived
// changed, if there was no answer, or if ctx ended. After a refusal the
// conversation goes on, and the error names the first.
func Run(ctx context.Context, o Options) error {
	if o.Upstream == nil || o.Proxy == "" {
		return errors.New("demo: Options needs Proxy and Upstream")
	}
	if o.Out == nil {
		o.Out = os.Stdout
	}
	o.Budget = cmp.Or(o.Budget, Budget)
	s := &show{o: o, story: load(), client: newClient(o.Proxy), started: time.Now()}
	defer s.client.transport.CloseIdleConnections()
	s.everything.cache, s.dropped.cache, s.dropped.budget = strict.NewPromptCache(), strict.NewPromptCache(), o.Budget
	s.look = newLook(o, s.story)
	s.intro()
	for i := range s.story.Messages {
		if s.turns == o.Turns && o.Turns > 0 {
			break
		}
		m := &s.story.Messages[i]
		if i == s.story.Aside.After {
			s.note("A request beside the conversation takes only the last %d messages along.", s.story.Aside.Last)
			answer := openai.ChatCompletionMessage{Role: "assistant", Content: s.story.Aside.Answer}
			if err := s.request(ctx, s.story.aside(), &answer, true); err != nil {
				return err
			}
		}
		switch m.Role {
		case "user":
			s.says(m.Content)
		case "assistant":
			if err := s.request(ctx, s.story.Messages[:i], m, false); err != nil {
				return err
			}
			if s.story.interrupted(i) {
				s.note("The person interrupts the command: this call never gets a result.")
			}
		}
	}
	s.totals()
	return s.verdict()
}

// show is one run.
type show struct {
	o       Options
	story   *conversation
	client  *client
	arrived atomic.Pointer[strict.Request] // what the upstream accepted last
	before  []strict.Message               // the previous request, without the aside
	started time.Time
	look    look

	turns, epochs, repairs, overBudget int
	tooLong, badPairs, bareRefused     int   // without the proxy
	refused                            int   // with it
	firstRefusal                       error // with it
	explainedLong, explainedPairs      bool
	lastError                          string // the start of the last refusal shown

	proxied             bill
	everything, dropped shadow
}

// request sends the messages, measures the exchange and draws it.
func (s *show) request(ctx context.Context, messages []openai.ChatCompletionMessage, answer *openai.ChatCompletionMessage, aside bool) error {
	want := reply(answer)
	s.arrived.Store(nil)
	s.o.Upstream.SetReply(func(r *strict.Request) strict.Reply {
		s.arrived.Store(r)
		return want
	})
	x, err := s.client.ask(ctx, openai.ChatCompletionRequest{Model: s.story.Model, Tools: s.story.Tools, Messages: messages})
	if err != nil {
		return err
	}
	if x.refused == nil && !reflect.DeepEqual(x.reply, want) {
		return fmt.Errorf("request %d: the answer arrived changed:\n got %+v\nwant %+v", s.turns+1, x.reply, want)
	}
	t := s.measure(x)
	t.what, t.aside = tools(answer), aside
	if aside {
		t.what = "aside: commit text"
	}
	s.count(&t)
	s.draw(&t)
	if !s.o.Fast {
		select {
		case <-time.After(pace):
		case <-ctx.Done():
		}
	}
	return ctx.Err()
}

// count adds a request to the sums and sets whether it began an epoch.
func (s *show) count(t *turn) {
	s.turns++
	t.number = s.turns
	if t.own != nil {
		s.everything.add(*t.own)
		s.dropped.add(*t.own)
	}
	switch {
	case t.refused != nil:
		s.refused++
		if s.firstRefusal == nil {
			s.firstRefusal = t.refused
		}
	case t.arrived != nil:
		s.proxied.add(t.arrived.PromptTokens(), t.cached)
		if !t.aside {
			t.epoch = !extends(s.before, t.arrived.Messages)
			s.before = t.arrived.Messages
		}
	}
	for sum, yes := range map[*int]bool{
		&s.epochs: t.epoch, &s.repairs: t.repaired(), &s.overBudget: t.sent > t.budget,
		&s.bareRefused: t.bare != nil, &s.tooLong: t.tooLong, &s.badPairs: t.pairs,
	} {
		if yes {
			*sum++
		}
	}
}

// verdict returns the error of Run.
func (s *show) verdict() error {
	if s.refused == 0 {
		return nil
	}
	return fmt.Errorf("%d of %d requests through the proxy were refused; the first: %w", s.refused, s.turns, s.firstRefusal)
}
