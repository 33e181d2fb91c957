package config

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"laconic/proxy/access"
)

// A Reload is what becomes of a configuration that is read while a proxy runs under
// another.
type Reload struct {
	// Config is what holds from now on: the new configuration, with the running
	// values of what is Kept.
	Config *Config
	// Changed are the keys whose values are other ones now.
	Changed []string
	Kept    []Kept
}

// A Kept is a setting that differs, and whose running value stays until the next
// start.
type Kept struct {
	Key string `json:"key"`
	Why string `json:"why,omitempty"` // "" where it is only ever read at the start
}

// String returns the key, and why it is kept.
func (k Kept) String() string {
	if k.Why == "" {
		return k.Key
	}
	return k.Key + " (" + k.Why + ")"
}

// Reload returns what becomes of next, a valid configuration that was read while a
// proxy runs under c. The error is Problems, where next can hold only with settings
// that are Kept, or sets nothing at all: a file that is being written.
func (c *Config) Reload(next *Config) (Reload, error) {
	if !next.sets() {
		return Reload{}, Problems{{
			File: next.file, Code: codeFile, Message: "the file has no settings",
			Hint: "without them every setting would have its default; for that, restart the proxy",
		}}
	}
	with := *next
	with.places = maps.Clone(next.places)
	with.first = c.start()
	r := Reload{Config: &with}
	for _, s := range reloaded {
		if s.same(c, &with) {
			continue
		}
		why, taken := s.rule(c, &with)
		if !taken {
			s.keep(&with, c)
			with.placesFrom(c, s.key)
			r.Kept = append(r.Kept, Kept{s.key, why})
		}
		if !s.same(c, &with) {
			r.Changed = append(r.Changed, s.key)
		}
	}
	return r, problems(with.check())
}

// start returns the configuration that the process was started with.
func (c *Config) start() *Config { return cmp.Or(c.first, c) }

// sets reports whether the file has any setting.
func (c *Config) sets() bool {
	for path, p := range c.places {
		if path != "" && p.src != nil && p.src.name == c.file {
			return true
		}
	}
	return false
}

// placesFrom makes the places of a key those of another configuration.
func (c *Config) placesFrom(other *Config, key string) {
	below := func(path string, _ place) bool {
		rest, ok := strings.CutPrefix(path, key)
		return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
	}
	maps.DeleteFunc(c.places, below)
	for path, p := range other.places {
		if below(path, p) {
			c.places[path] = p
		}
	}
}

// reloadRow says what a reload makes of the setting of a key.
type reloadRow struct {
	key  string
	same func(a, b *Config) bool
	// rule reports whether a value that differs from the running one is taken, and
	// says why not; "" where the setting is read at the start alone.
	rule func(running, next *Config) (why string, taken bool)
	keep func(next, running *Config)
}

// reloaded are all settings, in an order in which none depends on a later one. What
// a reload may not do is loosen who may come in, whose key goes where, and where
// requests go by default: a file that lost its end is often a valid one. What was as
// loose at the start comes back: such a file is written whole a moment later.
var reloaded = []reloadRow{
	row("listen", func(c *Config) *string { return &c.Listen }, fixed),
	row("admin", func(c *Config) *string { return &c.Admin }, fixed),
	row("page", func(c *Config) *bool { return &c.Page }, fixed),
	row("capture", func(c *Config) *Capture { return &c.Capture }, fixed),
	row("prices", func(c *Config) *[]Price { return &c.Prices }, free),
	row("tls", func(c *Config) *TLS { return &c.TLS }, fixed),
	row("upstream", func(c *Config) *string { return &c.Upstream }, named),
	{"overrides", func(a, b *Config) bool { return a.OverridesOn() == b.OverridesOn() }, notTurnedOn, func(next, running *Config) {
		next.Overrides = running.Overrides
	}},
	row("response_headers", func(c *Config) *bool { return &c.ResponseHeaders }, free),
	row("service", func(c *Config) *bool { return &c.Service }, free),
	row("discover", func(c *Config) *bool { return &c.Discover }, free),
	row("strict", func(c *Config) *bool { return &c.Strict }, free),
	row("on_fault", func(c *Config) *string { return &c.OnFault }, free),
	row("readiness", func(c *Config) *string { return &c.Readiness }, free),
	{"allowed_origins", sameList(func(c *Config) []string { return c.AllowedOrigins }), noneAdded, func(next, running *Config) {
		next.AllowedOrigins = slices.DeleteFunc(slices.Clone(next.AllowedOrigins), func(o string) bool { return !running.mayAllow(o) })
	}},
	row("log.level", func(c *Config) *string { return &c.Log.Level }, free),
	row("log.format", func(c *Config) *string { return &c.Log.Format }, fixed),
	row("default_window", func(c *Config) *int { return &c.DefaultWindow }, free),
	row("limits.body", func(c *Config) *Size { return &c.Limits.Body }, fixed),
	row("limits.memory", func(c *Config) *Size { return &c.Limits.Memory }, fixed),
	row("limits.connections_per_address", func(c *Config) *int { return &c.Limits.ConnectionsPerAddress }, fixed),
	row("limits.heads_per_address", func(c *Config) *int { return &c.Limits.HeadsPerAddress }, fixed),
	row("limits.header_timeout", func(c *Config) *Duration { return &c.Limits.HeaderTimeout }, fixed),
	row("limits.response_header_timeout", func(c *Config) *Duration { return &c.Limits.ResponseHeaderTimeout }, fixed),
	row("limits.stream_idle", func(c *Config) *Duration { return &c.Limits.StreamIdle }, free),
	row("limits.drain", func(c *Config) **Duration { return &c.Limits.Drain }, free),
	row("limits.shutdown", func(c *Config) *Duration { return &c.Limits.Shutdown }, free),
	row("models", func(c *Config) *[]Model { return &c.Models }, keyed),
	row("policies", func(c *Config) *map[string]Policy { return &c.Policies }, free),
	{"summarizer", func(a, b *Config) bool { return a.writer() == b.writer() }, fixed, func(next, running *Config) {
		next.Summarizer = running.writer()
	}},
	row("store", func(c *Config) *Store { return &c.Store }, fixed),
	row("client_keys", func(c *Config) *[]access.Secret { return &c.ClientKeys }, func(_, next *Config) (string, bool) {
		return "the last key is not taken away while the proxy runs", len(next.ClientKeys) > 0
	}),
	row("client_limits", func(c *Config) *[]ClientLimit { return &c.ClientLimits }, free),
	row("admin_token", func(c *Config) *access.Secret { return &c.AdminToken }, func(_, next *Config) (string, bool) {
		return "it is not taken away while the proxy runs", next.AdminToken != ""
	}),
}

