package cli

import (
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"laconic/cli/findings"
	"laconic/compact"
	"laconic/config"
	"laconic/counting"
	"laconic/proxy/learn"
	"laconic/proxy/summarize"
	"laconic/store"
)

// summarizer makes the summarizer of the proxy; nil if none is configured.
func summarizer(c *config.Config) *summarize.Options {
	s := c.Summarizer
	if s.Model == "" {
		return nil
	}
	// A request under a policy that is not folded waits for its summary as long as all
	// others if the file sets that.
	wait := time.Duration(s.Wait)
	unfolded := wait
	if wait == 0 && !c.Has("summarizer.wait") {
		unfolded = summarize.DefaultUnfoldedWait
	}
	return &summarize.Options{
		Upstream: must(config.ParseUpstream(s.Upstream)), Model: s.Model, Key: s.APIKey, ClientCredential: s.Credential == "client",
		Wait: wait, WaitUnfolded: unfolded, Timeout: time.Duration(s.Timeout), Window: s.Window, Mask: s.Mask,
		Counter: must(counting.For(s.Model, "")),
	}
}

// storeOptions returns the store that the configuration wants.
func storeOptions(c *config.Config, notice func(string)) store.Options {
	s := c.Store
	return store.Options{
		Kind: s.Kind, Path: s.Path, URL: s.URL, Secret: []byte(s.Secret), Username: s.Username, Password: string(s.Password), Prefix: s.Prefix,
		TLS: s.TLS, TTL: time.Duration(s.TTL), Notice: notice,
	}
}

// storeWords returns where the store is; "" for one in memory.
func storeWords(c *config.Config) string {
	switch c.Store.Kind {
	case store.InFile:
		return c.Store.Path
	case store.InRedis:
		return store.ShownURL(c.Store.URL) + ", names begin with " + c.Store.Prefix
	}
	return ""
}

// sealWords returns whether a compaction that the upstream does not know is answered
// here.
func sealWords(c *config.Config) string {
	if !keepsFacts(c) && c.Store.Secret == "" {
		return "off: the store has no secret that lasts, so a refused compaction_trigger passes"
	}
	built, without := buildPolicies(c), []string(nil)
	for _, m := range append(slices.Clone(c.Models), config.Model{}) {
		name := cmp.Or(m.Policy, config.DefaultPolicy)
		if !slices.Contains(without, name) && !slices.ContainsFunc(built[name].Ladder, compact.Digests) {
			without = append(without, name)
		}
	}
	words := "a compaction_trigger that the upstream refuses is answered"
	if without != nil {
		words += ", but passes where a ladder has no summarize: " + strings.Join(without, ", ")
	}
	return words
}

// storeFacts returns how the store of a configuration is; nil for one in memory, and
// where none was opened.
func storeFacts(c *config.Config, v *store.Vault) *findings.Store {
	where := storeWords(c)
	if where == "" || v == nil {
		return nil
	}
	known := &findings.Store{Where: where}
	if fault := v.State().Fault; fault.Says != "" {
		known.Faults = []store.Fault{fault}
	}
	return known
}

// keptFacts is what the proxy has learnt of upstreams, in the store. It is kept
// where the store outlives the process; one in memory would add nothing.
type keptFacts struct{ vault *store.Vault }

// keepsFacts reports whether the store outlives the process, so that it is worth
// opening for facts alone.
func keepsFacts(c *config.Config) bool { return c.Store.Kind != store.InMemory }

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

// Watch hears of what is saved.
func (f keptFacts) Watch(ctx context.Context, saved func(learn.Key), missed func()) {
	f.vault.Hear(ctx, func(word string) {
		var key learn.Key
		hash, ok := strings.CutPrefix(word, factsWord)
		if n, err := hex.Decode(key[:], []byte(hash[:min(len(hash), 2*len(key))])); ok && err == nil && n == len(key) {
			saved(key)
		}
	}, missed)
}
