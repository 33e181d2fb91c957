package proxy

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// A gate of 145 bytes has 100 of them for work, where no request is so small
// that it is one of the small ones.

// keep has the gate hold a body of n bytes that was sent and is kept.
func keep(t *testing.T, g *gate, n int) *outgoing {
	t.Helper()
	s := g.seat("")
	if !s.tryHold(int64(n)) {
		t.Fatalf("no room for %d", n)
	}
	data := make([]byte, n)
	b := newOutgoing(data, data, s)
	b.w = newWatch(&Limits{ResponseHeader: time.Hour}, func(error) {})
	b.w.answered()
	for err := error(nil); err == nil; {
		_, err = b.Read(make([]byte, 1000))
	}
	return b
}

// keptOf reports which of some bodies are still kept.
func keptOf(all ...*outgoing) (kept []bool) {
	for _, b := range all {
		kept = append(kept, b.kept() != nil)
	}
	return kept
}

func TestKeptBodiesAreLetGoOnlyAsFarAsThatHelps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := func(what string, got, want []bool) {
			t.Helper()
			for i := range want {
				if got[i] != want[i] {
					t.Errorf("%s: kept %v, want %v", what, got, want)
					return
				}
			}
		}
		g := newGate(145, 10)
		busy := g.seat("")
		if !busy.tryHold(70) {
			t.Fatal("no room")
		}
		a, b, c := keep(t, g, 5), keep(t, g, 5), keep(t, g, 5)
		hold := func(n int64) *seat {
			t.Helper()
			s := g.seat("")
			if err := s.hold(t.Context(), n); err != nil {
				t.Fatal(err)
			}
			return s
		}
		all := hold(15)
		f("for what is free", keptOf(a, b, c), []bool{true, true, true})
		more := hold(4)
		f("for 4", keptOf(a, b, c), []bool{false, true, true})
		all.free()
		more.free()

		// One waits for more than is free: what is kept goes, and what is sent
		// meanwhile is not kept.
		waiting := make(chan error)
		go func() { waiting <- g.seat("").hold(t.Context(), 40) }()
		synctest.Wait()
		f("for one who waits", keptOf(b, c), []bool{false, false})
		if ok, err := busy.grow(10); !ok || err != nil {
			t.Error("one who was admitted has to wait behind one who was not")
		}
		if g.seat("").tryHold(1) {
			t.Error("one who comes later is admitted before one who waits")
		}
		busy.shrink(60) // 40 are free
		if err := <-waiting; err != nil {
			t.Error(err)
		}
		busy.shrink(30)
		f("for nobody", keptOf(keep(t, g, 5)), []bool{true})
	})
}

func TestABodyIsNotKeptWhileOthersWaitForItsMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(145, 10)
		s := g.seat("")
		if !s.tryHold(80) {
			t.Fatal("no room")
		}
		data := make([]byte, 20)
		sent := newOutgoing(data, data, s) // holds 40 until it is sent
		sent.w = newWatch(&Limits{ResponseHeader: time.Hour}, func(error) {})
		sent.w.answered()
		waiting := make(chan error)
		go func() { waiting <- g.seat("").hold(t.Context(), 90) }()
		synctest.Wait()
		for err := error(nil); err == nil; {
			_, err = sent.Read(make([]byte, 7))
		}
		if err := <-waiting; err != nil || sent.kept() != nil {
			t.Errorf("waited in vain: %v, for what is kept: %v", err, sent.kept() != nil)
		}
		sent.release()
		if n := g.taken(); n != 90 {
			t.Errorf("%d are held, want 90", n)
		}
	})
}

func TestThoseWhoWaitForMemoryAreServedInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(145, 10)
		busy := g.seat("")
		if !busy.tryHold(90) {
			t.Fatal("no room")
		}
		order := make(chan int64, 4)
		wait := func(ctx context.Context, n int64) *seat {
			s := g.seat("")
			go func() {
				err := s.hold(ctx, n)
				if err != nil {
					n = -n
				}
				order <- n
			}()
			synctest.Wait()
			return s
		}
		gone, leave := context.WithCancelCause(t.Context())
		large := wait(gone, 95)
		small, last := wait(t.Context(), 8), wait(t.Context(), 100)
		leave(errors.New("left"))
		if a, b := <-order, <-order; a+b != 8-95 {
			t.Errorf("%d and %d, want -95, and 8 then", a, b)
		}
		large.free()
		busy.free()
		small.free()
		if n := <-order; n != 100 {
			t.Errorf("%d, want 100", n)
		}
		began := time.Now()
		wait(t.Context(), 1)
		if n := <-order; n != -1 || time.Since(began) != admissionWait {
			t.Errorf("%d after %v", n, time.Since(began))
		}
		last.free()
		if n := g.taken(); n != 0 {
			t.Errorf("%d are still held", n)
		}
	})
}

// Each who waits ends what it lacks itself: the work that ended for those before
// it gives its memory a little later.
func TestNoMoreWorkIsEndedThanHelps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(145, 10)
		ended := make([]bool, 4)
		var jobs []*job
		for i := range ended {
			j := &job{seat: g.seat(""), cancel: func(error) { ended[i] = true }}
			if !j.seat.tryHold(25) {
				t.Fatal("no room")
			}
			g.yielding.add(j)
			jobs = append(jobs, j)
		}
		waiting := make(chan error)
		for range 2 {
			go func() { waiting <- g.seat("").hold(t.Context(), 20) }()
			synctest.Wait()
		}
		if !ended[0] || !ended[1] || ended[2] || ended[3] {
			t.Errorf("for two who want 20, of four that hold 25: %v", ended)
		}
		jobs[0].seat.free()
		jobs[1].seat.free()
		for range 2 {
			if err := <-waiting; err != nil {
				t.Error(err)
			}
		}
	})
}

// A small request leaves something to smaller ones: what is kept is not in the
// way of that.
func TestKeptBodiesAreLetGoForSmallRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(16<<10, 100) // for work 12 KiB, small requests have up to 32 bytes
		var kept []*outgoing
		for range 5 {
			kept = append(kept, keep(t, g, 2<<10))
		}
		kept = append(kept, keep(t, g, 1000))
		for range 24 {
			mustHold(t, g, "", 32)
		}
		s := g.seat("")
		began := time.Now()
		if err := s.hold(t.Context(), 32); err != nil || time.Since(began) != 0 {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
		if got := keptOf(kept...); got[0] || !got[1] {
			t.Errorf("kept %v", got)
		}
	})
}
