package config

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"laconic/proxy/access"
	"laconic/proxy/why"
)

// clientsBase is a variable that clients read. In the environment of the proxy it is
// theirs, so it is not read here.
const clientsBase = "OPENAI_BASE_URL"

// leadsRight reports whether a base URL leads to this proxy, as a client's should, or
// where its requests go.
func (c *Config) leadsRight(base string) bool {
	u, err := url.Parse(base)
	return strings.TrimRight(base, "/") == strings.TrimRight(c.Upstream, "/") || err == nil && access.SameListener(u, c.Listen)
}

// Hints returns what may have been meant otherwise: an upstream without a path,
// as most have their API below /v1; a variable that is not read.
func (c *Config) Hints() (hints []why.Finding) {
	all := []string{c.Upstream}
	for _, m := range c.Models {
		if m.Upstream != "" && !slices.Contains(all, m.Upstream) {
			all = append(all, m.Upstream)
		}
	}
	for _, upstream := range all {
		if u, err := url.Parse(upstream); err == nil && strings.Trim(u.Path, "/") == "" {
			hints = append(hints, why.Finding{
				State: why.Warning, Says: fmt.Sprintf("chat requests go to %s; most servers have them below /v1", ShownURL(u.JoinPath("chat", "completions").String())),
				Fix: "upstream: " + ShownURL(u.JoinPath("v1").String()),
			})
		}
	}
	if c.unreadBase {
		hints = append(hints, why.Finding{
			State: why.Warning, Says: clientsBase + " is for clients and not read here: requests go to " + ShownURL(c.Upstream), Fix: "elsewhere: --upstream",
		})
	}
	return hints
}

// ShownURL returns a URL without what may be secret in it.
func ShownURL(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return "?"
	}
	if u.RawQuery != "" {
		u.RawQuery = "***"
	}
	return u.Redacted()
}
