package cli

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"laconic/compact"
	"laconic/config"
	"laconic/proxy/learn"
	"laconic/store"
	"laconic/store/storetest"
)

// TestFactsAreKeptInTheStore: over a restart in a file, among processes in a
// Redis, under names that only who has the secret can make.
func TestFactsAreKeptInTheStore(t *testing.T) {
	const secret = "a secret of this test"
	until := time.Now().Add(time.Hour).UTC()
	want := learn.Facts{
		Window: learn.Fact[int]{Value: 2000, Until: until}, Count: learn.Fact[learn.Count]{Value: learn.Count{Percent: 115}, Until: until},
		Demands: learn.Fact[compact.Demands]{Value: compact.NoSlot, Until: until},
	}
	key, ctx := learn.Key{1, 2, 3}, context.Background()
	file := config.Store{Kind: "file", Path: filepath.Join(t.TempDir(), "x.db")} // its secret is beside it
	for _, s := range []config.Store{file, {Kind: "redis", URL: storetest.StartRedis(t).URL(), Secret: secret}} {
		t.Run(string(s.Kind), func(t *testing.T) {
			c := &config.Config{Store: s}
			if !keepsFacts(c) {
				t.Error("it is not used")
			}
			open := func() (learn.Store, *store.Vault) {
				t.Helper()
				v := must(store.Open(storeOptions(c, func(line string) { t.Error(line) })))
				return keptFacts{v}, v
			}
			f, v := open()
			if l, ok := f.Load(ctx, key); !ok || !l.Equal(learn.Facts{}) {
				t.Errorf("there is %+v", l)
			}
			f.Save(ctx, key, learn.Facts{})
			f.Save(ctx, key, want)
			v.Close()
			f, v = open()
			defer v.Close()
			if l, ok := f.Load(ctx, key); !ok || !l.Equal(want) {
				t.Errorf("got %+v %v", l, ok)
			}
			if l, ok := f.Load(ctx, learn.Key{1}); !ok || !l.Equal(learn.Facts{}) {
				t.Errorf("another key: %+v", l)
			}
			for _, other := range []string{
				`{"window": "x"}`,
				`{"window":2000,"until":"2030-01-01T00:00:00Z","took":1500,"took_until":"2030-01-01T00:00:00Z"}`, // as older versions wrote it
			} {
				if err := v.Put(ctx, keptFacts{v}.key(key), other); err != nil {
					t.Fatal(err)
				}
				if l, ok := f.Load(ctx, key); !ok || !l.Equal(learn.Facts{}) {
					t.Errorf("of %s: %+v", other, l)
				}
			}
		})
	}
	if keepsFacts(config.Default()) {
		t.Error("a store in memory is opened for facts")
	}
}
