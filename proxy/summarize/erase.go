package summarize

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"slices"
	"strings"

	"laconic/store"
)

// erased is why there is no summary whose owner's were erased while it was made.
const erased = "erased"

// ErrUnheard: what is kept was erased, but the other processes that share the store were
// not told, and may go on with what they remember.
var ErrUnheard = errors.New("the other processes that share the store could not be told")

// group returns the group of an owner's summaries in the store.
func (s *Service) group(owner string) store.Group { return s.store.Group("summaries of", owner) }

// Erase removes what is stored and remembered of an owner's conversations: the
// summaries, in the store and here, and the digests. Jobs under way for it store
// nothing any more. It returns how many summaries the store had; with an error some
// may be left there, but with ErrUnheard. Requests that come later begin anew. Processes
// that share the store are told, and do the same.
func (s *Service) Erase(ctx context.Context, owner string) (n int, err error) {
	g := s.group(owner)
	n, _, err = s.eraseGroup(ctx, g)
	if unheard := s.store.Tell(ctx, erasedWord+hex.EncodeToString(g[:])+s.mark+rand.Text()); err == nil && unheard != nil {
		err = ErrUnheard
	}
	return n, err
}

// erasedWord is the word by which a process tells that it has erased a group, whose
// name follows, and then its own mark, and what makes it a word of its own.
const erasedWord = "erased "

// hear does what other processes have done that share the store from, until the service
// ends: at once, or when it hears again.
func (s *Service) hear(from *store.Vault) {
	var done []string // the newest words
	begun := false
	heard := func(word string) {
		var g store.Group
		name, ok := strings.CutPrefix(word, erasedWord)
		if !ok || len(name) < 2*len(g) || strings.HasPrefix(name[2*len(g):], s.mark) {
			return
		}
		done = append(done[max(0, len(done)-store.MostWords):], word)
		if _, err := hex.Decode(g[:], []byte(name[:2*len(g)])); err == nil {
			// It may have stored a summary since they looked.
			stored, forgotten, err := s.eraseGroup(s.ctx, g)
			s.env.Erased(ErasedInfo{Remembered: forgotten, Stored: stored, Failed: err != nil})
		}
	}
	from.Hear(s.ctx, heard, func() {
		words, err := from.Words(s.ctx)
		for _, word := range words {
			if begun && !slices.Contains(done, word) {
				heard(word)
			}
		}
		if begun = true; err == nil {
			done = words
		}
	})
}

// eraseGroup removes a group, and returns how many summaries the store had, and how
// many texts were remembered. Nothing is kept meanwhile, and no request that is under way
// adds a text after it.
func (s *Service) eraseGroup(ctx context.Context, g store.Group) (stored, forgotten int, err error) {
	s.erasing.Lock()
	defer s.erasing.Unlock()
	s.mu.Lock()
	for key, j := range s.jobs {
		if key.Group() == g {
			j.erased = true
			j.cancel(nil)
		}
	}
	s.mu.Unlock()
	stored, err = s.store.Erase(ctx, g)
	for name := range s.attempts.Keys() {
		if strings.HasPrefix(name, string(g[:])) {
			s.attempts.Invalidate(name)
		}
	}
	s.erasures.Add(1)
	owner := s.seeds.of(g)
	for about, t := range s.texts.All() {
		if t.who == owner {
			s.texts.Invalidate(about)
			forgotten++
		}
	}
	return stored, forgotten, err
}
