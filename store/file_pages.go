package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"time"

	bolt "go.etcd.io/bbolt"
)

// The file is a log with an index. Values are in the order in which they came, so
// the oldest are found at once when room is needed, and pages fill up one after
// the other. The index has the number of each key's value.
var (
	byAge = []byte("values") // number → until (8 bytes), key (32 bytes), value
	byKey = []byte("index")  // key → number
)

const entryHead = 8 + 32

// entryCost is about what a value takes in the file beside itself: its head,
// its place in two trees, and half empty pages of the index.
const entryCost = entryHead + 160

// Put stores a value. It returns when the value is on the disk.
func (f *File) Put(ctx context.Context, k Key, value []byte, ttl time.Duration) error {
	if len(value) > MaxValue+overhead {
		return ErrLarge
	}
	return f.update(ctx, func(tx *bolt.Tx, held int64) (int64, error) {
		grown, err := insert(tx, k, value, time.Now().Add(ttl))
		if err != nil {
			return 0, err
		}
		freed, err := evict(tx, held+grown-f.most, time.Now())
		return grown - freed, err
	})
}

// update changes the file by do, which is told how many bytes it holds, and returns
// by how many it grew. update returns when the change is on the disk.
func (f *File) update(ctx context.Context, do func(tx *bolt.Tx, held int64) (int64, error)) error {
	f.writing.Lock()
	defer f.writing.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	f.mu.RLock()
	db, held := f.db, f.held
	if db == nil {
		f.mu.RUnlock()
		return ErrAbsent
	}
	err := guarded(func() error {
		return db.Update(func(tx *bolt.Tx) error {
			grown, err := do(tx, held)
			held += grown
			return err
		})
	})
	f.mu.RUnlock()
	switch {
	case damaged(err):
		f.broken(db)
	case err == nil:
		f.mu.Lock()
		if f.db == db {
			f.held = held
		}
		f.mu.Unlock()
	}
	return err
}

// DeleteGroup removes the values of a group. Their sealed bytes may stay in pages of
// the file that are free, until those are written again.
func (f *File) DeleteGroup(ctx context.Context, g Group) (n int, err error) {
	var freed int64
	err = f.update(ctx, func(tx *bolt.Tx, _ int64) (_ int64, err error) {
		n, freed, err = removeGroup(tx, g)
		return -freed, err
	})
	if err != nil {
		n = 0
	}
	return n, err
}

// removeGroup removes the values of a group, and returns how many they were and
// the bytes freed.
func removeGroup(tx *bolt.Tx, g Group) (n int, freed int64, err error) {
	values, index := tx.Bucket(byAge), tx.Bucket(byKey)
	var keys, numbers [][]byte
	c := index.Cursor()
	for k, number := c.Seek(g[:]); bytes.HasPrefix(k, g[:]); k, number = c.Next() {
		keys, numbers = append(keys, bytes.Clone(k)), append(numbers, bytes.Clone(number))
	}
	for i := range keys {
		if r := values.Get(numbers[i]); len(r) >= entryHead && bytes.Equal(r[8:entryHead], keys[i]) {
			n, freed = n+1, freed+int64(len(r)-entryHead)+entryCost
			if err := values.Delete(numbers[i]); err != nil {
				return n, freed, err
			}
		}
		if err := index.Delete(keys[i]); err != nil {
			return n, freed, err
		}
	}
	return n, freed, nil
}

// insert adds a value and returns by how many bytes the file grew.
func insert(tx *bolt.Tx, k Key, value []byte, until time.Time) (int64, error) {
	values, index := tx.Bucket(byAge), tx.Bucket(byKey)
	values.FillPercent = 1 // it only grows at its end
	var freed int64
	if old := index.Get(k[:]); old != nil {
		if r := values.Get(old); r != nil {
			freed = int64(len(r)-entryHead) + entryCost
			if err := values.Delete(bytes.Clone(old)); err != nil {
				return 0, err
			}
		}
	}
	n, err := values.NextSequence()
	if err != nil {
		return 0, err
	}
	record := binary.BigEndian.AppendUint64(make([]byte, 0, entryHead+len(value)), uint64(until.Unix()))
	record = append(append(record, k[:]...), value...)
	if err := values.Put(number(n), record); err != nil {
		return 0, err
	}
	if err := index.Put(k[:], number(n)); err != nil {
		return 0, err
	}
	return int64(len(value)) + entryCost - freed, nil
}

// evict removes the oldest values until so many bytes are free, and expired ones
// as long as they are the oldest. It returns the bytes freed.
func evict(tx *bolt.Tx, excess int64, now time.Time) (freed int64, err error) {
	values, index := tx.Bucket(byAge), tx.Bucket(byKey)
	c := values.Cursor()
	for n, r := c.First(); n != nil; n, r = c.First() {
		if len(r) >= entryHead {
			if freed >= excess && binary.BigEndian.Uint64(r) > uint64(now.Unix()) {
				return freed, nil
			}
			if key := r[8:entryHead]; bytes.Equal(index.Get(key), n) {
				if err := index.Delete(bytes.Clone(key)); err != nil {
					return freed, err
				}
			}
			freed += int64(len(r)-entryHead) + entryCost
		}
		if err := c.Delete(); err != nil {
			return freed, err
		}
	}
	return freed, nil
}

// find returns a copy of a key's value, or nil.
func find(tx *bolt.Tx, k Key, now time.Time) []byte {
	n := tx.Bucket(byKey).Get(k[:])
	if n == nil {
		return nil
	}
	r := tx.Bucket(byAge).Get(n)
	if len(r) < entryHead || !bytes.Equal(r[8:entryHead], k[:]) || binary.BigEndian.Uint64(r) <= uint64(now.Unix()) {
		return nil
	}
	return bytes.Clone(r[entryHead:])
}

// count returns how many bytes a file holds.
func count(tx *bolt.Tx) (held int64, err error) {
	err = tx.Bucket(byAge).ForEach(func(_, r []byte) error {
		held += max(0, int64(len(r)-entryHead)) + entryCost
		return nil
	})
	return held, err
}
