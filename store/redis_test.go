package store

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Shopify/toxiproxy/v2"
	"github.com/redis/go-redis/v9"
	"github.com/rs/zerolog"

	"laconic/store/storetest"
)

// notices collects what a store tells the operator.
type notices struct {
	mu    sync.Mutex
	lines []string
}

func (l *notices) add(s string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, s)
}

func (l *notices) all() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.lines, "\n")
}

// later makes it as after breakerDelay.
func (s *Redis) later() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range s.nodes {
		if !n.breaker.IsClosed() {
			n.breaker.HalfOpen()
		}
	}
}

// inFrontOf puts a toxic proxy before a server and gives its address.
func inFrontOf(t *testing.T, addr string) *toxiproxy.Proxy {
	t.Helper()
	api := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	p := toxiproxy.NewProxy(api, "redis", "127.0.0.1:0", addr)
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Stop)
	return p
}

func poison(t *testing.T, p *toxiproxy.Proxy, toxic string) {
	t.Helper()
	if _, err := p.Toxics.AddToxicJson(strings.NewReader(toxic)); err != nil {
		t.Fatal(err)
	}
}

// TestASilentServerIsAskedOnce: the first caller waits no longer than
// Patience, the others do not wait at all.
func TestASilentServerIsAskedOnce(t *testing.T) {
	f := func(name, toxic string) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			p := inFrontOf(t, storetest.StartRedis(t).Addr)
			var lines notices
			s := openTestRedis(t, "redis://"+p.Listen+"/0", lines.add)
			ctx := context.Background()
			mustPut(t, s, keyOf(1), []byte("x"), time.Hour)
			poison(t, p, toxic)
			if _, err := s.Get(ctx, keyOf(1)); err == nil || errors.Is(err, ErrAbsent) {
				t.Fatalf("the first caller got %v", err)
			}
			for range 1000 {
				if _, err := s.Get(ctx, keyOf(1)); !errors.Is(err, ErrAbsent) {
					t.Fatalf("it was asked again: %v", err)
				}
			}
			if _, _, err := s.Lock(ctx, keyOf(1), time.Minute); !errors.Is(err, ErrAbsent) {
				t.Errorf("its lock was asked for: %v", err)
			}
			if got := lines.all(); got != "the store does not answer: no answer in time" {
				t.Errorf("told %q", got)
			}
			// As after breakerDelay: one is let through, and it answers.
			p.Toxics.ResetToxics(ctx)
			s.later()
			if got, err := s.Get(ctx, keyOf(1)); string(got) != "x" {
				t.Errorf("healed, it gives %q, %v", got, err)
			}
			if got := lines.all(); !strings.Contains(got, "\nthe store answers again, after ") {
				t.Errorf("told %q", got)
			}
		})
	}
	f("silent", `{"name":"t","type":"timeout","attributes":{"timeout":0}}`)
	f("slow", `{"name":"t","type":"latency","attributes":{"latency":3000}}`)
}

// TestAServerThatRefusesWritesIsToldOnce: it answers at once, so it is asked again. Reads
// that succeed are no news until it takes values again. Its refusals are seen.
func TestAServerThatRefusesWritesIsToldOnce(t *testing.T) {
	ctx := context.Background()
	f := func(want, command, undo string) {
		t.Helper()
		server := storetest.StartRedis(t)
		var lines notices
		s := openTestRedis(t, server.URL(), lines.add)
		put := func() error { return s.Put(ctx, keyOf(1), []byte("text"), time.Hour) }
		refuses := func(want string) {
			t.Helper()
			now := vaultOn(t, s, testSecret).State()
			var all []string
			for _, name := range operations {
				if yes, known := now.Refuses[name]; !known {
					t.Errorf("nothing is said of %s", name)
				} else if yes {
					all = append(all, name)
				}
			}
			if got := strings.Join(all, " "); got != want || (now.Fault.Says != "") != (want != "") || now.Silent {
				t.Errorf("refuses %q, want %q: %+v", got, want, now)
			}
		}
		if err := put(); err != nil {
			t.Fatal(err)
		}
		refuses("")
		do(t, server, command)
		for range 5 {
			if _, _, err := s.Lock(ctx, keyOf(2), time.Minute); err == nil {
				t.Fatalf("%s: it gave a lock", want)
			}
			if err := put(); err == nil {
				t.Fatalf("%s: it took a value", want)
			}
			if got, err := s.Get(ctx, keyOf(1)); string(got) != "text" {
				t.Fatalf("%s: reading gives %q, %v", want, got, err)
			}
			if _, err := s.Get(ctx, keyOf(9)); !errors.Is(err, ErrMiss) {
				t.Fatalf("%s: reading gives %v", want, err)
			}
		}
		refuses("put lock")
		do(t, server, undo)
		if release, ok, err := s.Lock(ctx, keyOf(2), time.Minute); !ok {
			t.Fatalf("%s: %v", want, err)
		} else {
			release()
		}
		for range 2 {
			if err := put(); err != nil {
				t.Fatal(err)
			}
		}
		refuses("")
		if got := lines.all(); got != "the store refuses: "+want+"\nthe store answers again, after 1 s" {
			t.Errorf("told %q", got)
		}
	}
	f("OOM", "config set maxmemory 1", "config set maxmemory 0")
	f("READONLY", "replicaof 127.0.0.1 1", "replicaof no one")
}

