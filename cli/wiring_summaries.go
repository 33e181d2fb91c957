package cli

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"laconic/compact"
	"laconic/config"
	"laconic/counting"
	"laconic/proxy/summarize"
	"laconic/store"
)

// summarizer makes the summarizer of the proxy, without its store; nil if
// none is configured.
func summarizer(c *config.Config) *summarize.Options {
	s := c.Summarizer
	if s.Model == "" {
		return nil
	}
	return &summarize.Options{
		Upstream: must(config.ParseUpstream(s.Upstream)), Model: s.Model, Key: s.APIKey, ClientCredential: s.Credential == "client",
		Wait: time.Duration(s.Wait), WaitUnfolded: unfoldedWait(c), Timeout: time.Duration(s.Timeout), Window: s.Window, Mask: s.Mask,
		Counter: must(counting.For(s.Model, "")),
	}
}

// unfoldedWait returns how long a request under a policy that is not folded may wait
// for its summary: as long as all others if the file sets that.
func unfoldedWait(c *config.Config) time.Duration {
	if c.Has("summarizer.wait") || c.Summarizer.Wait > 0 {
		return time.Duration(c.Summarizer.Wait)
	}
	return summarize.DefaultUnfoldedWait
}

// openStore opens the store that the configuration wants.
func openStore(c *config.Config, notice func(string)) (*store.Vault, error) {
	o := storeOptions(c)
	o.Notice = notice
	return store.Open(o)
}

func storeOptions(c *config.Config) store.Options {
	s := c.Store
	return store.Options{
		Kind: store.Kind(s.Kind), Path: s.Path, URL: s.URL, Secret: []byte(s.Secret), Username: s.Username, Password: string(s.Password), Prefix: s.Prefix,
		TLS: s.TLS, TTL: time.Duration(s.TTL),
	}
}

// storeWords returns where the store is; "" for one in memory.
func storeWords(c *config.Config) string {
	switch store.Kind(c.Store.Kind) {
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
