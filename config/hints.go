package config

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"laconic/proxy/access"
)

// The variables that OpenAI's libraries read. In the environment of the proxy
// they are those of its clients, so they are not read here.
const (
	clientsBase = "OPENAI_BASE_URL"
	clientsKey  = "OPENAI_API_KEY"
)

// leadsRight reports whether a base URL leads to this proxy, as a client's should, or
// where its requests go.
func (c *Config) leadsRight(base string) bool {
	u, err := url.Parse(base)
	return strings.TrimRight(base, "/") == strings.TrimRight(c.Upstream, "/") || err == nil && access.SameListener(u, c.Listen)
}

// Hint is what may have been meant otherwise, and what to do then.
type Hint struct{ Says, Fix string }

// String returns the hint in one line.
func (h Hint) String() string {
	if h.Fix == "" {
		return h.Says
	}
	return h.Says + " (" + h.Fix + ")"
}

// Hints returns what may have been meant otherwise: an upstream without a path,
// as most have their API below /v1; a variable that is not read.
func (c *Config) Hints() (hints []Hint) {
	all := []string{c.Upstream}
	for _, m := range c.Models {
		if m.Upstream != "" && !slices.Contains(all, m.Upstream) {
			all = append(all, m.Upstream)
		}
	}
	for _, upstream := range all {
		if u, err := url.Parse(upstream); err == nil && strings.Trim(u.Path, "/") == "" {
			hints = append(hints, Hint{
				fmt.Sprintf("chat requests go to %s; most servers have them below /v1", ShownURL(u.JoinPath("chat", "completions").String())),
				"upstream: " + ShownURL(u.JoinPath("v1").String()),
			})
		}
	}
	if slices.Contains(c.unread, clientsBase) && !c.Has("upstream") {
		hints = append(hints, Hint{clientsBase + " is for clients and not read here: requests go to " + ShownURL(c.Upstream), "elsewhere: --upstream"})
	}
	return hints
}

// UnreadBase returns a hint that the base URL in the environment is not read, where an
// upstream is configured and it names another place. It is for what starts a proxy:
// elsewhere the variable may well be a client's.
func (c *Config) UnreadBase() []Hint {
	if !slices.Contains(c.unread, clientsBase) || !c.Has("upstream") {
		return nil
	}
	return []Hint{{Says: clientsBase + " is for clients and not read here: requests go to " + ShownURL(c.Upstream)}}
}

// UnreadKey returns a hint that the key in the environment is not read, if no row
// has a key.
func (c *Config) UnreadKey() []Hint {
	if !slices.Contains(c.unread, clientsKey) || slices.ContainsFunc(c.Models, func(m Model) bool { return m.APIKey != "" }) {
		return nil
	}
	return []Hint{{
		clientsKey + " is for clients and not read here: their own key goes to the upstream",
		"one of the proxy's: api_key: ${" + clientsKey + "} in a row of models",
	}}
}

// ShownURL returns a URL without what may be secret in it.
func ShownURL(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return "?"
	}
	if u.RawQuery != "" {
		u.RawQuery = mask
	}
	return u.Redacted()
}

// Variable returns the variable that the value at path consists of, as the file
// has it: ${NAME}; "" for any other value.
func (c *Config) Variable(path string) string {
	if p := c.places[path]; p.node != nil && variableOnly.MatchString(p.node.Value) {
		return p.node.Value
	}
	return ""
}