// TestOneOfManyGetsTheLock, and only who has it can give it back.
func TestOneOfManyGetsTheLock(t *testing.T) {
	server := storetest.StartRedis(t)
	ctx := context.Background()
	a, b := openTestRedis(t, server.URL(), nil), openTestRedis(t, server.URL(), nil)
	var mu sync.Mutex
	var releases []func()
	var wg sync.WaitGroup
	for i := range 20 {
		s := a
		if i%2 == 1 {
			s = b
		}
		wg.Go(func() {
			release, ok, err := s.Lock(ctx, keyOf(1), time.Minute)
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			if ok {
				releases = append(releases, release)
			} else {
				release() // gives back nothing: it is not ours
			}
		})
	}
	wg.Wait()
	if len(releases) != 1 {
		t.Fatalf("%d have the lock", len(releases))
	}
	if _, ok, _ := b.Lock(ctx, keyOf(1), time.Minute); ok {
		t.Error("it was given twice")
	}
	if _, ok, _ := b.Lock(ctx, keyOf(2), time.Minute); !ok {
		t.Error("the lock of another key is held")
	}
	if ttl := a.client.PTTL(ctx, a.named(keyOf(1))+":lock").Val(); ttl <= 0 || ttl > time.Minute {
		t.Errorf("the lock ends in %v", ttl)
	}
	releases[0]()
	releases[0]()
	if _, ok, _ := b.Lock(ctx, keyOf(1), time.Minute); !ok {
		t.Error("it was not given back")
	}
}

// TestALockThatCannotBeHadDoesNotStopAnybody.
func TestALockThatCannotBeHadDoesNotStopAnybody(t *testing.T) {
	server := storetest.StartRedis(t)
	v := vaultOn(t, openTestRedis(t, server.URL(), nil), testSecret)
	server.Stop()
	release, ok := v.Lock(context.Background(), v.Key(Group{1}, "record", "k"), time.Minute)
	if release(); !ok {
		t.Error("nobody may make the value")
	}
	if release, ok := vaultOn(t, openTestMemory(t), testSecret).Lock(context.Background(), Key{}, time.Minute); !ok {
		t.Error("a store that nobody shares has a lock")
	} else {
		release()
	}
}

// TestAValueThatSomebodyMadeTooLarge is not read whole.
func TestAValueThatSomebodyMadeTooLarge(t *testing.T) {
	ctx := context.Background()
	url := storetest.StartRedis(t).URL()
	s := openTestRedis(t, url, nil)
	if err := patient(t, url).Set(ctx, s.named(keyOf(1)), make([]byte, 8<<20), 0).Err(); err != nil {
		t.Fatal(err)
	}
	got, err := s.Get(ctx, keyOf(1))
	if err != nil || len(got) > MaxValue+overhead+1 {
		t.Errorf("read %d bytes, %v", len(got), err)
	}
}

// TestOperatorsLinesHoldNoAddress: they may go to a log that many read.
func TestOperatorsLinesHoldNoAddress(t *testing.T) {
	var lines notices
	s := openTestRedis(t, "redis://canary-user:canary-pass@127.0.0.1:1/0", lines.add)
	_, err := s.Get(context.Background(), keyOf(1))
	if all := lines.all(); strings.Contains(all, "canary") || strings.Contains(all, "127.0.0.1") || all == "" {
		t.Errorf("told %q", all)
	}
	if strings.Contains(fmt.Sprint(err), "canary") {
		t.Errorf("the error shows a credential: %v", err)
	}
}

// TestAGroupIsFoundAmongMany names, in several steps. Its locks are left: they hold
// nothing, and those who wait for them rely on them.
func TestAGroupIsFoundAmongMany(t *testing.T) {
	ctx := context.Background()
	url := storetest.StartRedis(t).URL()
	s := openTestRedis(t, url, nil)
	all := patient(t, url).Pipeline()
	mine := Group{1}
	for n := range 3 * scanned {
		k := Key{2, 30: byte(n >> 8), 31: byte(n)}
		if n%10 == 0 {
			copy(k[:], mine[:])
		}
		all.Set(ctx, s.named(k), "text", time.Hour)
	}
	if _, err := all.Exec(ctx); err != nil {
		t.Fatal(err)
	}
	if err := unhurried(s, func() error { _, _, err := s.Lock(ctx, Key{1}, time.Minute); return err }); err != nil {
		t.Fatal(err)
	}
	gone := 0
	if err := unhurried(s, func() error { n, err := s.DeleteGroup(ctx, mine); gone += n; return err }); gone != 3*scanned/10 || err != nil {
		t.Errorf("%d were removed, %v; want %d", gone, err, 3*scanned/10)
	}
	if _, ok, _ := s.Lock(ctx, Key{1}, time.Minute); ok {
		t.Error("a lock is gone")
	}
}

// patient returns a client of the server that does not give up after [Patience].
func patient(t *testing.T, url string) *redis.Client {
	o, err := redis.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	c := redis.NewClient(o)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// unhurried tries again what took longer than Patience, as on a machine that is busy.
func unhurried(s *Redis, f func() error) (err error) {
	for range 50 {
		s.mu.Lock()
		for _, n := range s.nodes {
			n.breaker.Close()
		}
		s.mu.Unlock()
		var late net.Error
		if err = f(); !errors.Is(err, context.DeadlineExceeded) && !(errors.As(err, &late) && late.Timeout()) {
			break
		}
	}
	return err
}
