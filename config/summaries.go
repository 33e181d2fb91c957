package config

import (
	"cmp"
	"fmt"

	"laconic/proxy/access"
	"laconic/store"
	"laconic/tokenize"
)

// Summarizer is the model that writes summaries. Without a model there is
// none, and slots hold digests. In a Config upstream and window are resolved.
type Summarizer struct {
	Model      string        `json:"model,omitempty"`
	Upstream   string        `json:"upstream,omitempty"`
	APIKey     access.Secret `json:"api_key,omitempty"`
	Credential string        `json:"credential,omitempty"`
	Wait       Duration      `json:"wait,omitempty"`
	Timeout    Duration      `json:"timeout,omitempty"`
	Window     int           `json:"window,omitempty"`
	Mask       bool          `json:"mask"`
}

// Store is where summaries are kept, and what was learnt of upstreams.
type Store struct {
	Kind     store.Kind     `json:"kind,omitempty"`
	Path     string         `json:"path,omitempty"`
	URL      string         `json:"url,omitempty"`
	Username string         `json:"username,omitempty"`
	Password access.Secret  `json:"password,omitempty"`
	Prefix   string         `json:"prefix,omitempty"`
	TLS      store.TLSFiles `json:"tls,omitzero"`
	Secret   access.Secret  `json:"secret,omitempty"`
	TTL      Duration       `json:"ttl,omitempty"`
}

// summaries checks the summarizer.
func (ch *checking) summaries() {
	s, keyed, client := ch.Summarizer, ch.Has("summarizer.api_key"), ch.Summarizer.Credential == "client"
	if ch.Has("summarizer") && s.Model == "" {
		ch.at("summarizer.model", "summarizer has no model", "the name of the model that is to write the summaries, such as gpt-4o-mini")
	}
	least := int(*schemaAt("summarizer.window").Minimum)
	if n := s.Window; s.Model != "" && !ch.Has("summarizer.window") && n < least {
		ch.at("default_window", fmt.Sprintf("summarizer has a window of %d tokens, and %d are needed", n, least),
			"set summarizer.window to what its model has", "summarizer")
	}
	if ch.Has("summarizer.upstream") {
		ch.upstream("summarizer.upstream", s.Upstream)
	}
	if keyed {
		ch.header("summarizer.api_key", s.APIKey)
	}
	switch {
	case client && keyed:
		ch.at("summarizer.credential", "summarizer has both an api_key and credential: client", "credential: client sends the client's key; remove one of the two")
	case client && ch.clientKeys:
		ch.at("summarizer.credential", "summarizer cannot have the client's credential: with client_keys it goes no further than this proxy", "give it an api_key")
	case keyed && !ch.clientKeys && ch.open:
		ch.openKey("summarizer", "credential: client, or ")
	}
	ch.store()
}

// store checks where summaries are kept.
func (ch *checking) store() {
	s, secret := ch.Store, ch.Has("store.secret")
	if secret {
		ch.long("store.secret", s.Secret)
	}
	if ch.Has("store.url") && s.Kind != store.InRedis {
		ch.at("store.url", "store.url is set, and the store is not kind: redis but "+string(s.Kind), "kind: redis, or no url")
	}
	switch s.Kind {
	case store.InFile:
		if s.Path == "" {
			ch.at("store.path", "store.path is empty, and kind: file needs one", "such as laconic.db")
		}
	case store.InRedis:
		if s.URL == "" {
			ch.at("store.url", "store has no url, and kind: redis needs one", "such as redis://127.0.0.1:6379/0")
		} else if secured, err := store.CheckURL(s.URL); err != nil {
			ch.at("store.url", "store.url cannot be used: "+err.Error(), "the characters : / ? # @ % of a password are written as %3A and so on, or the password stands in store.password")
		} else if !secured && s.TLS != (store.TLSFiles{}) {
			ch.at("store.tls", "store.tls is set, and store.url does not speak TLS", "rediss://, rediss+sentinel:// and rediss+cluster:// do")
		}
		if ch.Has("store.prefix") && s.Prefix == "" {
			ch.at("store.prefix", "store.prefix is empty", "such as laconic:staging:, or no prefix for laconic:")
		} else if err := store.CheckPrefix(s.Prefix); err != nil {
			ch.at("store.prefix", "store.prefix cannot be used: "+err.Error(), "such as laconic:staging:")
		}
		if !secret {
			ch.at("store", "store has no secret, and kind: redis needs one", "all who share the store need the same; without one everyone who reaches it could read it")
		}
	}
}

// resolve fills in what the file leaves out, from other settings.
func (s *Summarizer) resolve(c *Config) {
	if s.Model == "" {
		return
	}
	s.Upstream = cmp.Or(s.Upstream, c.Upstream)
	if known, input, ok := tokenize.Window(s.Model); s.Window == 0 && ok {
		s.Window = min(known, cmp.Or(input, known))
	}
	s.Window = cmp.Or(s.Window, c.DefaultWindow)
}
