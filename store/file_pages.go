package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"time"

	bolt "go.etcd.io/bbolt"
)

// The file is a log with an index. Values stand in the order in which they
// came, so the oldest are found at once when room is needed, and pages fill up
// one after the other; the index says where a key's value stands.
var (
	byAge = []byte("values") // number → until (8 bytes), key (32 bytes), value
	byKey = []byte("index")  // key → number
)

const recordHead = 8 + 32

// recordBytes is what a value takes in the file beside itself, about: its
// head, its place in two trees, and half empty pages of the index.
const recordBytes = recordHead + 160

// write is one value on its way into the file.
type write struct {
	key   Key
	value []byte
	until time.Time
	err   chan error // takes one
}

// mostTogether is how many values one transaction takes.
const mostTogether = 256

// Put stores a value. It waits until it is on the disk.
func (f *File) Put(ctx context.Context, k Key, value []byte, ttl time.Duration) error {
	if len(value) > MaxValue+overhead {
		return ErrLarge
	}
	w := &write{key: k, value: value, until: time.Now().Add(ttl), err: make(chan error, 1)}
	select {
	case f.writes <- w:
	case <-f.stop:
		return ErrAbsent
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-w.err:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// writer writes what comes, as much at once as there is.
func (f *File) writer() {
	defer close(f.done)
	for {
		var batch []*write
		select {
		case w := <-f.writes:
			batch = append(batch, w)
		case <-f.stop:
			return
		}
	more:
		for len(batch) < mostTogether {
			select {
			case w := <-f.writes:
				batch = append(batch, w)
			default:
				break more
			}
		}
		err := f.commit(batch)
		for _, w := range batch {
			w.err <- err
		}
	}
}

// commit writes a batch in one transaction, and lets the oldest go that have
// no room any more.
func (f *File) commit(batch []*write) error {
	f.mu.RLock()
	db, held := f.db, f.held
	if db == nil {
		f.mu.RUnlock()
		return ErrAbsent
	}
	err := guarded(func() error {
		return db.Update(func(tx *bolt.Tx) error {
			for _, w := range batch {
				n, err := insert(tx, w)
				if err != nil {
					return err
				}
				held += n
			}
			n, err := evict(tx, held-f.most, time.Now())
			held -= n
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

// insert adds a value and gives by how many bytes the file grew.
func insert(tx *bolt.Tx, w *write) (int64, error) {
	values, index := tx.Bucket(byAge), tx.Bucket(byKey)
	values.FillPercent = 1 // it only grows at its end
	var freed int64
	if old := index.Get(w.key[:]); old != nil {
		if r := values.Get(old); r != nil {
			freed = int64(len(r)-recordHead) + recordBytes
			if err := values.Delete(bytes.Clone(old)); err != nil {
				return 0, err
			}
		}
	}
	n, err := values.NextSequence()
	if err != nil {
		return 0, err
	}
	record := binary.BigEndian.AppendUint64(make([]byte, 0, recordHead+len(w.value)), uint64(w.until.Unix()))
	record = append(append(record, w.key[:]...), w.value...)
	if err := values.Put(number(n), record); err != nil {
		return 0, err
	}
	if err := index.Put(w.key[:], number(n)); err != nil {
		return 0, err
	}
	return int64(len(w.value)) + recordBytes - freed, nil
}

// evict removes the oldest values until so many bytes are free, and those whose
// time is over as long as they are the oldest. It gives the bytes freed.
func evict(tx *bolt.Tx, excess int64, now time.Time) (freed int64, err error) {
	values, index := tx.Bucket(byAge), tx.Bucket(byKey)
	c := values.Cursor()
	for n, r := c.First(); n != nil; n, r = c.First() {
		if len(r) >= recordHead {
			if freed >= excess && binary.BigEndian.Uint64(r) > uint64(now.Unix()) {
				return freed, nil
			}
			if key := r[8:recordHead]; bytes.Equal(index.Get(key), n) {
				if err := index.Delete(bytes.Clone(key)); err != nil {
					return freed, err
				}
			}
			freed += int64(len(r)-recordHead) + recordBytes
		}
		if err := c.Delete(); err != nil {
			return freed, err
		}
	}
	return freed, nil
}

// find gives a copy of a key's value; nil where there is none.
func find(tx *bolt.Tx, k Key, now time.Time) []byte {
	n := tx.Bucket(byKey).Get(k[:])
	if n == nil {
		return nil
	}
	r := tx.Bucket(byAge).Get(n)
	if len(r) < recordHead || !bytes.Equal(r[8:recordHead], k[:]) || binary.BigEndian.Uint64(r) <= uint64(now.Unix()) {
		return nil
	}
	return bytes.Clone(r[recordHead:])
}

// count adds up what a file holds.
func count(tx *bolt.Tx) (held int64, err error) {
	err = tx.Bucket(byAge).ForEach(func(_, r []byte) error {
		held += max(0, int64(len(r)-recordHead)) + recordBytes
		return nil
	})
	return held, err
}
