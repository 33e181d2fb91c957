// Package config turns the configuration file into a [Config].
//
// [Load] reads the file and [Parse] does the work. The text becomes YAML nodes
// (syntax.go), the variables of the environment are expanded in them (env.go), the
// nodes become plain values as schema.json wants them (read.go), and the values are decoded
// over [Default] (parse.go): flags over the file, a policy over the one that is
// built in. Then the rules between settings are checked (check.go and others).
//
// Nothing stops at the first fault. [Problems] has all of them in the order of
// the file, each with its place and a hint. They repeat no value, so they show no secret.
// A Config without Problems is one that the proxy takes.
package config

import (
	"cmp"
	"crypto/sha256"
	"os"
	"strings"

	yaml "go.yaml.in/yaml/v4"

	"laconic/compact"
	"laconic/proxy/access"
	"laconic/store"
)

// Config is the configuration file. config.example.yaml describes its keys, their
// units and defaults; the comments here say what the example does not. schema.json
// has the ranges. Make one with Default, Load or Parse.
type Config struct {
	Listen          string            `json:"listen,omitempty"`
	Admin           string            `json:"admin"` // "": no admin listener
	Page            bool              `json:"page"`
	Capture         Capture           `json:"capture,omitzero"`
	Prices          []Price           `json:"prices,omitempty"`
	TLS             TLS               `json:"tls,omitzero"`
	Upstream        string            `json:"upstream,omitempty"`
	Overrides       *bool             `json:"overrides,omitempty"` // nil: when listen is loopback
	ResponseHeaders bool              `json:"response_headers"`
	Service         bool              `json:"service,omitempty"`
	Discover        bool              `json:"discover"`
	Strict          bool              `json:"strict,omitempty"`
	OnFault         string            `json:"on_fault,omitempty"`
	Readiness       string            `json:"readiness,omitempty"`
	AllowedOrigins  []string          `json:"allowed_origins,omitempty"`
	Log             Log               `json:"log,omitzero"`
	DefaultWindow   int               `json:"default_window,omitempty"`
	Limits          Limits            `json:"limits,omitzero"`
	Models          []Model           `json:"models,omitempty"`
	Policies        map[string]Policy `json:"policies,omitempty"` // resolved: what a policy does not say is filled in
	Summarizer      Summarizer        `json:"summarizer,omitzero"`
	Store           Store             `json:"store,omitzero"`
	ClientKeys      []access.Secret   `json:"client_keys,omitempty"`
	ClientLimits    []ClientLimit     `json:"client_limits,omitempty"`
	AdminToken      access.Secret     `json:"admin_token,omitempty"`

	File string            `json:"-"` // where it was read; "": no file
	Sum  [sha256.Size]byte `json:"-"` // of its bytes

	places    map[string]place      // where each key was written, by path
	variables map[*yaml.Node]string // the names of values that were ${NAME}

	unreadBase bool // the base URL for clients in the environment leads elsewhere
}

// TLS names the certificate of the listener for clients; its zero
// value means no TLS.
type TLS struct {
	Cert string `json:"cert,omitempty"`
	Key  string `json:"key,omitempty"`
}

// Capture sets whether the page keeps texts of requests.
type Capture struct {
	Size Size `json:"size,omitempty"`
}

// Price is one row of prices: what tokens of the models that it matches cost.
type Price struct {
	Match  string  `json:"match"`
	Input  float64 `json:"input,omitempty"`
	Cached float64 `json:"cached,omitempty"`
}

// ClientLimit is one row of client_limits: what each holder of a client key may use
// whose name it matches. 0: any number.
type ClientLimit struct {
	Match             string `json:"match"`
	RequestsPerMinute int    `json:"requests_per_minute,omitempty"`
	TokensPerMinute   int    `json:"tokens_per_minute,omitempty"`
	TokensPerDay      int    `json:"tokens_per_day,omitempty"`
}

// Scheme returns the scheme of the URLs that clients call.
func (c *Config) Scheme() string {
	if c.TLS.Cert != "" {
		return "https"
	}
	return "http"
}

// Log sets what is logged, and how.
type Log struct {
	Level  string `json:"level,omitempty"`
	Format string `json:"format,omitempty"`
}

// Limits bounds what one request and all requests together may take.
type Limits struct {
	Body                  Size      `json:"body,omitempty"`
	Memory                Size      `json:"memory,omitempty"`
	ConnectionsPerAddress int       `json:"connections_per_address,omitempty"`
	HeadsPerAddress       int       `json:"heads_per_address,omitempty"`
	HeaderTimeout         Duration  `json:"header_timeout,omitempty"`
	ResponseHeaderTimeout Duration  `json:"response_header_timeout,omitempty"`
	StreamIdle            Duration  `json:"stream_idle,omitempty"`
	Drain                 *Duration `json:"drain,omitempty"` // nil: see DrainTime
	Shutdown              Duration  `json:"shutdown,omitempty"`
}

