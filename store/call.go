package store

import (
	"context"
	"errors"
	"net"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// Call says a word to all processes that share the store, this one included. Everybody
// who reaches the store can read it. A word that is said while nobody hears is lost.
// There is no error where no other process can hear.
func (v *Vault) Call(ctx context.Context, word string) error {
	if v.shared == nil {
		return nil
	}
	return v.shared.Call(ctx, word)
}

// Tell is Call for a word that must not be lost: [Vault.Words] returns it, too. If two
// are told at the same moment, it may return one.
func (v *Vault) Tell(ctx context.Context, word string) error {
	if v.shared == nil {
		return nil
	}
	words, err := v.Words(ctx)
	if err == nil {
		words = append(words, word)
		err = v.Put(ctx, v.wordsKey(), strings.Join(words[max(0, len(words)-MostWords):], "\n"))
	}
	return errors.Join(err, v.Call(ctx, word))
}

// Words returns the last words of Tell, the newest at the end.
func (v *Vault) Words(ctx context.Context) ([]string, error) {
	text, err := v.Latest(ctx, v.wordsKey())
	if errors.Is(err, ErrMiss) {
		return nil, nil
	}
	return strings.Split(text, "\n"), err
}

// wordsKey is the key of the words of Tell.
func (v *Vault) wordsKey() Key { return v.Key(v.Group("told"), "words") }

// MostWords is how many words of Tell are kept.
const MostWords = 100

// Hear calls heard for each word, and again where words may have been lost: at the
// beginning, and after the store was out of reach. It returns when ctx is done, or at
// once where no other process can call. Whoever reaches the store may have called.
func (v *Vault) Hear(ctx context.Context, heard func(word string), again func()) {
	if v.shared != nil {
		v.shared.Hear(ctx, heard, again)
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

// Call is that of [Vault].
func (s *Redis) Call(ctx context.Context, word string) error {
	var err error
	for range 10 { // each server of a Cluster passes words on: each time another one is asked
		if err = s.ask(ctx, calling, func(ctx context.Context) error { return s.client.Publish(ctx, s.channel(), word).Err() }); !errors.Is(err, ErrAbsent) {
			break
		}
	}
	return err
}

// Hear is that of [Vault].
func (s *Redis) Hear(ctx context.Context, heard func(word string), again func()) {
	for ctx.Err() == nil {
		begun, err := s.hear(ctx, heard, again)
		pause := hearingPause
		if why, answered := whyNot(err); ctx.Err() == nil && !errors.Is(err, redis.ErrClosed) && (answered || !begun) { // else the connection may only have been old
			s.noteHearing(err)
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
func (s *Redis) hear(ctx context.Context, heard func(word string), again func()) (begun bool, err error) {
	p := s.client.Subscribe(ctx, s.channel())
	stop := context.AfterFunc(ctx, func() { _ = p.Close() })
	defer stop()
	defer p.Close()
	for tried := false; ; {
		said, err := p.ReceiveTimeout(ctx, s.wordless)
		if late, ok := errors.AsType[net.Error](err); ok && late.Timeout() && !tried && ctx.Err() == nil {
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
			s.noteHearing(nil)
			again()
		case *redis.Message:
			if len(said.Payload) <= longestWord {
				heard(said.Payload)
			}
		}
	}
}
