package admission

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// asks asks for memory, and sends on the channel how that ended.
func asks(ctx context.Context, ask func(context.Context, int64) error, n int64) <-chan error {
	done := make(chan error, 1)
	go func() { done <- ask(ctx, n) }()
	synctest.Wait()
	return done
}

// over reports whether a wait is over.
func over(done <-chan error) bool { return len(done) == 1 }

// tryAcquire takes n bytes for work if that needs no waiting.
func tryAcquire(r *Reservation, n int64) bool {
	now, cancel := context.WithCancel(context.Background())
	cancel()
	return r.Acquire(now, n) == nil
}

func mustHold(t *testing.T, g *Gate, client string, n int64) *Reservation {
	t.Helper()
	s := g.Reserve(client)
	if !tryAcquire(s, n) {
		t.Fatalf("no memory for %d", n)
	}
	return s
}

func TestSmallRequestsPassLargeOnesThatWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGate(16<<10, 100) // for work 12 KiB, of them 1 KiB for small requests, which have up to 32
		busy := mustHold(t, g, "", 11<<10)
		large := asks(t.Context(), g.Reserve("").Acquire, 4<<10)
		var small []*Reservation
		for range 32 {
			small = append(small, mustHold(t, g, "", 32))
		}
		one := g.Reserve("")
		next := asks(t.Context(), one.Acquire, 32)
		if over(large) || over(next) {
			t.Errorf("granted where nothing was free: %v, %v", over(large), over(next))
		}
		busy.Shrink(6 << 10)
		synctest.Wait()
		if !over(large) {
			t.Error("small requests keep a large one waiting")
		}
		if !over(next) {
			t.Error("where nothing large waits any more, a small one has to keep to its part")
		}
		for _, s := range small {
			s.Free()
		}
	})
}

func TestAClientHasAllMemoryUntilAnotherWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGate(1600, 100) // 1100 for large work
		a := []*Reservation{mustHold(t, g, "a", 400), mustHold(t, g, "a", 400), mustHold(t, g, "a", 300)}
		again := asks(t.Context(), g.Reserve("a").Acquire, 400)
		third := asks(t.Context(), g.Reserve("a").Acquire, 300)
		b := asks(t.Context(), g.Reserve("b").Acquire, 400)
		a[0].Free()
		synctest.Wait()
		if over(again) || !over(b) {
			t.Errorf("a, which holds most, was served: %v, b: %v", over(again), over(b))
		}
		a[1].Free()
		synctest.Wait()
		if !over(again) || over(third) {
			t.Errorf("a was not served in its turn: %v, %v", over(again), over(third))
		}
		a[2].Free()
		if err := <-third; err != nil {
			t.Error(err)
		}
	})
}

// Bodies that arrive hold a part and ask for more. However little there is, one
// of them may always go on.
func TestOneBodyGoesOnWhereNothingIsFree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGate(3200, 200) // 600 for arrival, 450 for large ones, and one body beyond
		var all []*Reservation
		for range 3 {
			s := g.Reserve("")
			if err := s.Receive(t.Context(), 150); err != nil {
				t.Fatal(err)
			}
			all = append(all, s)
		}
		if err := all[2].Receive(t.Context(), 5000); err != nil {
			t.Errorf("the body that goes beyond has to wait: %v", err)
		}
		var waits []<-chan error
		for _, s := range all[:2] {
			waits = append(waits, asks(t.Context(), s.Receive, 300))
		}
		last := all[2]
		for range 2 {
			last.Received() // it is complete
			synctest.Wait()
			next := -1
			for i, w := range waits {
				if w != nil && over(w) {
					next, waits[i] = i, nil
					break
				}
			}
			if next < 0 {
				t.Fatal("nobody goes on")
			}
			last = all[next]
		}
		for _, s := range all {
			s.Free()
		}
		if n := g.Stats().Bytes; n != 0 {
			t.Errorf("%d are still held", n)
		}
	})
}