// row is the row of a setting that is compared and kept whole.
func row[T any](key string, at func(*Config) *T, rule func(running, next *Config) (string, bool)) reloadRow {
	return reloadRow{
		key,
		func(a, b *Config) bool {
			x, y := reflect.ValueOf(*at(a)), reflect.ValueOf(*at(b))
			return x.Kind() == reflect.Slice && x.Len()+y.Len() == 0 || reflect.DeepEqual(x.Interface(), y.Interface())
		},
		rule,
		func(next, running *Config) { *at(next) = *at(running) },
	}
}

func fixed(_, _ *Config) (string, bool) { return "", false }

func free(_, _ *Config) (string, bool) { return "", true }

// named takes an upstream that the file, a flag or a variable names.
func named(_, next *Config) (string, bool) {
	return "the file does not name it any more", next.Has("upstream")
}

// notTurnedOn takes overrides that a line of the file turns on again.
func notTurnedOn(running, next *Config) (string, bool) {
	if !running.start().OverridesOn() {
		return "they were off at the start, and are not turned on while the proxy runs", running.OverridesOn()
	}
	return "they were turned off, and nothing in the file turns them on again", running.OverridesOn() || next.Has("overrides")
}

func noneAdded(running, next *Config) (string, bool) {
	return "an origin that was not allowed at the start is not added while the proxy runs",
		!slices.ContainsFunc(next.AllowedOrigins, func(o string) bool { return !running.mayAllow(o) })
}

// mayAllow reports whether an origin of the list is allowed, or was at the start.
func (c *Config) mayAllow(origin string) bool { return c.allows(origin) || c.start().allows(origin) }

// allows reports whether an origin of the list is allowed.
func (c *Config) allows(origin string) bool {
	return slices.Contains(c.AllowedOrigins, "*") || slices.Contains(c.AllowedOrigins, origin)
}

func sameList(of func(*Config) []string) func(a, b *Config) bool {
	return func(a, b *Config) bool { return slices.Equal(of(a), of(b)) }
}

// writer returns the summarizer with what it takes from other settings.
func (c *Config) writer() Summarizer {
	s := c.Summarizer
	if s.Model != "" {
		s.Upstream, s.Window = cmp.Or(s.Upstream, c.Upstream), c.SummaryWindow()
	}
	return s
}

// keyed takes rows under which no model loses an api_key that it is sent with, nor
// all models the upstream of their row.
func keyed(running, next *Config) (string, bool) {
	was, will := running.patterns(), next.patterns()
	for i, m := range was {
		row := running.rowAt(i)
		if row.Everything() && row.Upstream != "" && !slices.ContainsFunc(next.Models, func(n Model) bool { return n.Everything() && n.Upstream != "" }) {
			return "the upstream of the row for all models is not taken away while the proxy runs", false
		}
		if row.APIKey == "" {
			continue
		}
		for k, n := range will {
			switch {
			case next.rowAt(k).APIKey != "" || !m.overlaps(n):
			case slices.ContainsFunc(was[:i], func(p Pattern) bool { return p.covers(n) }): // n had no key of m
			case slices.ContainsFunc(will[:k], func(p Pattern) bool { return p.covers(m) || p.covers(n) }): // n has no model of m
			default:
				path := fmt.Sprintf("models[%d].match", i)
				return "the api_key of the models that match " + running.quoted(path, m.text) + " is not taken away while the proxy runs", false
			}
		}
	}
	return "", true
}

// patterns returns the patterns of all rows of models, the last of which matches
// everything, in the file or not.
func (c *Config) patterns() (all []Pattern) {
	rest := true
	for _, m := range c.Models {
		all = append(all, CompilePattern(m.Match))
		rest = rest && !m.Everything()
	}
	if rest {
		all = append(all, CompilePattern("*"))
	}
	return all
}

// rowAt returns the row of a pattern.
func (c *Config) rowAt(i int) Model {
	if i < len(c.Models) {
		return c.Models[i]
	}
	return Model{Match: "*"}
}
