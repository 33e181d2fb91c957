package store

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/redis/go-redis/v9"
)

// Caller is a Store whose processes can call to each other. What is called while
// nobody hears is lost.
type Caller interface {
	// Call says a word to all processes, this one included.
	Call(ctx context.Context, word string) error
	// Hear calls heard for each word, and again where words may have been lost: at
	// the beginning, and after the store was out of reach. It returns when ctx is done.
	Hear(ctx context.Context, heard func(word string), again func())
}

// Call says a word to all processes that share the store. It shows whatever it says
// to everybody who reaches the store. There is no error where no other process can hear.
func (v *Vault) Call(ctx context.Context, word string) error {
	if c, ok := v.under.(Caller); ok {
		return c.Call(ctx, word)
	}
	return nil
}

// Hear is that of [Caller]. It returns at once where no other process can call.
// Whoever reaches the store may have called.
func (v *Vault) Hear(ctx context.Context, heard func(word string), again func()) {
	if c, ok := v.under.(Caller); ok {
		c.Hear(ctx, heard, again)
	}
}

const (
	// longestWord bounds what is heard, in bytes.
	longestWord = 256
	// hearingPause is how long a server is left alone that cannot be heard. One that
	// refuses is left alone for breakerDelay.
	hearingPause = 250 * time.Millisecond
	// wordless is after how long without a word the connection is tried.
	wordless = 5 * time.Second
)

// channel is where words are said.
func (s *Redis) channel() string { return s.prefix + "calls" }

// Call implements [Caller].
func (s *Redis) Call(ctx context.Context, word string) error {
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	c, n := s.anyone(ctx)
	return s.askNode(ctx, calling, n, func(ctx context.Context) error { return c.Publish(ctx, s.channel(), word).Err() })
}

// Hear implements [Caller].
func (s *Redis) Hear(ctx context.Context, heard func(word string), again func()) {
	for ctx.Err() == nil {
		c, n := s.anyone(ctx)
		begun, err := s.hear(ctx, c, n, heard, again)
		pause := hearingPause
		if why, answered := whyNot(err); ctx.Err() == nil && !errors.Is(err, redis.ErrClosed) && (answered || !begun) { // else the connection may only have been old
			s.noteHearing(n, why, answered)
			if answered && !passing[why] {
				pause = breakerDelay
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// passing are the refusals of a server that will soon be ready.
var passing = map[string]bool{"LOADING": true, "MASTERDOWN": true, "CLUSTERDOWN": true, "BUSY": true}

// hear hears words by one connection, until it breaks, and reports whether it heard at all.
func (s *Redis) hear(ctx context.Context, c redis.UniversalClient, n *node, heard func(word string), again func()) (begun bool, err error) {
	p := c.Subscribe(ctx, s.channel())
	stop := context.AfterFunc(ctx, func() { _ = p.Close() })
	defer stop()
	defer p.Close()
	for tried := false; ; {
		said, err := p.ReceiveTimeout(ctx, s.wordless)
		var late net.Error
		if errors.As(err, &late) && late.Timeout() && !tried && ctx.Err() == nil {
			if tried = true; p.Ping(ctx) == nil {
				continue
			}
		}
		if err != nil {
			return begun, err
		}
		tried = false
		switch said := said.(type) {
		case *redis.Subscription:
			begun = true
			s.noteHearing(n, "", true)
			again()
		case *redis.Message:
			if len(said.Payload) <= longestWord {
				heard(said.Payload)
			}
		}
	}
}
