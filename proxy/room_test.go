package proxy

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/klauspost/compress/zstd"
)

// asks has a seat ask for memory, and tells on the channel how that ended.
func asks(ctx context.Context, ask func(context.Context, int64) error, n int64) <-chan error {
	done := make(chan error, 1)
	go func() { done <- ask(ctx, n) }()
	synctest.Wait()
	return done
}

// over reports whether a wait is over.
func over(done <-chan error) bool { return len(done) == 1 }

func mustHold(t *testing.T, g *gate, client string, n int64) *seat {
	t.Helper()
	s := g.seat(client)
	if !s.tryHold(n) {
		t.Fatalf("no memory for %d", n)
	}
	return s
}

func TestSmallRequestsPassLargeOnesThatWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(16<<10, 100) // for work 12 KiB, of them 1 KiB for small requests, which have up to 32
		busy := mustHold(t, g, "", 11<<10)
		large := asks(t.Context(), g.seat("").hold, 4<<10)
		var small []*seat
		for range 24 { // each leaves eight times as much
			small = append(small, mustHold(t, g, "", 32))
		}
		one := g.seat("")
		next := asks(t.Context(), one.hold, 32)
		if over(large) || over(next) {
			t.Errorf("granted where nothing was free: %v, %v", over(large), over(next))
		}
		busy.shrink(6 << 10)
		synctest.Wait()
		if !over(large) {
			t.Error("small requests keep a large one waiting")
		}
		if !over(next) {
			t.Error("where nothing large waits any more, a small one has to keep to its part")
		}
		for _, s := range small {
			s.free()
		}
	})
}

func TestAClientHasAllMemoryUntilAnotherWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(1600, 100) // 1100 for large work
		a := []*seat{mustHold(t, g, "a", 400), mustHold(t, g, "a", 400), mustHold(t, g, "a", 300)}
		again := asks(t.Context(), g.seat("a").hold, 400)
		third := asks(t.Context(), g.seat("a").hold, 300)
		b := asks(t.Context(), g.seat("b").hold, 400)
		a[0].free()
		synctest.Wait()
		if over(again) || !over(b) {
			t.Errorf("a, which holds most, was served: %v, b: %v", over(again), over(b))
		}
		a[1].free()
		synctest.Wait()
		if !over(again) || over(third) {
			t.Errorf("a was not served in its turn: %v, %v", over(again), over(third))
		}
		a[2].free()
		if err := <-third; err != nil {
			t.Error(err)
		}
	})
}

// Bodies that arrive hold a part and ask for more. However little there is, one
// of them may always go on.
func TestOneBodyGoesOnWhereNothingIsFree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(3200, 200) // 600 for arrival, 450 for large ones, and one body beyond
		var seats []*seat
		for range 4 {
			s := g.seat("")
			if err := s.receive(t.Context(), 150); err != nil {
				t.Fatal(err)
			}
			seats = append(seats, s)
		}
		var waits []<-chan error
		for _, s := range seats[:3] {
			waits = append(waits, asks(t.Context(), s.receive, 300))
		}
		if err := seats[3].receive(t.Context(), 5000); err != nil {
			t.Errorf("the body that went beyond has to wait: %v", err)
		}
		last := seats[3]
		for range 3 {
			last.arrived() // it is complete
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
			last = seats[next]
		}
		for _, s := range seats {
			s.free()
		}
		if n := g.taken(); n != 0 {
			t.Errorf("%d are still held", n)
		}
	})
}

// growing fills the room for arrival with bodies of 20 bytes of a client, which
// leave no more than 180 of 1000.
func growing(t *testing.T, g *gate, client string, mostSmall int64) (all []*seat) {
	t.Helper()
	g.arrival = newRoom(1000, 250, mostSmall)
	g.arrival.oneBeyond = true
	for range 41 {
		s := g.seat(client)
		if err := s.receive(t.Context(), 20); err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	return all
}

// The same holds for small ones, which leave something to smaller ones.
func TestOneSmallBodyGoesOnWhereNothingIsFree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(1<<20, 1)
		began := time.Now()
		var wg sync.WaitGroup
		for _, s := range growing(t, g, "", 40) {
			wg.Go(func() {
				defer s.free()
				if err := s.receive(t.Context(), 40); err != nil {
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
		g := newGate(1<<20, 1)
		all := growing(t, g, "a", 20)
		for _, s := range all {
			_ = asks(t.Context(), s.receive, 100)
		}
		if n := len(g.arrival.waiting); n < 30 {
			t.Fatalf("%d wait", n)
		}
		small := g.seat("b")
		if !over(asks(t.Context(), small.receive, 2)) {
			t.Error("a small one has to wait")
		}
		small.free()
		for _, s := range all {
			s.free()
		}
		time.Sleep(admissionWait)
	})
}

// For a small request, too, which leaves something to smaller ones, those that
// stall give way.
func TestBodiesThatStallGiveWayToSmallOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(1<<20, 1)
		for _, s := range growing(t, g, "a", 40) {
			t.Cleanup(s.arrive(&fakeArrival{end: s.free}))
		}
		time.Sleep(time.Hour)
		began := time.Now()
		for range 3 {
			s := g.seat("b")
			defer s.free()
			if err := s.receive(t.Context(), 40); err != nil {
				t.Error(err)
			}
		}
		if d := time.Since(began); d > hurriedGrace {
			t.Errorf("after %v", d)
		}
	})
}

