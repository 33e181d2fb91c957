package store

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"laconic/store/storetest"
)

// TestAStoreThatIsAwayIsSeen, and that it is back, also while nobody asks it for
// anything: words of others are listened for.
func TestAStoreThatIsAwayIsSeen(t *testing.T) {
	t.Parallel()
	server := storetest.StartRedis(t)
	var lines told
	s := openTestRedis(t, server.URL(), lines.add)
	v := vaultOn(t, s, testSecret)
	if got := v.State(); got.Fault.Says != "" || got.Silent {
		t.Errorf("before it was asked: %+v", got)
	}
	ctx, stop := context.WithCancel(t.Context())
	var ended sync.WaitGroup
	ended.Go(func() { s.Hear(ctx, func(string) {}, func() {}) })
	is := func(fault string, silent bool) {
		t.Helper()
		soon(t, "its fault is: "+fault, func() bool {
			now := v.State()
			return now.Fault.Says == fault && now.Silent == silent
		})
	}
	soon(t, "it is heard", func() bool { return s.client.PoolStats().PubSubStats.Active == 1 })
	server.Stop()
	is("the store does not answer: no connection", true)
	_, _ = s.Get(ctx, keyOf(1))
	server.Start(t)
	is("", false)
	stop()
	ended.Wait()
	if got := lines.all(); !strings.HasPrefix(got, "the store does not answer: no connection\nthe store answers again, after ") || strings.Count(got, "\n") != 1 {
		t.Errorf("told %q", got)
	}
}

// TestWhatAStoreRefusesIsSeen by operation.
func TestWhatAStoreRefusesIsSeen(t *testing.T) {
	ctx := context.Background()
	server := storetest.StartRedis(t)
	s := openTestRedis(t, server.URL(), nil)
	v := vaultOn(t, s, testSecret)
	k := v.Key(v.Group("g"), "r")
	is := func(fault, refused string) {
		t.Helper()
		_ = v.Put(ctx, k, "text")
		_, _ = v.Latest(ctx, k)
		if release, ok := v.Lock(ctx, k, time.Minute); ok {
			release()
		}
		now := v.State()
		var all []string
		for _, name := range []string{"get", "put", "lock", "erase", "call", "hear"} {
			if yes, known := now.Refuses[name]; !known {
				t.Errorf("nothing is said of %s", name)
			} else if yes {
				all = append(all, name)
			}
		}
		if got := strings.Join(all, " "); now.Fault.Says != fault || got != refused || now.Silent {
			t.Errorf("refuses %q, %q; want %q, %q", got, now.Fault.Says, refused, fault)
		}
	}
	do := func(command string) {
		t.Helper()
		if reply, err := server.Do(command); err != nil {
			t.Fatal(reply, err)
		}
	}
	is("", "")
	do("REPLICAOF 127.0.0.1 1")
	is("the store refuses: READONLY", "put lock")
	do("REPLICAOF NO ONE")
	is("", "")
	do("ACL SETUSER default -getrange")
	is("the store refuses get: NOPERM", "get")
	do("ACL SETUSER default +getrange")
	is("", "")
}
