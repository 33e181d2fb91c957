package store

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"laconic/e2e/rig"
	"laconic/store/storetest"
)

// hearer collects what a store says.
type hearer struct {
	notices
	again int
}

// listening has a store heard until the test ends.
func listening(t *testing.T, s *Redis) *hearer {
	t.Helper()
	h := &hearer{}
	var ended sync.WaitGroup
	ended.Go(func() { s.Hear(t.Context(), h.add, h.lost) })
	t.Cleanup(ended.Wait)
	return h
}

func (h *hearer) lost() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.again++
}

func (h *hearer) has(again int, words ...string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.again == again && slices.Equal(h.lines, words)
}

// TestProcessesCallToEachOther: whoever hears is told of each word, and of the times
// at which it could hear none.
func TestProcessesCallToEachOther(t *testing.T) {
	server := storetest.StartRedis(t)
	a, b := openTestRedis(t, server.URL(), nil), openTestRedis(t, server.URL(), nil)
	ctx, h := t.Context(), listening(t, b)
	rig.Eventually(t, "it hears", func() bool { return h.has(1) })
	if err := a.Call(ctx, "one"); err != nil {
		t.Fatal(err)
	}
	if err := a.Call(ctx, strings.Repeat("x", longestWord+1)); err != nil {
		t.Fatal(err)
	}
	if err := b.Call(ctx, "two"); err != nil {
		t.Fatal(err)
	}
	rig.Eventually(t, "both words", func() bool { return h.has(1, "one", "two") })
	server.Stop()
	_, _ = b.Get(ctx, keyOf(1)) // it is left alone now
	server.Start(t)
	rig.Eventually(t, "it hears again", func() bool { return h.has(2, "one", "two") })
	if err := b.Put(ctx, keyOf(1), []byte("x"), time.Hour); err != nil {
		t.Errorf("the store is left alone although it was heard: %v", err)
	}
}

// TestASilentServerIsNotListenedToForEver: a connection that died without a word is
// made anew.
func TestASilentServerIsNotListenedToForEver(t *testing.T) {
	p := inFrontOf(t, storetest.StartRedis(t).Addr)
	s := openTestRedis(t, "redis://"+p.Listen+"/0", nil)
	s.wordless = 50 * time.Millisecond
	h := listening(t, s)
	rig.Eventually(t, "it hears", func() bool { return h.has(1) })
	poison(t, p, `{"name":"x","type":"timeout","stream":"downstream","attributes":{"timeout":0}}`)
	poison(t, p, `{"name":"y","type":"timeout","stream":"upstream","attributes":{"timeout":0}}`)
	rig.Eventually(t, "the connection is closed", func() bool { return s.client.PoolStats().PubSubStats.Active == 0 })
	p.Toxics.ResetToxics(t.Context())
	rig.Eventually(t, "it hears again", func() bool { return h.has(2) })
}