// growing fills the room for arrival, 1000 bytes, with bodies of 20 bytes of a client.
func growing(t *testing.T, g *Gate, client string, mostSmall int64) (all []*Reservation) {
	t.Helper()
	g.arrival = newPool(1000, 250, mostSmall)
	for range 49 {
		s := g.Reserve(client)
		if err := s.Receive(t.Context(), 20); err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	return all
}

// The same holds for small ones.
func TestOneSmallBodyGoesOnWhereNothingIsFree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGate(1<<20, 1)
		began := time.Now()
		var wg sync.WaitGroup
		for _, s := range growing(t, g, "", 40) {
			wg.Go(func() {
				defer s.Free()
				if err := s.Receive(t.Context(), 40); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if d := time.Since(began); d != 0 {
			t.Errorf("they waited for %v", d)
		}
	})
}

// Bodies that were small when they took their memory and wait to become large
// take nothing of what is reserved for small ones.
func TestBodiesThatOutgrewTheSmallOnesDoNotKeepThemWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGate(1<<20, 1)
		all := growing(t, g, "a", 20)
		for _, s := range all {
			_ = asks(t.Context(), s.Receive, 100)
		}
		if n := len(g.arrival.waiting); n < 30 {
			t.Fatalf("%d wait", n)
		}
		small := g.Reserve("b")
		if !over(asks(t.Context(), small.Receive, 2)) {
			t.Error("a small one has to wait")
		}
		small.Free()
		for _, s := range all {
			s.Free()
		}
		time.Sleep(g.Wait)
	})
}

// Bodies that stall give way to a small request, too.
func TestBodiesThatStallGiveWayToSmallOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGate(1<<20, 1)
		for _, s := range growing(t, g, "a", 40) {
			t.Cleanup(s.Arrive(&fakeArrival{end: s.Free}))
		}
		time.Sleep(time.Hour)
		began := time.Now()
		for range 3 {
			s := g.Reserve("b")
			defer s.Free()
			if err := s.Receive(t.Context(), 40); err != nil {
				t.Error(err)
			}
		}
		if d := time.Since(began); d > stallGrace {
			t.Errorf("after %v", d)
		}
	})
}

// countedArrival counts how often it is looked at.
type countedArrival struct{ looks *int }

func (a countedArrival) Received() int64 { *a.looks++; return int64(*a.looks) << 30 }

func (a countedArrival) Abort() {}

// Those that wait look at those that arrive together, and not each by itself:
// there may be thousands of both.
func TestTheCostOfWaitingIsLinear(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGate(1<<20, 1)
		looks := 0
		all := growing(t, g, "", 20)
		for _, s := range all {
			t.Cleanup(s.Arrive(countedArrival{&looks}))
		}
		if err := all[0].Receive(t.Context(), 5000); err != nil {
			t.Fatal(err)
		}
		for range 100 {
			s := g.Reserve("")
			go func() {
				defer s.Free()
				_ = s.Receive(t.Context(), 5000)
			}()
		}
		lookedAt := func() int {
			g.mu.Lock()
			defer g.mu.Unlock()
			return looks
		}
		time.Sleep(stallGrace)
		before := lookedAt()
		time.Sleep(time.Second)
		if n := (lookedAt() - before) / len(all); n > 16 {
			t.Errorf("each was looked at %d times in a second", n)
		}
		for _, s := range all {
			s.Free()
		}
		time.Sleep(g.Wait)
	})
}

// fakeArrival is a body of which n bytes came.
type fakeArrival struct {
	n   int64
	end func()
}

func (a *fakeArrival) Received() int64 { return a.n }

func (a *fakeArrival) Abort() { a.end() }