// countedArrival counts how often it is looked at.
type countedArrival struct{ looks *int }

func (a countedArrival) count() int64 { *a.looks++; return int64(*a.looks) << 30 }

func (a countedArrival) giveWay() {}

// Those that wait look at those that arrive together, and not each by itself:
// there may be thousands of both.
func TestTheCostOfWaitingIsLinear(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(1<<20, 1)
		looks := 0
		all := growing(t, g, "", 20)
		for _, s := range all {
			t.Cleanup(s.arrive(countedArrival{&looks}))
		}
		beyond := g.seat("")
		if err := beyond.receive(t.Context(), 5000); err != nil {
			t.Fatal(err)
		}
		all = append(all, beyond)
		for range 100 {
			s := g.seat("")
			go func() {
				defer s.free()
				_ = s.receive(t.Context(), 5000)
			}()
		}
		lookedAt := func() int {
			g.mu.Lock()
			defer g.mu.Unlock()
			return looks
		}
		time.Sleep(hurriedGrace)
		before := lookedAt()
		time.Sleep(time.Second)
		if n := (lookedAt() - before) / len(all); n > 16 {
			t.Errorf("each was looked at %d times in a second", n)
		}
		for _, s := range all {
			s.free()
		}
		time.Sleep(admissionWait)
	})
}

// fakeArrival is a body of which n bytes came.
type fakeArrival struct {
	n   int64
	end func()
}

func (a *fakeArrival) count() int64 { return a.n }

func (a *fakeArrival) giveWay() { a.end() }

func TestBodiesThatStallGiveWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(3200<<10, 200<<10)
		ended := map[string]bool{}
		arriving := func(client, name string) *seat {
			s := g.seat(client)
			t.Cleanup(s.arrive(&fakeArrival{end: func() { ended[name] = true; s.free() }}))
			if err := s.receive(t.Context(), 150<<10); err != nil {
				t.Fatal(err)
			}
			return s
		}
		for _, name := range []string{"1", "2", "3", "4"} {
			arriving("a", name)
		}
		time.Sleep(time.Hour) // nobody waits: they may take their time
		if len(ended) != 0 {
			t.Fatalf("ended: %v", ended)
		}
		began := time.Now()
		s := g.seat("a")
		defer s.free()
		if err := s.receive(t.Context(), 150<<10); err != nil || len(ended) == 0 || time.Since(began) != 0 {
			t.Errorf("after %v: %v, ended %v", time.Since(began), err, ended)
		}
	})
}

func TestBodiesOfOneClientGiveWayToAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(3200<<10, 200<<10)
		ended := map[string]bool{}
		arriving := func(client, name string, n int64) *seat {
			s := g.seat(client)
			from := &fakeArrival{end: func() { ended[name] = true; s.free() }}
			t.Cleanup(s.arrive(from))
			if err := s.receive(t.Context(), n); err != nil {
				t.Fatal(err)
			}
			from.n = 1 << 30 // it keeps coming, fast enough
			return s
		}
		arriving("a", "small", 100<<10)
		arriving("a", "large", 350<<10)
		arriving("a", "beyond", 200<<10)
		waiting, leave := context.WithCancelCause(t.Context())
		own := asks(waiting, g.seat("a").receive, 300<<10)
		time.Sleep(2 * hurriedGrace)
		if len(ended) != 0 {
			t.Errorf("for another body of the same client, ended: %v", ended)
		}
		leave(errors.New("left"))
		if err := <-own; err == nil {
			t.Error("granted")
		}
		b := g.seat("b")
		defer b.free()
		if err := b.receive(t.Context(), 300<<10); err != nil {
			t.Error(err)
		}
		if len(ended) != 1 || !ended["large"] {
			t.Errorf("ended: %v, want the largest", ended)
		}
	})
}

