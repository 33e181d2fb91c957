package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"laconic/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// backends are the stores there are. Each must pass the same suite.
var backends = []backend{
	{"memory", func(t testing.TB) Store { return openTestMemory(t) }},
	{"file", func(t testing.TB) Store { return openTestFile(t, filepath.Join(t.TempDir(), "x.db"), 0) }},
	{"redis", func(t testing.TB) Store { return openTestRedis(t, storetest.StartRedis(t).URL(), nil) }},
	{"cluster", func(t testing.TB) Store { return openTestRedis(t, startCluster(t).URL(), nil) }},
}

type backend struct {
	name string
	open func(t testing.TB) Store
}

func openTestMemory(t testing.TB) *Memory {
	m := NewMemory(0)
	t.Cleanup(m.Close)
	return m
}

func openTestFile(t testing.TB, path string, bytes int64) *File {
	t.Helper()
	f, err := NewFile(path, bytes, func(line string) { t.Log(line) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	return f
}

func openTestRedis(t testing.TB, url string, notice func(string)) *Redis {
	t.Helper()
	if notice == nil {
		notice = func(string) {}
	}
	r, err := NewRedis(Options{URL: url, Notice: notice})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

func eachStore(t *testing.T, f func(t *testing.T, s Store)) {
	for _, b := range backends {
		if b.name == "cluster" && testing.Short() {
			continue // it takes two seconds to agree
		}
		t.Run(b.name, func(t *testing.T) { f(t, b.open(t)) })
	}
}

// mustPut ends a test whose store takes no value.
func mustPut(t testing.TB, s Store, k Key, value []byte, ttl time.Duration) {
	t.Helper()
	if err := s.Put(context.Background(), k, value, ttl); err != nil {
		t.Fatal(err)
	}
}

func mustPutText(t testing.TB, v *Vault, k Key, text string) {
	t.Helper()
	if err := v.Put(context.Background(), k, text); err != nil {
		t.Fatal(err)
	}
}

func keyOf(n int) Key { return Key(bytes.Repeat([]byte{byte(n), byte(n >> 8)}, 16)) }

func TestWhatWasPutIsFound(t *testing.T) {
	ctx := context.Background()
	eachStore(t, func(t *testing.T, s Store) {
		if v, err := s.Get(ctx, keyOf(1)); !errors.Is(err, ErrMiss) {
			t.Fatalf("an empty store gives %q, %v", v, err)
		}
		for _, want := range [][]byte{
			[]byte("first"), []byte("replaced"), {0, 255, '\r', '\n', 0}, bytes.Repeat([]byte("x"), MaxValue),
		} {
			mustPut(t, s, keyOf(1), want, time.Hour)
			if got, err := s.Get(ctx, keyOf(1)); err != nil || !bytes.Equal(got, want) {
				t.Fatalf("got %d bytes, %v; want %d", len(got), err, len(want))
			}
		}
		if _, err := s.Get(ctx, keyOf(2)); !errors.Is(err, ErrMiss) {
			t.Fatalf("another key: %v", err)
		}
		mustPut(t, s, keyOf(2), []byte("x"), 0)
		if _, err := s.Get(ctx, keyOf(2)); !errors.Is(err, ErrMiss) {
			t.Fatalf("what is over: %v", err)
		}
	})
}

func TestAStoreEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	eachStore(t, func(t *testing.T, s Store) {
		_, _ = s.Get(ctx, keyOf(1))
		_ = s.Put(ctx, keyOf(1), []byte("x"), time.Hour)
		// A caller that left says nothing of the store.
		if err := s.Put(context.Background(), keyOf(1), []byte("y"), time.Hour); err != nil {
			t.Fatalf("after a cancelled call: %v", err)
		}
	})
}

func TestManyAtOnce(t *testing.T) {
	ctx := context.Background()
	eachStore(t, func(t *testing.T, s Store) {
		var wg sync.WaitGroup
		for g := range 16 {
			wg.Go(func() {
				for i := range 20 {
					k, want := keyOf(g*100+i), []byte(fmt.Sprint(g, i))
					if err := s.Put(ctx, k, want, time.Hour); err != nil {
						t.Error(err)
						return
					}
					if got, err := s.Get(ctx, k); err != nil || !bytes.Equal(got, want) {
						t.Errorf("%d/%d: %q, %v", g, i, got, err)
						return
					}
				}
			})
		}
		wg.Wait()
	})
}

// TestAGroupIsRemovedWhole, and nothing of another one, though its key differs in
// one bit; what comes later is kept.
func TestAGroupIsRemovedWhole(t *testing.T) {
	ctx := context.Background()
	eachStore(t, func(t *testing.T, s Store) {
		of := func(g Group, n int) (k Key) {
			copy(k[:], g[:])
			copy(k[len(g):], bytes.Repeat([]byte{byte(n), byte(n >> 8)}, 8))
			return k
		}
		mine := Group(bytes.Repeat([]byte{255}, groupBytes))
		others := []Group{mine, mine, {}}
		others[0][0] ^= 0x80
		others[1][groupBytes-1] ^= 1
		const values = 300
		put := func(k Key) {
			t.Helper()
			mustPut(t, s, k, []byte("text"), time.Hour)
		}
		for n := range values {
			put(of(mine, n))
		}
		for _, g := range others {
			put(of(g, 1))
		}
		if n, err := s.DeleteGroup(ctx, mine); err != nil || n != values {
			t.Errorf("%d were removed, %v; want %d", n, err, values)
		}
		for n := range values {
			if _, err := s.Get(ctx, of(mine, n)); !errors.Is(err, ErrMiss) {
				t.Fatalf("value %d: %v", n, err)
			}
		}
		for _, g := range others {
			if v, err := s.Get(ctx, of(g, 1)); string(v) != "text" {
				t.Errorf("of another group: %q, %v", v, err)
			}
		}
		put(of(mine, 1))
		if v, err := s.Get(ctx, of(mine, 1)); string(v) != "text" {
			t.Errorf("what came later: %q, %v", v, err)
		}
		if n, err := s.DeleteGroup(ctx, Group{1}); n != 0 || err != nil {
			t.Errorf("of a group without values: %d, %v", n, err)
		}
		over, cancel := context.WithCancel(ctx)
		cancel()
		if n, err := s.DeleteGroup(over, mine); err == nil && n > 0 {
			t.Error("it goes on after its context")
		}
	})
}