// arriving begins a body that holds n bytes, of which so many came since. That it was ended
// is noted by its name.
func arriving(t *testing.T, g *Gate, client, name string, n, came int64, ended map[string]bool) {
	t.Helper()
	s := g.Reserve(client)
	from := &fakeArrival{end: func() { ended[name] = true; s.Free() }}
	t.Cleanup(s.Arrive(from))
	if err := s.Receive(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	from.n = came
}

func TestBodiesThatStallGiveWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGate(3200<<10, 200<<10)
		ended := map[string]bool{}
		for _, name := range []string{"1", "2", "3"} {
			arriving(t, g, "a", name, 150<<10, 0, ended)
		}
		time.Sleep(time.Hour) // nobody waits: they may take their time
		if len(ended) != 0 {
			t.Fatalf("ended: %v", ended)
		}
		began := time.Now()
		s := g.Reserve("a")
		defer s.Free()
		if err := s.Receive(t.Context(), 150<<10); err != nil || len(ended) == 0 || time.Since(began) != 0 {
			t.Errorf("after %v: %v, ended %v", time.Since(began), err, ended)
		}
	})
}

func TestBodiesOfOneClientGiveWayToAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGate(3200<<10, 200<<10)
		ended := map[string]bool{}
		const fast = 1 << 30 // they keep coming
		arriving(t, g, "a", "small", 100<<10, fast, ended)
		arriving(t, g, "a", "large", 350<<10, fast, ended)
		waiting, leave := context.WithCancelCause(t.Context())
		own := asks(waiting, g.Reserve("a").Receive, 300<<10)
		time.Sleep(2 * stallGrace)
		if len(ended) != 0 {
			t.Errorf("for another body of the same client, ended: %v", ended)
		}
		leave(errors.New("left"))
		if err := <-own; err == nil {
			t.Error("granted")
		}
		b := g.Reserve("b")
		defer b.Free()
		if err := b.Receive(t.Context(), 300<<10); err != nil {
			t.Error(err)
		}
		if len(ended) != 1 || !ended["large"] {
			t.Errorf("ended: %v, want the largest", ended)
		}
	})
}

// A gate of 145 bytes has 100 of them for work, where no request is so small
// that it is one of the small ones.

func TestThoseWhoWaitForMemoryAreServedInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGate(145, 10)
		busy := mustHold(t, g, "", 90)
		order := make(chan int64, 4)
		wait := func(ctx context.Context, n int64) *Reservation {
			s := g.Reserve("")
			go func() {
				err := s.Acquire(ctx, n)
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
		large.Free()
		busy.Free()
		small.Free()
		if n := <-order; n != 100 {
			t.Errorf("%d, want 100", n)
		}
		began := time.Now()
		wait(t.Context(), 1)
		if n := <-order; n != -1 || time.Since(began) != g.Wait {
			t.Errorf("%d after %v", n, time.Since(began))
		}
		last.Free()
		if n := g.Stats().Bytes; n != 0 {
			t.Errorf("%d are still held", n)
		}
	})
}

// Each who waits ends what it lacks itself: the work that ended for those before
// it gives its memory a little later.
func TestNoMoreWorkIsEndedThanHelps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGate(145, 10)
		var jobs [4]*fakeJob
		for i := range jobs {
			jobs[i] = begin(t, g, 25)
		}
		waiting := make(chan error)
		for range 2 {
			go func() { waiting <- g.Reserve("").Acquire(t.Context(), 20) }()
			synctest.Wait()
		}
		if !jobs[0].ended || !jobs[1].ended || jobs[2].ended || jobs[3].ended {
			t.Errorf("for two who want 20, of four that hold 25: %v", jobs)
		}
		jobs[0].Free()
		jobs[1].Free()
		for range 2 {
			if err := <-waiting; err != nil {
				t.Error(err)
			}
		}
	})
}

// fakeJob is work in the background that gives its memory back later than it ends.
type fakeJob struct {
	*Reservation
	ended, needed bool
}

func (j *fakeJob) Release() bool {
	j.ended = !j.needed
	return j.ended
}

