package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"path/filepath"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"
)

// TestAValueOfAnotherVersionIsAMissAndExpires: another version of the program has
// written it, in another format under the same key. It is never taken for one of this
// version, goes at its own time, and stands in nobody's way until then.
func TestAValueOfAnotherVersionIsAMissAndExpires(t *testing.T) {
	ctx := context.Background()
	eachStore(t, func(t *testing.T, s Store) {
		for version := range byte(4) {
			if version == sealVersion {
				continue
			}
			v := vaultOn(t, s, testSecret)
			k := v.Key(Group{1}, "record", "k", string(version))
			plain := append(binary.BigEndian.AppendUint64(nil, uint64(time.Now().Add(time.Hour).Unix())), "text"...)
			sealed := v.seal.Seal([]byte{version}, nil, plain, append([]byte{version}, k[:]...))
			for name, value := range map[string][]byte{
				"as it is": sealed, "under our number": append([]byte{sealVersion}, sealed[1:]...),
				"of our format under its number": append([]byte{version}, v.sealed(k, "text", time.Now().Add(time.Hour))[1:]...),
			} {
				mustPut(t, s, k, value, time.Hour)
				if text, ok := v.Get(ctx, k); ok {
					t.Errorf("version %d, %s: %q", version, name, text)
				}
				if text, err := v.Latest(ctx, k); err == nil {
					t.Errorf("version %d, %s, the latest: %q", version, name, text)
				}
				if left := timeLeft(t, s, k); left <= 0 || left > time.Hour {
					t.Errorf("version %d, %s: it goes in %v, want an hour at most", version, name, left)
				}
			}
			mustPutText(t, v, k, "ours")
			if text, ok := vaultOn(t, s, testSecret).Get(ctx, k); !ok || text != "ours" {
				t.Errorf("in its place: %q %v", text, ok)
			}
		}
	})
}

// timeLeft returns how long a store keeps a value.
func timeLeft(t *testing.T, s Store, k Key) (left time.Duration) {
	t.Helper()
	switch s := s.(type) {
	case *Memory:
		e, _ := s.values.GetEntryQuietly(k)
		left = e.ExpiresAfter()
	case *Redis:
		var err error
		if left, err = s.client.PTTL(context.Background(), s.named(k)).Result(); err != nil {
			t.Fatal(err)
		}
	case *File:
		_ = s.db.View(func(tx *bolt.Tx) error {
			left = time.Until(time.Unix(0, int64(binary.BigEndian.Uint64(tx.Bucket(byKey).Get(k[:])))))
			return nil
		})
	}
	return left
}

// TestWhatIsOverLeavesTheFile within an hour and a value, although nobody asks for it: the
// keys of another version never are.
func TestWhatIsOverLeavesTheFile(t *testing.T) {
	s := openTestFile(t, filepath.Join(t.TempDir(), "x.db"), 0)
	for i := range 50 {
		mustPut(t, s, keyOf(i), bytes.Repeat([]byte("x"), 10_000), -time.Second)
	}
	s.swept = s.swept.Add(-2 * sweepEvery)
	mustPut(t, s, keyOf(100), []byte("x"), time.Hour)
	_ = s.db.View(func(tx *bolt.Tx) error {
		if values := tx.Bucket(byKey).Stats().KeyN; values != 1 {
			t.Errorf("%d values are left, want 1", values)
		}
		return nil
	})
	if held := heldBy(s); held > 1000 {
		t.Errorf("it holds %d bytes", held)
	}
}
