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

// costOf returns what an entry takes in the file; 0 for none.
func costOf(r []byte) int64 {
	if r == nil {
		return 0
	}
	return int64(max(0, len(r)-entryHead)) + entryCost
}

// Put stores a value. It returns when the value is on the disk.
func (f *File) Put(ctx context.Context, k Key, value []byte, ttl time.Duration) error {
	return f.update(ctx, func(values *bolt.Bucket, held *int64) error {
		now := time.Now()
		if *held > f.most || now.Sub(f.swept) > sweepEvery {
			freed, err := sweep(values, *held-f.most*3/4, now)
			if err != nil {
				return err
			}
			*held, f.swept = *held-freed, now
		}
		record := append(binary.BigEndian.AppendUint64(nil, uint64(now.Add(ttl).UnixNano())), value...)
		*held += costOf(record) - costOf(values.Get(k[:]))
		return values.Put(k[:], record)
	})
}

// sweep removes the values that are over, and the oldest until so many bytes are free. It
// returns the bytes freed.
func sweep(values *bolt.Bucket, excess int64, now time.Time) (freed int64, err error) {
	type entry struct {
		until uint64
		cost  int64
		key   []byte
	}
	var all []entry
	err = values.ForEach(func(k, r []byte) error {
		e := entry{cost: costOf(r), key: bytes.Clone(k)}
		if len(r) >= entryHead {
			e.until = binary.BigEndian.Uint64(r)
		}
		all = append(all, e)
		return nil
	})
	slices.SortFunc(all, func(a, b entry) int { return cmp.Compare(a.until, b.until) })
	for _, e := range all {
		if err != nil || freed >= excess && e.until > uint64(now.UnixNano()) {
			break
		}
		freed += e.cost
		err = values.Delete(e.key)
	}
	return freed, err
}

// DeleteGroup removes the values of a group. Their sealed bytes may stay in pages of
// the file that are free, until those are written again.
func (f *File) DeleteGroup(ctx context.Context, g Group) (n int, err error) {
	err = f.update(ctx, func(values *bolt.Bucket, held *int64) error {
		var keys [][]byte
		c := values.Cursor()
		for k, r := c.Seek(g[:]); bytes.HasPrefix(k, g[:]); k, r = c.Next() {
			keys, *held = append(keys, bytes.Clone(k)), *held-costOf(r)
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

// update changes the file by do, which corrects how many bytes it holds. update returns
// when the change is on the disk.
func (f *File) update(ctx context.Context, do func(values *bolt.Bucket, held *int64) error) error {
	f.writing.Lock()
	defer f.writing.Unlock()
	return f.use(ctx, func(db *bolt.DB) error {
		held := f.held
		err := db.Update(func(tx *bolt.Tx) error { return do(tx.Bucket(byKey), &held) })
		if err == nil {
			f.held = held
		}
		return err
	})
}