func TestAClientIsItsKeyOrItsAddress(t *testing.T) {
	open := start(t, options(parseURL(t, "http://127.0.0.1:9/v1")))
	o := options(parseURL(t, "http://127.0.0.1:9/v1"))
	o.Default.Key, o.ClientKeys = "sk-ours", []Secret{"first", "second"}
	closed := start(t, o)
	f := func(p *running, address, key, want string) {
		t.Helper()
		r := &http.Request{RemoteAddr: address, Header: http.Header{
			"Authorization": {"Bearer " + key}, "X-Forwarded-For": {"192.0.2.77"}, "Forwarded": {"for=192.0.2.77"},
		}}
		if got := p.clientOf(r); got != want {
			t.Errorf("%s, %s: %s, want %s", address, key, got, want)
		}
	}
	f(open, "192.0.2.1:1000", "first", "192.0.2.1")
	f(open, "[::ffff:192.0.2.1]:1000", "first", "192.0.2.1")
	f(open, "[2001:db8:1:2:3:4:5:6]:1000", "second", "2001:db8:1:2::/64")
	f(closed, "192.0.2.1:1000", "first", "key 0")
	f(closed, "192.0.2.2:1000", "second", "key 1")
}

// chunked sends the head of a chunked request.
func chunked(t *testing.T, p *running) (io.Writer, *bufio.Reader) {
	t.Helper()
	conn := dial(t, p.addr)
	_, err := fmt.Fprintf(conn, "POST /v1/chat/completions HTTP/1.1\r\nHost: %s\r\nTransfer-Encoding: chunked\r\n\r\n", p.addr)
	if err != nil {
		t.Fatal(err)
	}
	return conn, bufio.NewReader(conn)
}

func sendChunk(t *testing.T, to io.Writer, s string) {
	t.Helper()
	if _, err := fmt.Fprintf(to, "%x\r\n%s\r\n", len(s), s); err != nil {
		t.Fatal(err)
	}
}

// Six bodies without a length hold what has come of them, all there is, and
// want more: all are answered.
func TestBodiesThatGrowDoNotWaitForEachOther(t *testing.T) {
	p := inFrontOf(t, newUpstream(t, nil), func(o *Options) { o.Limits.Memory, o.Limits.Body = 1<<20, 256<<10 })
	const bodies = 6
	var wg sync.WaitGroup
	var rest []func()
	for range bodies {
		to, from := chunked(t, p)
		sendChunk(t, to, chatBody+strings.Repeat(" ", 70<<10))
		rest = append(rest, func() {
			sendChunk(t, to, strings.Repeat(" ", 80<<10))
			_, _ = io.WriteString(to, "0\r\n\r\n")
		})
		wg.Go(func() {
			res, err := http.ReadResponse(from, nil)
			if err != nil || res.StatusCode != 200 {
				t.Errorf("%v %v", res, err)
				return
			}
			_, _ = io.Copy(io.Discard, res.Body)
		})
	}
	eventually(t, "they wait for memory", func() bool {
		p.memory.mu.Lock()
		defer p.memory.mu.Unlock()
		return len(p.memory.arrival.waiting) >= bodies-2
	})
	for _, finish := range rest {
		finish()
	}
	wg.Wait()
	if n := p.memory.taken(); n != 0 {
		t.Errorf("%d bytes of memory are still held", n)
	}
}

// What is in them is found out before memory is taken for it, so that those
// that hold too much never wait for any, and the others take it at once.
func TestCompressedBodiesAreMeasuredBeforeTheyTakeMemory(t *testing.T) {
	u := newUpstream(t, nil)
	p := inFrontOf(t, u, func(o *Options) { o.Limits.Memory, o.Limits.Body = 64<<20, 2<<20 })
	fits := chatBody + strings.Repeat(" ", 1<<20)
	packed := map[string][]byte{"gzip": gzipped(t, []byte(fits)), "zstd": zstded(t, []byte(fits), zstd.WithWindowSize(64<<10))}
	bombs := map[string][]byte{"gzip": gzipped(t, make([]byte, 8<<20)), "zstd": zstded(t, make([]byte, 8<<20), zstd.WithWindowSize(64<<10))}
	busy := mustHold(t, p.memory, "", 44<<20) // all but what is for small ones
	var wg sync.WaitGroup
	status := make(chan int, 20)
	for encoding := range packed {
		for range 4 {
			wg.Go(func() { status <- p.chat(string(packed[encoding]), "Content-Encoding", encoding).StatusCode })
		}
	}
	eventually(t, "they wait for memory", func() bool {
		p.memory.mu.Lock()
		defer p.memory.mu.Unlock()
		return len(p.memory.work.waiting) == 8
	})
	for encoding, bomb := range bombs {
		if res := p.chat(string(bomb), "Content-Encoding", encoding); res.StatusCode != 413 {
			t.Errorf("%s: %d %s", encoding, res.StatusCode, res.body)
		}
	}
	if res := p.chat(chatBody); res.StatusCode != 200 {
		t.Errorf("a small one: %d", res.StatusCode)
	}
	busy.free()
	wg.Wait()
	for range 8 {
		if s := <-status; s != 200 {
			t.Errorf("%d", s)
		}
	}
}
