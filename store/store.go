// Package store keeps small texts for a while: in memory, in a file, or in a
// Redis that several processes share. It does not know what they mean.
//
// It promises:
//
//   - sealed: a value is encrypted and bound to its key. A value that was swapped,
//     damaged, written under another secret or kept beyond its time is a miss.
//   - secret keys: a key is an HMAC of its parts. A reader of the store learns
//     neither what is in it nor what it was made from, but which values are of one
//     group, and of one partition.
//   - erasable: the values of a group can be removed, all of them.
//   - bounded: values, memory and file have a size that they do not exceed.
//   - versioned: a value in another format is a miss, whoever wrote it. The meaning
//     of a text is its user's affair: a key names the versions that it depends on.
//   - optional: a store that is absent, slow, full, read-only, damaged or lying
//     costs its user a miss, and at most [Patience] once. It never breaks a request.
//
// Callers use a [Vault]. Under it is a [Store], the part that differs: four
// methods, one file each.
package store

import (
	"context"
	"errors"
	"time"
)

// Key names a value: its group, the partition that it is a part of, and which part.
// Make it with Vault.Key.
type Key [groupBytes + partitionBytes + partBytes]byte

// Group names all values of one owner. Their keys begin with it. Make it with
// Vault.Group.
type Group [groupBytes]byte

// The lengths of what a key consists of. That of a partition needs no more: it says
// only which keys a store is to keep together.
const (
	groupBytes     = 16
	partitionBytes = 4
	partBytes      = 12
)

// Group returns the group of a key.
func (k Key) Group() Group { return Group(k[:groupBytes]) }

// Store keeps values under keys. All methods are safe for concurrent use, end
// with their context, and do not panic. A Store may forget anything at any
// time, and may be lied to: the Vault checks what it returns.
type Store interface {
	// Get returns the value of a key, or ErrMiss.
	Get(ctx context.Context, k Key) ([]byte, error)
	// Put stores a value for at most ttl, in place of any other.
	Put(ctx context.Context, k Key, value []byte, ttl time.Duration) error
	// DeleteGroup removes the values of a group that are stored when it begins,
	// and returns how many. With an error some may be left.
	DeleteGroup(ctx context.Context, g Group) (n int, err error)
	// Close ends it.
	Close()
}

// Errors of stores.
var (
	ErrMiss   = errors.New("no such value")
	ErrLarge  = errors.New("the value is too large")
	ErrAbsent = errors.New("the store is not available")
)

// Patience is how long a shared store may take for one answer.
const Patience = 100 * time.Millisecond

// Limits and defaults.
const (
	// MaxValue is the largest value in bytes. The slot of a conversation holds
	// a few thousand tokens; this is well above any of them.
	MaxValue = 256 << 10
	// DefaultTTL is how long a value is kept.
	DefaultTTL = 7 * 24 * time.Hour
	// defaultBytes bounds what memory and a file take.
	defaultBytes = 64 << 20
)
