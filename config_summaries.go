package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"laconic/compact"
	"laconic/proxy"
	"laconic/store"
	"laconic/tokenize"
)

// SummarizerConfig is the model that writes summaries. Without a model there is
// none, and slots hold digests.
type SummarizerConfig struct {
	Model      string       `json:"model,omitempty"`
	Upstream   string       `json:"upstream,omitempty"` // "": the top-level one
	APIKey     proxy.Secret `json:"api_key,omitempty"`
	Credential string       `json:"credential,omitempty" check:"oneof=own|client"`
	Wait       Duration     `json:"wait,omitempty" check:"min=0"`
	Timeout    Duration     `json:"timeout,omitempty" check:"above=0"`
	Window     int          `json:"window,omitempty" check:"min=4096"` // proxy.LeastSummaryWindow
	Workers    int          `json:"workers,omitempty" check:"min=1,max=256"`
	Mask       bool         `json:"mask,omitempty"`
}

// StoreConfig is where summaries are kept, and what was learnt of upstreams.
type StoreConfig struct {
	Kind   string       `json:"kind,omitempty" check:"oneof=memory|file|redis"`
	Path   string       `json:"path,omitempty"`
	URL    string       `json:"url,omitempty"`
	Secret proxy.Secret `json:"secret,omitempty"`
	TTL    Duration     `json:"ttl,omitempty" check:"above=0"`
	Size   Size         `json:"size,omitempty" check:"min=1048576"`
}

// summaries judges the summarizer and its store.
func (ch *checking) summaries() {
	s := ch.Summarizer
	if ch.named("summarizer") && !ch.broken("summarizer") && s.Model == "" && !ch.broken("summarizer.model") {
		ch.at("summarizer", codeMissing, "summarizer has no model", "the name of the model that is to write the summaries, such as gpt-4o-mini")
	}
	if n := ch.summaryWindow(); s.Model != "" && s.Window == 0 && !ch.broken("default_window") && n < proxy.LeastSummaryWindow {
		ch.blame("default_window", "summarizer", codeRange, fmt.Sprintf("summarizer has a window of %d tokens, and %d are needed", n, proxy.LeastSummaryWindow),
			"set summarizer.window to what its model has")
	}
	if s.Upstream != "" || ch.named("summarizer.upstream") {
		ch.upstream("summarizer.upstream", s.Upstream)
	}
	keyed := s.APIKey != "" || ch.named("summarizer.api_key")
	if keyed && ch.given("summarizer.api_key") {
		ch.header("summarizer.api_key", string(s.APIKey))
	}
	hasClientKeys := len(ch.ClientKeys) > 0 || ch.broken("client_keys")
	switch client := s.Credential == "client"; {
	case client && keyed:
		ch.at("summarizer.credential", codeKey, "summarizer has both an api_key and credential: client", "credential: client sends the client's key; remove one of the two")
	case client && hasClientKeys:
		ch.at("summarizer.credential", codeKey, "summarizer cannot have the client's credential: with client_keys it goes no further than this proxy", "give it an api_key")
	case keyed && !hasClientKeys && !loopbackAddress(ch.Listen) && addressFault(ch.Listen) == nil:
		ch.blame("listen", "summarizer.api_key", codeKey, "listen is open to other machines and summarizer has an api_key, which everyone who gets here could spend",
			"set client_keys, or credential: client, or listen on 127.0.0.1")
	}
	ch.store()
}

func (ch *checking) store() {
	s := ch.Store
	given := s.Secret != "" || ch.named("store.secret")
	if given && ch.given("store.secret") {
		ch.long("store.secret", string(s.Secret))
	}
	switch store.Kind(s.Kind) {
	case store.InFile:
		if s.Path == "" && !ch.broken("store.path") {
			ch.at("store.path", codeMissing, "store.path is empty, and kind: file needs one", "such as laconic.db")
		}
	case store.InRedis:
		if !ch.broken("store.url") {
			if s.URL == "" {
				ch.at("store", codeMissing, "store has no url, and kind: redis needs one", "such as redis://127.0.0.1:6379/0")
			} else if store.CheckURL(s.URL) != nil {
				ch.at("store.url", codeURL, "store.url is not the URL of a Redis", "such as redis://127.0.0.1:6379/0, rediss:// for TLS, unix:///path")
			}
		}
		if !given {
			ch.at("store", codeSecret, "store has no secret, and kind: redis needs one", "all who share the store need the same; without one everyone who reaches it could read it")
		}
	}
}

