package cli

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"laconic/compact"
	"laconic/config"
	"laconic/proxy/summarize"
	"laconic/store"
)

// summarizer makes the summarizer of the proxy, without its store; nil if
// none is configured.
func summarizer(c *config.Config, counter makeCounter) (*summarize.Options, error) {
	s := c.Summarizer
	if s.Model == "" {
		return nil, nil
	}
	upstream, err := config.ParseUpstream(s.Upstream)
	if err != nil {
		return nil, err
	}
	count, err := counter(s.Model, "")
	if err != nil {
		return nil, err
	}
	return &summarize.Options{
		Upstream: upstream, Model: s.Model, Key: s.APIKey, ClientCredential: s.Credential == "client",
		Wait: time.Duration(s.Wait), WaitUnfolded: unfoldedWait(c), Timeout: time.Duration(s.Timeout), Window: s.Window, Mask: s.Mask,
		Counter: count,
	}, nil
}

// unfoldedWait returns how long a request under a policy that is not folded may wait
// for its summary: as long as all others if the file sets that.
func unfoldedWait(c *config.Config) time.Duration {
	if c.Has("summarizer.wait") || c.Summarizer.Wait > 0 {
		return time.Duration(c.Summarizer.Wait)
	}
	return summarize.DefaultUnfoldedWait
}

// unsummarized returns a hint for every policy in use under which the summarizer
// is never asked.
func unsummarized(c *config.Config) (says []config.Hint) {
	built, err := buildPolicies(c)
	if err != nil || c.Summarizer.Model == "" {
		return nil
	}
	used := map[string]bool{config.DefaultPolicy: !slices.ContainsFunc(c.Models, config.Model.Everything)}
	for _, m := range c.Models {
		used[cmp.Or(m.Policy, config.DefaultPolicy)] = true
	}
	for _, name := range slices.Sorted(maps.Keys(built)) {
		p, never := built[name], "under the policy "+name+" the summarizer is never asked: "
		switch {
		case !used[name]:
		case !fillsSlot(p):
			says = append(says, config.Hint{Says: never + "it puts no text in the place of what leaves", Fix: "summarize in its ladder, or no summarizer"})
		case p.PerRequest != nil && unfoldedWait(c) == 0:
			says = append(says, config.Hint{Says: never + "what it is to summarize is known with the request, and summarizer.wait is 0s", Fix: "summarizer.wait: 20s"})
		}
	}
	return says
}

// fillsSlot reports whether a policy puts a text in the place of what left.
func fillsSlot(p *compact.Policy) bool {
	return slices.ContainsFunc(p.Ladder, func(s compact.Stage) bool { _, ok := s.(compact.Digester); return ok })
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
		TLS: s.TLS.Files(), TTL: time.Duration(s.TTL),
		File: store.DefaultMemory,
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
	if keepsFacts(c) || c.Store.Secret != "" {
		return "a compaction_trigger that the upstream refuses is answered"
	}
	return "off: the store has no secret that lasts, so a refused compaction_trigger passes"
}

// summaryWords returns which model writes summaries, whose key it is asked with,
// and where they are kept.
func summaryWords(c *config.Config) string {
	s := c.Summarizer
	if s.Model == "" {
		return "off"
	}
	where := "memory"
	if keepsFacts(c) {
		where = "the store"
	}
	key := "without a key"
	switch {
	case s.APIKey != "":
		key = "with its api_key"
	case s.Credential == "client":
		key = "with the client's key"
	}
	return strings.Join([]string{s.Model, "at", config.ShownURL(s.Upstream), key + ",", "kept in", where, "for", c.Store.TTL.String()}, " ")
}
