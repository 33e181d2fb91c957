package body

import (
	"context"
	"io"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"laconic/proxy/admission"
)

// A gate of 145 bytes has 100 of them for work, where no request is so small
// that it is one of the small ones.

// tryAcquire takes n bytes if that needs no waiting.
func tryAcquire(r *admission.Reservation, n int64) bool {
	now, cancel := context.WithCancel(context.Background())
	cancel()
	return r.Acquire(now, n) == nil
}

func mustHold(t *testing.T, g *admission.Gate, n int64) *admission.Reservation {
	t.Helper()
	r := g.Reserve("")
	if !tryAcquire(r, n) {
		t.Fatalf("no memory for %d", n)
	}
	return r
}

// outgoing is a body of n bytes that is to be kept.
func outgoing(s *admission.Reservation, n int) *Outgoing {
	data := make([]byte, n)
	b := NewOutgoing(data, &Body{Sent: data, Text: data, Memory: s}, true)
	b.Watch = NewWatch(time.Hour, time.Hour, func(error) {})
	b.Watch.Answered()
	return b
}

// keep has the gate hold a body of n bytes that was sent and is kept.
func keep(t *testing.T, g *admission.Gate, n int) *Outgoing {
	t.Helper()
	b := outgoing(mustHold(t, g, int64(n)), n)
	_, _ = io.Copy(io.Discard, b)
	return b
}

// keptOf reports which of some bodies are still kept.
func keptOf(all ...*Outgoing) (kept []bool) {
	for _, b := range all {
		kept = append(kept, b.original != nil)
	}
	return kept
}

func TestKeptBodiesAreLetGoOnlyAsFarAsThatHelps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := func(what string, got, want []bool) {
			t.Helper()
			if !slices.Equal(got, want) {
				t.Errorf("%s: kept %v, want %v", what, got, want)
			}
		}
		g := admission.NewGate(145, 10)
		busy := mustHold(t, g, 70)
		a, b, c := keep(t, g, 5), keep(t, g, 5), keep(t, g, 5)
		all := mustHold(t, g, 15)
		f("for what is free", keptOf(a, b, c), []bool{true, true, true})
		more := mustHold(t, g, 4)
		f("for 4", keptOf(a, b, c), []bool{false, true, true})
		all.Free()
		more.Free()

		// One waits for more than is free: what is kept goes, and what is sent
		// meanwhile is not kept.
		waiting := make(chan error)
		go func() { waiting <- g.Reserve("").Acquire(t.Context(), 40) }()
		synctest.Wait()
		f("for one who waits", keptOf(b, c), []bool{false, false})
		if err := busy.Grow(t.Context(), 10); err != nil {
			t.Error("one who was admitted has to wait behind one who was not")
		}
		if tryAcquire(g.Reserve(""), 1) {
			t.Error("one who comes later is admitted before one who waits")
		}
		busy.Shrink(60) // 40 are free
		if err := <-waiting; err != nil {
			t.Error(err)
		}
		busy.Shrink(30)
		f("for nobody", keptOf(keep(t, g, 5)), []bool{true})
	})
}

func TestABodyIsNotKeptWhileOthersWaitForItsMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := admission.NewGate(145, 10)
		sent := outgoing(mustHold(t, g, 80), 20) // holds 40 until it is sent
		waiting := make(chan error)
		go func() { waiting <- g.Reserve("").Acquire(t.Context(), 90) }()
		synctest.Wait()
		_, _ = io.Copy(io.Discard, sent)
		if err := <-waiting; err != nil || sent.original != nil {
			t.Errorf("waited in vain: %v, for what is kept: %v", err, sent.original != nil)
		}
		sent.Release()
		if n := g.Stats().Bytes; n != 90 {
			t.Errorf("%d are held, want 90", n)
		}
	})
}

func TestKeptBodiesAreLetGoForSmallRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := admission.NewGate(16<<10, 100) // for work 12 KiB, small requests have up to 32 bytes
		var kept []*Outgoing
		for range 5 {
			kept = append(kept, keep(t, g, 2<<10))
		}
		kept = append(kept, keep(t, g, 1000))
		for range 32 {
			mustHold(t, g, 32)
		}
		s := g.Reserve("")
		began := time.Now()
		if err := s.Acquire(t.Context(), 32); err != nil || time.Since(began) != 0 {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
		if got := keptOf(kept...); got[0] || !got[1] {
			t.Errorf("kept %v", got)
		}
	})
}

// A body that is read again keeps its memory until that is done; then others may
// have it.
func TestABodyThatIsReadAgainKeepsItsMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := admission.NewGate(1600, 100) // 1200 for work, 1100 for large requests
		b, beside := keep(t, g, 100), keep(t, g, 100)
		if b.ReadAgain(t.Context()) == nil {
			t.Fatal("no memory to read it again")
		}
		mustHold(t, g, 500)
		waiting := make(chan error, 1)
		go func() { waiting <- g.Reserve("").Acquire(t.Context(), 300) }()
		synctest.Wait()
		if got := keptOf(b, beside); !got[0] || got[1] || len(waiting) > 0 {
			t.Errorf("kept %v, want the one that is being read", got)
		}
		b.WasRead()
		if err := <-waiting; err != nil || b.original == nil {
			t.Errorf("waited in vain: %v; kept though nothing needs its memory: %v", err, b.original != nil)
		}
		go func() { waiting <- g.Reserve("").Acquire(t.Context(), 250) }()
		if err := <-waiting; err != nil || b.original != nil {
			t.Errorf("waited in vain: %v, for what is kept: %v", err, b.original != nil)
		}
	})
}

// The upstream may take the last bytes of a body while it is read again already.
func TestABodyThatIsSentWhileItIsReadAgainKeepsItsMemory(t *testing.T) {
	g := admission.NewGate(1600, 100)
	b := outgoing(mustHold(t, g, 400), 100)
	if b.ReadAgain(t.Context()) == nil {
		t.Fatal("no memory to read it again")
	}
	held := g.Stats().Bytes
	_, _ = io.Copy(io.Discard, b)
	if n := g.Stats().Bytes; n != held {
		t.Errorf("%d of %d bytes are held", n, held)
	}
	b.WasRead()
	if n := g.Stats().Bytes; n != 100 {
		t.Errorf("%d bytes are held once it was read, want 100", n)
	}
	b.Release()
	if n := g.Stats().Bytes; n != 0 {
		t.Errorf("%d bytes are held in the end", n)
	}
}