// Model is one row of models: what holds for the models that it matches.
// A number that is 0 was not given.
type Model struct {
	Match          string        `json:"match"`
	compact.Limits               // a Window of 0: auto
	Policy         string        `json:"policy,omitempty"`
	Mode           string        `json:"mode,omitempty"`
	MinBody        Size          `json:"min_body,omitempty"`
	Upstream       string        `json:"upstream,omitempty"`
	APIKey         access.Secret `json:"api_key,omitempty"`
	Credential     string        `json:"credential,omitempty"`
	Tokenizer      string        `json:"tokenizer,omitempty"`
	Overhead       int           `json:"overhead,omitempty"`
	// SystemMessages is keep, fold or auto; "": auto.
	SystemMessages string `json:"system_messages,omitempty"`
}

// Default is the configuration of a start without a file.
func Default() *Config {
	return &Config{
		Listen:          "127.0.0.1:7280",
		Admin:           "127.0.0.1:7281",
		Page:            true,
		Upstream:        "https://api.openai.com/v1",
		ResponseHeaders: true,
		Discover:        true,
		OnFault:         "pass",
		Readiness:       "process",
		Log:             Log{Level: "info", Format: "auto"},
		DefaultWindow:   compact.DefaultWindow,
		Limits: Limits{
			Body:                  64 << 20,
			Memory:                512 << 20,
			HeaderTimeout:         seconds(10),
			ResponseHeaderTimeout: seconds(15 * 60),
			HeadsPerAddress:       256,
			StreamIdle:            seconds(10 * 60),
			Shutdown:              seconds(30),
		},
		Policies:   builtinPolicies(),
		Summarizer: Summarizer{Credential: "own", Timeout: seconds(60), Mask: true},
		Store:      Store{Kind: store.InMemory, Path: "laconic.db", Prefix: store.DefaultPrefix, TTL: Duration(store.DefaultTTL)},
	}
}

// Override is one value from outside the file, a flag or a variable. It wins
// over the file and is checked like a value of it, but for ${ENV}, which it
// does not expand.
type Override struct {
	Key   string // path of a plain value: "upstream", "log.level"
	Value string
	From  string // how errors call it: "--upstream", "LACONIC_UPSTREAM"
}

// Load reads a configuration file. If path is empty it reads the one of [Usual]; if
// there is no such file, nor one that may be meant for it, it returns the defaults, changed by
// over. The error is Problems: everything that is wrong, at once. The configuration
// that comes with an error is only good for looking at.
func Load(path string, over ...Override) (*Config, error) {
	if path = cmp.Or(path, usual()); path == "" {
		if path = misnamed(); path != "" {
			return unread(), Problems{{File: path, Message: "the file is not read, because of its name", Hint: "call it " + FileName + ", in YAML, or name it by -c"}}
		}
		return Parse("", nil, os.LookupEnv, over...)
	}
	src, err := readFile(path)
	if err != nil {
		return unread(), fileProblem(path, err, "correct the path; laconic init writes a file, and without -c every setting has its default")
	}
	return Parse(path, src, os.LookupEnv, over...)
}

// unread returns what stands for a file that cannot be read.
func unread() *Config {
	c := Default()
	c.places = map[string]place{"": {broken: true}}
	return c
}

// LoadAdmin is Load for those who ask a running proxy something: they need admin and
// admin_token alone. Mistakes in the rest do not matter.
func LoadAdmin(path string, over ...Override) (*Config, error) {
	c, err := Load(path, over...)
	if c.broken("admin") || c.broken("admin_token") {
		return c, err
	}
	return c, nil
}

// Everything reports whether a row holds for every model, the empty name of a
// request that names none included.
func (m Model) Everything() bool { return m.Match != "" && strings.Trim(m.Match, "*") == "" }

// RowOf returns the first row that matches a model; the zero Model if no row does.
func (c *Config) RowOf(model string) Model {
	for _, m := range c.Models {
		if Pattern(m.Match).Matches(model) {
			return m
		}
	}
	return Model{}
}

// OverridesOn reports whether the x-laconic-* request headers are honoured: as
// the file says, else only where nobody but this machine can send them.
func (c *Config) OverridesOn() bool {
	if c.Overrides != nil {
		return *c.Overrides
	}
	return access.Loopback(c.Listen)
}

// DrainTime returns how long requests are taken after the proxy was told to stop: as
// the file says, else none where nobody but this machine can send them, and
// elsewhere what a balancer that probes every second or two, or Kubernetes, needs to
// send them to another.
func (c *Config) DrainTime() Duration {
	switch {
	case c.Limits.Drain != nil:
		return *c.Limits.Drain
	case access.Loopback(c.Listen):
		return 0
	}
	return seconds(5)
}