// summarizer makes the summarizer of the proxy, without its store; nil where
// there is none.
func (c *Config) summarizer(counter makeCounter) (*proxy.Summarizer, error) {
	s := c.Summarizer
	if s.Model == "" {
		return nil, nil
	}
	upstream, err := parseUpstream(orElse(s.Upstream, c.Upstream))
	if err != nil {
		return nil, err
	}
	count, err := counter(s.Model, "")
	if err != nil {
		return nil, err
	}
	return &proxy.Summarizer{
		Upstream: upstream, Model: s.Model, Key: s.APIKey, ClientCredential: s.Credential == "client",
		Wait: time.Duration(s.Wait), WaitUnfolded: c.unfoldedWait(), Timeout: time.Duration(s.Timeout), Window: c.summaryWindow(), Workers: s.Workers, Mask: s.Mask,
		Counter: count,
	}, nil
}

// unfoldedWait is how long a request under a policy that is not folded may wait
// for its summary: as all do where the file says how long that is.
func (c *Config) unfoldedWait() time.Duration {
	if c.named("summarizer.wait") || c.Summarizer.Wait > 0 {
		return time.Duration(c.Summarizer.Wait)
	}
	return proxy.DefaultUnfoldedWait
}

// unsummarized says of every policy in use why the summarizer is not asked under
// it.
func (c *Config) unsummarized() (says []string) {
	built, err := c.policies()
	if err != nil || c.Summarizer.Model == "" {
		return nil
	}
	used := map[string]bool{defaultPolicy: !slices.ContainsFunc(c.Models, ModelConfig.everything)}
	for _, m := range c.Models {
		used[orElse(m.Policy, defaultPolicy)] = true
	}
	for _, name := range slices.Sorted(maps.Keys(built)) {
		p := built[name]
		switch {
		case !used[name]:
		case !fillsSlot(p):
			says = append(says, "under the policy "+name+" the summarizer is never asked: it puts no text in the place of what leaves")
		case p.Once && c.unfoldedWait() == 0:
			says = append(says, "under the policy "+name+" the summarizer is never asked: what it is to summarize is known with the request, and summarizer.wait is 0s")
		}
	}
	return says
}

// fillsSlot reports whether a policy puts a text in the place of what left.
func fillsSlot(p *compact.Policy) bool {
	return slices.ContainsFunc(p.Ladder, func(s compact.Stage) bool { _, ok := s.(compact.Digester); return ok })
}

// summaryWindow is the window of the model that writes summaries.
func (c *Config) summaryWindow() int {
	if c.Summarizer.Window > 0 {
		return c.Summarizer.Window
	}
	known, input, ok := tokenize.Window(c.Summarizer.Model)
	switch {
	case !ok:
		return c.DefaultWindow
	case input > 0:
		return min(known, input)
	}
	return known
}

// openStore opens the store that the configuration wants.
func (c *Config) openStore(notice func(string)) (*store.Vault, error) {
	s := c.Store
	return store.Open(store.Options{
		Kind: store.Kind(s.Kind), Path: s.Path, URL: s.URL, Secret: []byte(s.Secret), TTL: time.Duration(s.TTL),
		Memory: int(s.Size), File: int64(s.Size), Notice: notice,
	})
}

// summaryWords says what model writes summaries, whose key it is asked with,
// and where they are kept.
func (c *Config) summaryWords() string {
	s := c.Summarizer
	if s.Model == "" {
		return "off"
	}
	where := c.Store.Kind
	switch store.Kind(c.Store.Kind) {
	case store.InFile:
		where = c.Store.Path
	case store.InRedis:
		where = shownURL(c.Store.URL)
	}
	key := "without a key"
	switch {
	case s.APIKey != "":
		key = "with its api_key"
	case s.Credential == "client":
		key = "with the client's key"
	}
	return strings.Join([]string{s.Model, "at", shownURL(orElse(s.Upstream, c.Upstream)), key + ",", "kept in", where, "for", c.Store.TTL.String()}, " ")
}
