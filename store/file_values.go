package store

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"slices"
	"time"

	bolt "go.etcd.io/bbolt"
)

// byKey is the file's one bucket: key → until (8 bytes, in nanoseconds), value.
var byKey = []byte("by key")

const entryHead = 8

// entryCost is about what a value takes in the file beside itself: its key, its head, and
// half empty pages.
const entryCost = 160

// sweepEvery is how often values that are over are looked for.
const sweepEvery = time.Hour

// costOf returns what an entry takes in the file.
func costOf(r []byte) int64 { return int64(max(0, len(r)-entryHead)) + entryCost }

// Put stores a value. It returns when the value is on the disk.
func (f *File) Put(ctx context.Context, k Key, value []byte, ttl time.Duration) error {
	f.writing.Lock()
	defer f.writing.Unlock()
	now := time.Now()
	if f.fresh > f.most/4 || now.Sub(f.swept) > sweepEvery {
		if err := f.update(ctx, func(values *bolt.Bucket) error { return sweep(values, f.most*3/4, now) }); err != nil {
			return err
		}
		f.fresh, f.swept = 0, now
	}
	entry := append(binary.BigEndian.AppendUint64(nil, uint64(now.Add(ttl).UnixNano())), value...)
	f.fresh += costOf(entry)
	return f.update(ctx, func(values *bolt.Bucket) error { return values.Put(k[:], entry) })
}

// sweep removes the values that are over, and the oldest until no more than most bytes
// are left.
func sweep(values *bolt.Bucket, most int64, now time.Time) error {
	type entry struct {
		until uint64
		cost  int64
		key   []byte
	}
	var all []entry
	held := int64(0)
	err := values.ForEach(func(k, r []byte) error {
		e := entry{cost: costOf(r), key: bytes.Clone(k)}
		if len(r) >= entryHead {
			e.until = binary.BigEndian.Uint64(r)
		}
		all, held = append(all, e), held+e.cost
		return nil
	})
	slices.SortFunc(all, func(a, b entry) int { return cmp.Compare(a.until, b.until) })
	for _, e := range all {
		if err != nil || held <= most && e.until > uint64(now.UnixNano()) {
			break
		}
		held -= e.cost
		err = values.Delete(e.key)
	}
	return err
}

// DeleteGroup removes the values of a group. Their sealed bytes may stay in pages of
// the file that are free, until those are written again.
func (f *File) DeleteGroup(ctx context.Context, g Group) (n int, err error) {
	err = f.update(ctx, func(values *bolt.Bucket) error {
		var keys [][]byte
		c := values.Cursor()
		for k, _ := c.Seek(g[:]); bytes.HasPrefix(k, g[:]); k, _ = c.Next() {
			keys = append(keys, bytes.Clone(k))
		}
		for _, k := range keys {
			if err := values.Delete(k); err != nil {
				return err
			}
		}
		n = len(keys)
		return nil
	})
	return n, err
}

// update changes the file by do, and returns when the change is on the disk.
func (f *File) update(ctx context.Context, do func(values *bolt.Bucket) error) error {
	return f.use(ctx, func(db *bolt.DB) error {
		return db.Update(func(tx *bolt.Tx) error { return do(tx.Bucket(byKey)) })
	})
}
