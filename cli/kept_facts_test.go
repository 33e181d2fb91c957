package cli

import (
	"bytes"
	"context"
	"path/filepath"
	"testing"
	"time"

	"laconic/config"
	"laconic/proxy"
	"laconic/proxy/access"
	"laconic/store"
	"laconic/store/storetest"
)

// TestFactsAreKeptInTheStore: over a restart in a file, among processes in a
// Redis, under names that only who has the secret can make.
func TestFactsAreKeptInTheStore(t *testing.T) {
	const secret = "a secret of this test"
	until := time.Now().Add(time.Hour).UTC()
	want := proxy.Learnt{Window: 2000, Sums: true, Answer: 512, Until: until, Percent: 115, PercentUntil: until, Shape: proxy.ShapeNoSlot, ShapeUntil: until}
	key, ctx := proxy.FactKey{1, 2, 3}, context.Background()
	file := config.Store{Kind: "file", Path: filepath.Join(t.TempDir(), "x.db")} // its secret is beside it
	for _, s := range []config.Store{file, {Kind: "redis", URL: storetest.StartRedis(t).URL(), Secret: secret}} {
		t.Run(s.Kind, func(t *testing.T) {
			c := &config.Config{Store: s}
			if !keepsFacts(c) {
				t.Error("it is not used")
			}
			open := func() (proxy.Facts, access.Secret, *store.Vault) {
				t.Helper()
				v, err := openStore(c, func(line string) { t.Error(line) })
				if err != nil {
					t.Fatal(err)
				}
				f, key := factsIn(v)
				return f, key, v
			}
			f, named, v := open()
			if l, ok := f.Load(ctx, key); ok {
				t.Errorf("there is %+v", l)
			}
			f.Save(ctx, key, proxy.Learnt{Window: 1})
			f.Save(ctx, key, want)
			v.Close()
			f, again, v := open()
			defer v.Close()
			if l, ok := f.Load(ctx, key); !ok || l != want {
				t.Errorf("got %+v %v", l, ok)
			}
			if l, ok := f.Load(ctx, proxy.FactKey{1}); ok {
				t.Errorf("another key: %+v", l)
			}
			if named != again || len(named) < 32 || bytes.Contains([]byte(named), []byte(secret)) {
				t.Error("the names have another key, or none, or the secret itself")
			}
			if err := v.Put(ctx, keptFacts{v}.key(key), `{"window": "x"}`); err != nil {
				t.Fatal(err)
			}
			if l, ok := f.Load(ctx, key); ok || l != (proxy.Learnt{}) {
				t.Errorf("of a text that is none: %+v", l)
			}
		})
	}
	for _, kind := range []string{"", "memory"} {
		if c := (&config.Config{Store: config.Store{Kind: kind}}); keepsFacts(c) {
			t.Errorf("a store in memory (%q) is opened for facts", kind)
		}
	}
}