func begin(t *testing.T, g *Gate, n int64) *fakeJob {
	t.Helper()
	j := &fakeJob{}
	if j.Reservation = g.Background(n, j.Release); j.Reservation == nil {
		t.Fatal("no room")
	}
	return j
}

// A job that has written its prompt holds less than at its start: what it still
// holds is what comes free, and where that is not enough the next ends. One that
// cannot end gives nothing.
func TestWorkThatEndsGivesWhatItHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGate(1600, 100) // 1200 for work, 1100 for large ones
		a, needed, b, c := begin(t, g, 600), begin(t, g, 100), begin(t, g, 200), begin(t, g, 100)
		needed.needed = true
		a.Shrink(50)
		busy := mustHold(t, g, "", 600)
		waiting := asks(t.Context(), g.Reserve("").Acquire, 300)
		if over(waiting) || !a.ended || needed.ended || !b.ended || c.ended {
			t.Errorf("for 200 of 50, 200 and 100: %v %v %v", a.ended, b.ended, c.ended)
		}
		a.Free()
		needed.Free()
		if b.Free(); !over(waiting) {
			synctest.Wait()
		}
		if err := <-waiting; err != nil {
			t.Error(err)
		}
		busy.Free()
		if c.Free(); g.coming != 0 {
			t.Errorf("%d are still to come", g.coming)
		}
	})
}

// A retry exceeds what is free, one at a time, and goes before those who were not
// admitted yet.
func TestARetryGoesOnWhereNothingIsFree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGate(1600, 100)
		first, second := mustHold(t, g, "a", 600), mustHold(t, g, "b", 500)
		waiting := asks(t.Context(), g.Reserve("c").Acquire, 300)
		if err := first.Grow(t.Context(), 200); err != nil {
			t.Error(err)
		}
		other := asks(t.Context(), second.Grow, 300)
		if over(other) || over(waiting) {
			t.Error("two retries exceed the memory")
		}
		first.Free()
		synctest.Wait()
		if !over(other) || !over(waiting) {
			t.Errorf("retry: %v, waiting: %v", over(other), over(waiting))
		}
		second.Free()
		if err := second.Grow(t.Context(), 1); err == nil {
			t.Error("a body that was let go grows")
		}
	})
}

// A second retry waits for the first to end, and for nobody who holds nothing:
// one of those may wait for what it holds itself.
func TestARetryComesBeforeOlderRequestsThatHoldNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGate(1600, 100) // 1200 for work, 1100 for large ones
		older := g.Reserve("c")
		first, second := mustHold(t, g, "a", 500), mustHold(t, g, "b", 600)
		waiting := asks(t.Context(), older.Acquire, 900)
		if err := first.Grow(t.Context(), 400); err != nil {
			t.Error(err)
		}
		other := asks(t.Context(), second.Grow, 400)
		first.Free()
		synctest.Wait()
		if !over(other) {
			t.Error("a retry waits for a request that waits for it")
		}
		if over(waiting) {
			t.Error("granted where nothing was free")
		}
		second.Free()
		if err := <-waiting; err != nil {
			t.Error(err)
		}
	})
}

// Memory that takes part in a retry is not reclaimed, neither for others nor for
// the retry itself.
func TestMemoryThatGrowsIsNotReclaimed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGate(1600, 100)
		first, second := begin(t, g, 500), begin(t, g, 600)
		if err := first.Grow(t.Context(), 400); err != nil {
			t.Error(err)
		}
		other := asks(t.Context(), second.Grow, 400)
		waiting := asks(t.Context(), g.Reserve("").Acquire, 300)
		if first.ended || second.ended {
			t.Errorf("ended: %v, %v", first.ended, second.ended)
		}
		first.Free()
		second.Free()
		synctest.Wait()
		<-other
		if err := <-waiting; err != nil {
			t.Error(err)
		}
		if g.coming != 0 {
			t.Errorf("%d are still to come", g.coming)
		}
	})
}
