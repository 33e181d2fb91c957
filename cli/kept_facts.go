package cli

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"

	"laconic/config"
	"laconic/proxy/access"
	"laconic/proxy/learn"
	"laconic/store"
)

// keptFacts is what the proxy has learnt of upstreams, in the store. It is kept
// where the store outlives the process; one in memory would add nothing.
type keptFacts struct{ vault *store.Vault }

// keepsFacts reports whether the store outlives the process, so that it is worth
// opening for facts alone.
func keepsFacts(c *config.Config) bool {
	k := store.Kind(c.Store.Kind)
	return k != "" && k != store.InMemory
}

// factsIn keeps facts in a vault. Their names are keyed by the secret of the
// store, so that whoever shares the one shares the other.
func factsIn(v *store.Vault) (learn.Store, access.Secret) {
	secret := v.Key(v.Group("facts"), "the key of the names of facts, version 2") // no value is kept under it
	return keptFacts{v}, access.Secret(secret[:])
}

func (f keptFacts) key(k learn.Key) store.Key {
	return f.vault.Key(f.vault.Group("facts"), string(k[:]), "version 2")
}

// Load returns what a process has learnt last, and reports whether the store answered.
func (f keptFacts) Load(ctx context.Context, key learn.Key) (l learn.Facts, ok bool) {
	text, err := f.vault.Latest(ctx, f.key(key))
	if err != nil {
		return learn.Facts{}, errors.Is(err, store.ErrMiss)
	}
	if json.Unmarshal([]byte(text), &l) != nil {
		l = learn.Facts{}
	}
	return l, true
}

// Save keeps what was learnt, and tells the other processes. The store logs its own
// failures; the process that learnt a fact keeps it in memory, too.
func (f keptFacts) Save(ctx context.Context, key learn.Key, l learn.Facts) bool {
	text, err := json.Marshal(l)
	if err != nil || f.vault.Put(ctx, f.key(key), string(text)) != nil {
		return false
	}
	_ = f.vault.Call(ctx, factsWord+hex.EncodeToString(key[:])) // the store says so itself; they are read soon anyway
	return true
}

// factsWord is the word by which a process tells that it has saved facts, and what
// the key of them follows, a keyed hash.
const factsWord = "facts "

// Watch implements [learn.Watcher].
func (f keptFacts) Watch(ctx context.Context, saved func(learn.Key), missed func()) {
	f.vault.Hear(ctx, func(word string) {
		var key learn.Key
		hash, ok := strings.CutPrefix(word, factsWord)
		if n, err := hex.Decode(key[:], []byte(hash[:min(len(hash), 2*len(key))])); ok && err == nil && n == len(key) {
			saved(key)
		}
	}, missed)
}
