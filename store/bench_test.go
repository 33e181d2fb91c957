package store

import (
	"context"
	"encoding/binary"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"laconic/store/storetest"
)

// summary is a text of the size of one: about 2,000 tokens.
var summary = strings.Repeat("eight by", 1000)

// BenchmarkGet is what a request pays for a text that is there: near is what
// this process has seen before, far is what it has not.
func BenchmarkGet(b *testing.B) {
	ctx := context.Background()
	for _, s := range backends {
		b.Run(s.name, func(b *testing.B) {
			v := vaultOn(b, s.open(b), testSecret)
			k := v.Key(Group{1}, "record", "k")
			if err := v.Put(ctx, k, summary); err != nil {
				b.Fatal(err)
			}
			get := func(b *testing.B) {
				for b.Loop() {
					if _, ok := v.Get(ctx, k); !ok {
						b.Fatal("a miss")
					}
				}
			}
			b.Run("near", get)
			if v.near != nil {
				near := v.near
				v.near = nil
				b.Run("far", get)
				v.near = near
			}
		})
	}
}

// BenchmarkMillionKeys fills stores far past their bounds, and fails where one
// is passed. Run it with -benchtime 1x.
func BenchmarkMillionKeys(b *testing.B) {
	const keys = 1_000_000
	fill := func(b *testing.B, s Store) {
		value := make([]byte, 300)
		var wg sync.WaitGroup
		const writers = 512
		for w := range writers {
			wg.Go(func() {
				var k Key
				for i := w; i < keys; i += writers {
					binary.BigEndian.PutUint64(k[:], uint64(i)*0x9E3779B97F4A7C15)
					if err := s.Put(context.Background(), k, value, DefaultTTL); err != nil {
						b.Error(err)
						return
					}
				}
			})
		}
		wg.Wait()
	}
	b.Run("memory", func(b *testing.B) {
		for b.Loop() {
			const bound = 32 << 20
			before := heap()
			m := NewMemory(bound)
			fill(b, m)
			m.values.CleanUp()
			held := heap() - before
			runtime.KeepAlive(m)
			m.Close()
			b.ReportMetric(float64(held)/(1<<20), "MB")
			if held > 2*bound {
				b.Errorf("a memory of %d bytes takes %d", bound, held)
			}
		}
	})
	b.Run("file", func(b *testing.B) {
		for b.Loop() {
			const bound = 64 << 20
			path := filepath.Join(b.TempDir(), "x.db")
			f := openTestFile(b, path, bound)
			fill(b, f)
			f.Close()
			info, err := os.Stat(path)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(info.Size())/(1<<20), "MB")
			if info.Size() > 2*bound {
				b.Errorf("a file of %d bytes takes %d", bound, info.Size())
			}
		}
	})
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// BenchmarkLock is what a replica pays to know whether another one asks.
func BenchmarkLock(b *testing.B) {
	s := openTestRedis(b, storetest.StartRedis(b).URL(), nil)
	ctx := context.Background()
	for b.Loop() {
		release, ok, err := s.Lock(ctx, keyOf(1), DefaultTTL)
		if err != nil || !ok {
			b.Fatal(ok, err)
		}
		release()
	}
}
