package config

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"laconic/proxy/access"
	"laconic/proxy/why"
)

// checking collects what is wrong with the values of a configuration.
type checking struct {
	*Config
	clientKeys bool // clients need a key of ours
	open       bool // other machines reach the listener
	found      []Problem
}

// check returns what is wrong with the values and between them.
func (c *Config) check() []Problem {
	ch := &checking{Config: c}
	ch.clientKeys = len(c.ClientKeys) > 0 || c.places["client_keys"].broken
	ch.open = isAddress(c.Listen) && !access.Loopback(c.Listen)
	if l := ch.Limits; l.Body > l.Memory && !ch.broken("limits.body") && !ch.broken("limits.memory") {
		ch.at("limits.body", "limits.body is larger than limits.memory, so the largest request could never be taken", "", "limits.memory")
	}
	ch.addresses()
	ch.tls()
	ch.rows()
	for _, name := range slices.Sorted(maps.Keys(c.Policies)) {
		ch.policy(name, c.Policies[name])
	}
	ch.keys()
	ch.summaries()
	return ch.found
}

// at notes a problem with the value of a path. It is shown at the first of the
// paths that the file has, else at what holds the value. A value that could not
// be read is not judged.
func (ch *checking) at(path, message, hint string, others ...string) {
	if !ch.broken(path) {
		ch.note(path, message, hint, others...)
	}
}

// note is at without asking whether the value could be read.
func (ch *checking) note(path, message, hint string, others ...string) {
	for _, other := range others {
		if !ch.Has(path) {
			path = other
		}
	}
	p := ch.placeOf(path)
	ch.found = append(ch.found, problemAt(p.from, p.node, message, hint))
}

// atKey notes a problem with the key of a path itself.
func (ch *checking) atKey(path, message, hint string) {
	p := ch.placeOf(path)
	ch.found = append(ch.found, problemAt(p.from, p.key, message, hint))
}

// placeOf returns where a value was written, or what holds it.
func (c *Config) placeOf(path string) place {
	for {
		if p, ok := c.places[path]; ok || path == "" {
			return p
		}
		path = holder(path)
	}
}

// holder returns the path of the map or list that a path is in.
func holder(path string) string { return path[:max(0, strings.LastIndexAny(path, ".["))] }

// Has reports whether the file has a key at all, readable or not.
func (c *Config) Has(path string) bool {
	_, ok := c.places[path]
	return ok
}

// broken reports whether a value of the file, or what holds it, could not be read.
func (c *Config) broken(path string) bool {
	return c.places[path].broken || path != "" && c.broken(holder(path))
}

// name reports whether a value is one of the known names, and notes a problem if
// not.
func (ch *checking) name(path, value string, known []string) bool {
	if slices.Contains(known, value) {
		return true
	}
	ch.at(path, path+" "+unknownName, DidYouMean(value, known))
	return false
}

// mostRows bounds what a name of a model is compared with.
const mostRows = 2000

// rows checks the rows of models, alone and in their order.
func (ch *checking) rows() {
	policies := slices.Sorted(maps.Keys(ch.Policies))
	if len(ch.Models) > mostRows {
		ch.at("models", fmt.Sprintf("models has %d rows", len(ch.Models)), fmt.Sprintf("at most %d; use patterns", mostRows))
		return
	}
	var before []Pattern
	for i, m := range ch.Models {
		path := fmt.Sprintf("models[%d]", i)
		match := path + ".match"
		switch {
		case m.Match == "":
			ch.at(match, path+" has no match", `the pattern that says for which models the row holds: "gpt-4o*", "*"`)
		case strings.ContainsAny(m.Match, `?[]{}\`) || strings.ContainsFunc(m.Match, unicode.IsControl):
			ch.at(match, match+" holds a character that no model's name has", "only * is special: it stands for any run of characters, / included")
		}
		p := Pattern(m.Match)
		if first := slices.IndexFunc(before, func(b Pattern) bool { return m.Match != "" && b.covers(p) }); first >= 0 {
			ch.at(match, fmt.Sprintf("%s can never match: models[%d] takes all its models", path, first),
				"the first row that matches is taken; put the special rows above the general ones")
		}
		before = append(before, p)
		if m.Policy != "" {
			ch.name(path+".policy", m.Policy, policies)
		}
		if m.Window == 0 {
			continue
		}
		if m.Input > m.Window {
			ch.at(path+".input", path+".input is larger than the window", "")
		}
		if m.Reserve >= m.Window {
			ch.at(path+".reserve", path+".reserve must be below the window: the prompt needs room, too", "")
		}
		if m.Budget > m.Window {
			ch.at(path+".budget", path+".budget is larger than the window", "")
		}
	}
}

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
// as most have their API below /v1; a variable that is not read; the window that Ollama
// has by default.
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
	for _, m := range c.Models {
		if small := why.Small("Ollama", m.Match, m.Window); small.Says != "" && strings.Contains(cmp.Or(m.Upstream, c.Upstream), ":11434") {
			hints = append(hints, why.Finding{State: why.Warning, Says: small.Says, Fix: small.Fix})
		}
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
