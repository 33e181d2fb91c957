package store

import (
	"context"
	"crypto/rand"
	"strings"
	"time"
)

// Fault is what is wrong with a shared store.
type Fault struct {
	Says       string   // as Options.Notice is told
	Fix        string   // what mends it
	Operations []string // that fail by it, as State.Refuses names them

	why string
}

// tryTime is how long what is put to try a store is kept, and how long Try waits to hear.
const tryTime = time.Second

// Try asks a shared store for each thing that it is used for, but erasing, and returns
// what is wrong with it. Its value ends after a second. The error is for options that can
// never work.
func Try(ctx context.Context, o Options) (faults []Fault, err error) {
	s, err := NewRedis(o)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	var k Key
	_, _ = rand.Read(k[:]) // never fails
	for range 5 {          // a first connection may take its time
		_, _ = s.Get(ctx, k)
		if faults = s.wrong(); len(faults) == 0 || !strings.HasSuffix(faults[0].Says, late) {
			break
		}
		s.mu.Lock()
		for _, n := range s.nodes {
			n.breaker.Close()
		}
		s.mu.Unlock()
	}
	if len(faults) > 0 && faults[0].Operations == nil {
		return faults, nil
	}
	_ = s.Put(ctx, k, []byte("tried"), tryTime)
	release, _, _ := s.Lock(ctx, k, tryTime)
	release()
	_ = s.Call(ctx, "tried")
	within, stop := context.WithTimeout(ctx, tryTime)
	defer stop()
	s.Hear(within, func(string) {}, stop)
	return s.wrong(), nil
}

// wrong returns all that is wrong with a store.
func (s *Redis) wrong() []Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.faults()
}
