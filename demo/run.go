package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/sashabaranov/go-openai"

	"laconic/demo/strict"
)

// Options is what Run needs. Proxy and Upstream must be given.
type Options struct {
	Out io.Writer // where the show is drawn; nil means standard output

	// Proxy is the base URL of a running proxy, ending in /v1. Its upstream must be Upstream.
	Proxy string

	// Upstream answers behind the proxy. Run makes it forget what it saw before and gives it its script;
	// nobody else may use it meanwhile.
	Upstream *strict.Upstream

	// Summarizer stands in for the model that the proxy asks for summaries; nil: there is none. Only what it
	// was asked is shown.
	Summarizer *Summarizer

	// Budget is drawn as a line when the proxy does not name one in its headers, and is what the comparison
	// with dropping the oldest messages uses. In tokens; 0 means 16,000.
	Budget int

	Width int  // columns of the terminal; fewer than 80 are taken as 80
	Color bool // ANSI colours
	Fast  bool // no pauses between requests
	Turns int  // stop after so many requests; 0 means the whole story
}

// A sensible size for the parts around Run: the story starts at 1,200 tokens and grows to 60,000.
const (
	Limit  = 20_000 // of the upstream, hard
	Budget = 16_000 // of the proxy
)

// pace is the pause after each request, so that the eye can follow.
const pace = 70 * time.Millisecond

// Run plays the whole conversation through the proxy and draws it. It returns an error when a request through
// the proxy was refused, when an answer arrived changed, when there was no answer, or when ctx ended.
// A refused request does not end the show: the story goes on, and the error names the first.
func Run(ctx context.Context, o Options) error {
	s, err := newShow(o)
	if err != nil {
		return err
	}
	defer s.client.close()
	s.intro()
	for _, b := range s.beats {
		if s.o.Turns > 0 && s.turns == s.o.Turns {
			break
		}
		if err := s.play(ctx, b); err != nil {
			return err
		}
	}
	s.totals()
	return s.verdict()
}

// show is one run.
type show struct {
	o       Options
	beats   []beat
	client  *client
	history []openai.ChatCompletionMessage // of the client, whole
	before  []strict.Message               // what the upstream got last, asides left out
	started time.Time
	look    look

	turns, epochs, repairs, overBudget int
	tooLong, badPairs, bareRefused     int   // without the proxy
	refused                            int   // with it
	firstRefusal                       error // with it
	explainedLong, explainedPairs      bool
	lastError                          string // the beginning of the last refusal that was shown
	lastStages                         string // as they stood in the last line

	proxied             bill
	everything, dropped *shadow
}

func newShow(o Options) (*show, error) {
	if o.Out == nil {
		o.Out = os.Stdout
	}
	if o.Budget == 0 {
		o.Budget = Budget
	}
	if o.Upstream == nil || o.Proxy == "" {
		return nil, errors.New("demo: Options needs Proxy and Upstream")
	}
	beats, err := tellStory(storyText, openWorkspace(parceldArchive))
	if err != nil {
		return nil, fmt.Errorf("BUG: the shipped story is broken: %w", err)
	}
	o.Upstream.Forget()
	return &show{
		o: o, beats: beats, client: newClient(o.Proxy), started: time.Now(),
		history:    []openai.ChatCompletionMessage{{Role: "system", Content: systemPrompt}},
		look:       newLook(o, beats),
		everything: newShadow(0), dropped: newShadow(o.Budget),
	}, nil
}

// play lets one beat of the story happen.
func (s *show) play(ctx context.Context, b beat) error {
	if b.user != "" {
		s.history = append(s.history, openai.ChatCompletionMessage{Role: "user", Content: b.user})
		s.says(b.user)
		return nil
	}
	messages := s.history
	if b.aside != "" {
		// As agents do for titles and commit messages: the end of the history, cut where it happens to be cut.
		messages = append([]openai.ChatCompletionMessage{s.history[0]}, s.history[len(s.history)-b.last:]...)
		messages = append(messages, openai.ChatCompletionMessage{Role: "user", Content: b.aside})
		s.note("A request beside the conversation takes only the last %d messages along.", b.last)
	}
	if err := s.request(ctx, b, messages); err != nil {
		return err
	}
	if b.aside == "" {
		s.history = append(s.history, b.messages()...)
	}
	return nil
}

// request sends the messages, measures what happened and draws it.
func (s *show) request(ctx context.Context, b beat, messages []openai.ChatCompletionMessage) error {
	reply := b.reply()
	s.o.Upstream.SetReply(func(*strict.Request) strict.Reply { return reply })
	total := s.o.Upstream.Total()
	x, err := s.client.ask(ctx, messages)
	if err != nil {
		return err
	}
	if x.refused == nil && !x.same(reply) {
		return fmt.Errorf("request %d: the answer arrived changed:\n got %q %v\nwant %q %v", s.turns+1, x.text, x.calls, reply.Text, reply.Calls)
	}
	t := s.measure(x, s.seenSince(total))
	t.what, t.aside = b.what(), b.aside != ""
	s.count(&t)
	s.draw(t)
	for _, c := range b.calls {
		if c.interrupted {
			s.note("The person interrupts the command: this call never gets a result.")
		}
	}
	if !s.o.Fast {
		select {
		case <-time.After(pace):
		case <-ctx.Done():
		}
	}
	return ctx.Err()
}

// count adds one request to the sums and finds out whether it began an epoch.
func (s *show) count(t *turn) {
	s.turns++
	t.number = s.turns
	if t.own != nil {
		s.everything.add(*t.own)
		s.dropped.add(*t.own)
	}
	if t.refused != nil {
		s.refused++
		if s.firstRefusal == nil {
			s.firstRefusal = t.refused
		}
	} else if t.arrived != nil && t.usage != nil {
		s.proxied.add(t.usage.PromptTokens, t.usage.PromptTokensDetails.CachedTokens)
		if !t.aside {
			t.epoch = !extends(s.before, t.arrived.Messages)
			s.before = t.arrived.Messages
		}
	}
	for _, c := range []struct {
		sum *int
		yes bool
	}{
		{&s.epochs, t.epoch},
		{&s.repairs, t.repaired()},
		{&s.overBudget, t.sent > t.budget},
		{&s.bareRefused, t.bare != nil},
		{&s.tooLong, t.tooLong},
		{&s.badPairs, t.pairs},
	} {
		if c.yes {
			*c.sum++
		}
	}
}

// verdict is the error of Run.
func (s *show) verdict() error {
	if s.refused == 0 {
		return nil
	}
	return fmt.Errorf("%d of %d requests through the proxy were refused; the first: %w", s.refused, s.turns, s.firstRefusal)
}
