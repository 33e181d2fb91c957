package store

import (
	"cmp"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// Vault is a Store whose keys say nothing and whose values cannot be read,
// swapped or altered. It remembers what it has given, so that a shared store
// that fails for a while does not take back what a caller relies on. Make it
// with Open or NewVault. It is safe for concurrent use.
type Vault struct {
	under  Store
	shared *Redis  // under, where other processes may share it; else nil
	near   *Memory // what was seen of a slower store; under itself, where that is one
	name   []byte  // the key of keys
	seal   cipher.AEAD
	ttl    time.Duration
	lasts  bool // see Lasts

	erasing  sync.RWMutex
	erasures atomic.Uint64 // groups that were removed
}

// nearBytes bounds what a process remembers of a slower store.
const nearBytes = 32 << 20

// ShortestSecret is the length of a secret that is worth the name, in bytes.
const ShortestSecret = 16

// NewVault makes a vault on a store, which it owns from then on, and closes if it fails.
// secret is at least 16 bytes; everyone who has it can read what is in the store. ttl 0:
// DefaultTTL.
func NewVault(under Store, secret []byte, ttl time.Duration) (*Vault, error) {
	if len(secret) < ShortestSecret {
		under.Close()
		return nil, errors.New("the secret of the store is shorter than 16 characters")
	}
	// These fail for lengths alone, and all of them are right.
	name, _ := hkdf.Key(sha256.New, secret, nil, "laconic store: names, version 2", 32)
	sealing, _ := hkdf.Key(sha256.New, secret, nil, "laconic store: values, version 1", 32)
	block, _ := aes.NewCipher(sealing)
	seal, _ := cipher.NewGCMWithRandomNonce(block)
	v := &Vault{under: under, name: name, seal: seal, ttl: cmp.Or(max(0, ttl), DefaultTTL), lasts: true}
	v.shared, _ = under.(*Redis)
	if v.near, _ = under.(*Memory); v.near == nil {
		v.near = NewMemory(nearBytes)
	}
	return v, nil
}

// Group returns the group of an owner. Each part counts with its length, so no two
// lists have the same group.
func (v *Vault) Group(owner ...string) Group {
	return Group(v.hash("group", nil, owner)[:groupBytes])
}

// Key returns the key of a list of parts, for a value of a group. partition names what
// the value is a part of: a store in several places keeps a partition in one.
func (v *Vault) Key(g Group, partition string, parts ...string) (k Key) {
	copy(k[:], g[:])
	copy(k[groupBytes:], v.hash("record", g[:], []string{partition})[:partitionBytes])
	copy(k[groupBytes+partitionBytes:], v.hash("part", g[:], append([]string{partition}, parts...))[:partBytes])
	return k
}

// hash returns the HMAC of a list of parts, each with its length.
func (v *Vault) hash(of string, g []byte, parts []string) []byte {
	h := hmac.New(sha256.New, v.name)
	for _, p := range append([]string{of, string(g)}, parts...) {
		h.Write(append(binary.BigEndian.AppendUint64(nil, uint64(len(p))), p...))
	}
	return h.Sum(nil)
}

// Get returns the text of a key, or false if there is none that can be trusted.
func (v *Vault) Get(ctx context.Context, k Key) (string, bool) {
	if sealed, err := v.near.Get(ctx, k); err == nil {
		if text, _, err := v.open(k, sealed); err == nil {
			return text, true
		}
	}
	seen := v.erasures.Load()
	sealed, text, left, err := v.ask(ctx, k)
	if err == nil {
		v.erasing.RLock()
		if v.erasures.Load() == seen { // else it may be what was erased
			_ = v.near.Put(ctx, k, sealed, left)
		}
		v.erasing.RUnlock()
	}
	return text, err == nil
}

// Erase removes the values of a group, here and in the store, and returns how many
// the store had. With an error some may be left there. A value that is put at the
// same time may stay.
func (v *Vault) Erase(ctx context.Context, g Group) (n int, err error) {
	n, err = v.under.DeleteGroup(ctx, g)
	v.erasing.Lock()
	defer v.erasing.Unlock()
	v.erasures.Add(1)
	_, _ = v.near.DeleteGroup(context.WithoutCancel(ctx), g)
	return n, err
}

// Latest is Get for a text that other processes replace: the store is asked in
// any case, and what this process remembers does not stand in for it. The error is
// ErrMiss where nothing is kept, or nothing that was sealed with this secret.
func (v *Vault) Latest(ctx context.Context, k Key) (string, error) {
	_, text, _, err := v.ask(ctx, k)
	return text, err
}

// ask asks the store itself.
func (v *Vault) ask(ctx context.Context, k Key) (sealed []byte, text string, left time.Duration, err error) {
	if sealed, err = v.under.Get(ctx, k); err == nil {
		text, left, err = v.open(k, sealed)
	}
	return sealed, text, left, err
}

// Put stores a text. The error says why it was not stored for others; this
// process remembers it all the same, if it is not too large.
func (v *Vault) Put(ctx context.Context, k Key, text string) error {
	if len(text) > MaxValue {
		return ErrLarge
	}
	sealed := v.sealed(k, text, time.Now().Add(v.ttl))
	_ = v.near.Put(ctx, k, sealed, v.ttl)
	return v.under.Put(ctx, k, sealed, v.ttl)
}

// Lock reports whether the caller is the one that should make the value of a key, for
// at most ttl. It is if no other process can ask, or if the store cannot say. release
// lets others make it, and may be called twice.
func (v *Vault) Lock(ctx context.Context, k Key, ttl time.Duration) (release func(), ok bool) {
	if v.shared == nil {
		return func() {}, true
	}
	release, ok, err := v.shared.Lock(ctx, k, ttl)
	return release, ok || err != nil
}

// Close closes the store.
func (v *Vault) Close() {
	v.near.Close()
	v.under.Close()
}

// A sealed value is a version, then what AES-256-GCM makes of the time until
// which it holds and the text. Key and version are authenticated with it. A release
// that writes values in another format raises the version: it misses what was
// written before, which expires, or is replaced under its key.
const (
	sealVersion = 1
	overhead    = 1 + 12 + 8 + 16 // version, nonce, time, tag
)

func (v *Vault) sealed(k Key, text string, until time.Time) []byte {
	plain := binary.BigEndian.AppendUint64(make([]byte, 0, 8+len(text)), uint64(until.Unix()))
	plain = append(plain, text...)
	out := append(make([]byte, 0, len(text)+overhead), sealVersion)
	return v.seal.Seal(out, nil, plain, k.bound())
}

func (v *Vault) open(k Key, sealed []byte) (text string, left time.Duration, err error) {
	if len(sealed) < overhead || sealed[0] != sealVersion {
		return "", 0, ErrMiss
	}
	plain, err := v.seal.Open(nil, nil, sealed[1:], k.bound())
	if err != nil {
		return "", 0, ErrMiss
	}
	if left = time.Until(time.Unix(int64(binary.BigEndian.Uint64(plain)), 0)); left <= 0 {
		return "", 0, ErrMiss
	}
	return string(plain[8:]), left, nil
}

// bound is what a value is bound to.
func (k Key) bound() []byte { return append([]byte{sealVersion}, k[:]...) }
