package config

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// keysForTest are the variables of these tests.
func keysForTest(name string) (string, bool) {
	v, ok := map[string]string{"ONE": "a-first-long-enough-key", "TWO": "a-second-long-enough-key"}[name]
	return v, ok
}

func parsed(t *testing.T, src string) *Config {
	t.Helper()
	c, err := Parse("laconic.yaml", []byte(src), keysForTest)
	if err != nil {
		t.Fatalf("%v\n%s", err, src)
	}
	return c
}

// The settings that a reload takes exist, and the page about it names them as such.
func TestWhatIsTakenIsASetting(t *testing.T) {
	known := map[string]bool{}
	c := reflect.ValueOf(Default()).Elem()
	settings("", c, c, func(key string, _, _ reflect.Value) { known[key] = true })
	page, err := os.ReadFile("../docs/reload.md")
	if err != nil {
		t.Fatal(err)
	}
	table, restart, _ := strings.Cut(string(page), "\n| `listen`,")
	_, table, _ = strings.Cut(table, "| Needs a restart |\n")
	for _, key := range taken {
		if name := "`" + key + "`"; !known[key] || !strings.Contains(table, name) || strings.Contains(restart, name+",") {
			t.Errorf("%s is no setting, or the page does not name it", key)
		}
	}
	for name := range strings.SplitSeq(table, "`") {
		if known[name] && !slices.Contains(taken, name) {
			t.Errorf("%s is not taken", name)
		}
	}
}

// A reload says "changed: …; kept: …", or the problems of the file.
func TestWhatAReloadTakes(t *testing.T) {
	f := func(running, next, want string) {
		t.Helper()
		r, err := parsed(t, running).Reload(parsed(t, next))
		var got []string
		if len(r.Changed) > 0 {
			got = append(got, "changed: "+strings.Join(r.Changed, ", "))
		}
		if len(r.Kept) > 0 {
			var kept []string
			for _, k := range r.Kept {
				key, why, _ := strings.Cut(k, " (")
				kept = append(kept, key)
				if (why == "") == slices.Contains(taken, key) {
					t.Errorf("%s is kept because %q", key, why)
				}
			}
			got = append(got, "kept: "+strings.Join(kept, ", "))
		}
		if err != nil {
			got = append(got, "wrong: "+strings.Join(strings.Fields(err.Error()), " "))
		}
		if text := strings.Join(got, "; "); text != want && !(strings.HasSuffix(want, "…") && strings.HasPrefix(text, strings.TrimSuffix(want, "…"))) {
			t.Errorf("%s\nafter\n%s\ngot  %s\nwant %s", next, running, text, want)
		}
	}
	const rest = "strict: false\n"
	f(rest, rest, "")
	f(rest, "strict: true", "changed: strict")
	f(rest, "{response_headers: false, discover: false, on_fault: reject, readiness: upstream, default_window: 1000, log: {level: warn}, limits: {stream_idle: 1m, shutdown: 5s}}",
		"changed: response_headers, discover, on_fault, readiness, log.level, default_window, limits.stream_idle, limits.shutdown")
	f(rest, `prices: [{match: "*", input: 1}]`, "changed: prices")
	f(rest, `policies: {careful: {on_overflow: reject}}`, "changed: policies")
	f(rest, "models: []\nallowed_origins: []\nclient_keys: []", "")

	// Settings of the start alone.
	f(rest, "{listen: \"127.0.0.1:1\", admin: \"127.0.0.1:2\", log: {format: json}, store: {kind: file}, strict: true}",
		"changed: strict; kept: listen, admin, log.format, store")
	f(rest, "limits: {body: 1MiB, memory: 300MiB, connections_per_address: 7, heads_per_address: 8, header_timeout: 1s, response_header_timeout: 1m}",
		"kept: limits.body, limits.memory, limits.connections_per_address, limits.heads_per_address, limits.header_timeout, limits.response_header_timeout")
	f(rest, "tls: {cert: a, key: b}", "kept: tls")
	f(rest, "summarizer: {model: x}", "kept: summarizer")
	f("summarizer: {model: gpt-4o-mini}", rest, "kept: summarizer")
	f("summarizer: {model: gpt-4o-mini}", "{upstream: \"http://b.example/v1\", summarizer: {model: gpt-4o-mini}}", "changed: upstream; kept: summarizer")
	f("summarizer: {model: nobody}", "{default_window: 9000, summarizer: {model: nobody}}", "changed: default_window; kept: summarizer")

	// The default upstream.
	f("upstream: http://a.example/v1", "upstream: http://b.example/v1", "changed: upstream")
	f("upstream: http://a.example/v1", "upstream: https://api.openai.com/v1", "changed: upstream")
	f("upstream: http://a.example/v1", rest, "kept: upstream")
	f(`models: [{match: "*", upstream: "http://a.example/v1", credential: client}]`, rest, "kept: models")
	f(`models: [{match: "*", upstream: "http://a.example/v1", credential: client}]`, `models: [{match: "**", upstream: "http://b.example/v1", credential: client}]`, "changed: models")
	// With the old upstream a row would send the client's key elsewhere.
	f("upstream: http://a.example/v1", `models: [{match: x, upstream: "https://api.openai.com/v2"}]`,
		"changed: models; kept: upstream; wrong: laconic.yaml:1:31: models[0] sends to another origin than upstream, so it needs an api_key of its own (credential: client would send the client's key there, too)…")

	f("overrides: true", "overrides: false", "kept: overrides")
	f(`allowed_origins: ["https://a"]`, `allowed_origins: ["https://b"]`, "kept: allowed_origins")

	// Keys of clients.
	const all = "\nmodels: [{match: \"*\", api_key: key}]"
	f("client_keys: [\"${ONE}\"]"+all, "client_keys: [\"${ONE}\", \"${TWO}\"]"+all, "changed: client_keys")
	f("client_keys: [\"${ONE}\", \"${TWO}\"]"+all, "client_keys: [\"${TWO}\"]"+all, "changed: client_keys")
	f("client_keys: [\"${ONE}\"]"+all, "client_keys: [\"${TWO}\"]"+all, "changed: client_keys")
	f(rest+all, "client_keys: [\"${ONE}\"]"+all, "changed: client_keys")
	f("client_keys: [\"${ONE}\"]"+all, rest+all, "kept: client_keys")
	f("client_keys: [\"${ONE}\"]"+all, rest, "kept: models, client_keys")
	f("summarizer: {model: x, credential: client}"+all, "summarizer: {model: x, api_key: k}\nclient_keys: [\"${ONE}\"]"+all,
		"changed: client_keys; kept: summarizer; wrong: laconic.yaml:1:…")
	f("admin_token: ${ONE}", "admin_token: ${TWO}", "changed: admin_token")
	f(rest, "admin_token: ${TWO}", "changed: admin_token")
	f("admin_token: ${ONE}", rest, "kept: admin_token")

	// Whose key goes where.
	f(`models: [{match: "a*", api_key: one}]`, `models: [{match: "a*", api_key: two}]`, "changed: models")
	f(`models: [{match: "a*", api_key: one}]`, `models: [{match: "a*"}]`, "kept: models")
	f(`models: [{match: "a*", api_key: one}]`, rest, "kept: models")
	f(`models: [{match: "a*", api_key: one}]`, `models: [{match: "*", api_key: one}]`, "changed: models")
	f(`models: [{match: "a*", api_key: one}]`, `models: [{match: "a*", api_key: one}, {match: "b*", window: 5000}]`, "changed: models")
	f(`models: [{match: "a*", api_key: one}]`, `models: [{match: "*b", window: 5000}, {match: "a*", api_key: one}]`, "changed: models")
	f(`models: [{match: "a*", api_key: one}]`, `models: [{match: "a*"}, {match: "*", api_key: one}]`, "kept: models")
	f(`models: [{match: "a*", api_key: one}, {match: "*", api_key: two}]`, `models: [{match: "*", api_key: two}]`, "changed: models")
}

// A kept setting keeps its place: a problem of the two together is shown where it was
// written.
func TestAProblemOfWhatIsKeptHasItsPlace(t *testing.T) {
	running := parsed(t, "models:\n- match: \"*\"\n  api_key: one\n  policy: mine\npolicies: {mine: {repair: drop}}\n")
	r, err := running.Reload(parsed(t, "models: [{match: \"*\"}]"))
	var ps Problems
	if !errors.As(err, &ps) || len(ps) != 1 || ps[0].Line != 4 || !strings.Contains(err.Error(), `policy is not a known name`) {
		t.Errorf("%v", err)
	}
	if len(r.Kept) != 1 || r.Kept[0] != "models (the api_key of the running models[0] is not taken away while the proxy runs)" {
		t.Errorf("%v", r.Kept)
	}
}

// A reload never shows a secret.
func TestAReloadShowsNoSecret(t *testing.T) {
	running := parsed(t, "client_keys: [\"${ONE}\"]\nadmin_token: ${TWO}\nmodels: [{match: \"${ONE}\", api_key: \"${TWO}\"}, {match: \"*\", api_key: k}]")
	r, err := running.Reload(parsed(t, "strict: true"))
	if err != nil || len(r.Kept) != 3 {
		t.Fatalf("%v %v", r.Kept, err)
	}
	if text := fmt.Sprint(r.Kept); strings.Contains(text, "long-enough") {
		t.Error(text)
	}
}

func TestAFileWithoutSettingsIsNotTaken(t *testing.T) {
	for _, src := range []string{"", "\n\n", "# laconic\n\n  # more\n", "---\n", "\uFEFF", "null\n"} {
		c, err := Parse("laconic.yaml", []byte(src), os.LookupEnv, Override{Key: "listen", Value: "127.0.0.1:1", From: "--listen"})
		if err != nil {
			continue // it is no map of settings
		}
		if _, err := Default().Reload(c); err == nil || !strings.Contains(err.Error(), "laconic.yaml: the file has no settings (without them") {
			t.Errorf("%q: %v", src, err)
		}
	}
}

// A file that is cut behind any line is wrong, or changes nothing of who may come in,
// whose key goes where and where requests go by default.
func TestACutFileLoosensNothing(t *testing.T) {
	lines := []string{
		"listen: 127.0.0.1:7280", "upstream: http://a.example/v1", "overrides: false", "allowed_origins: [\"https://a\"]",
		"models:", "- match: gpt-*", "  api_key: one", "- match: \"*\"", "  upstream: http://b.example/v1", "  api_key: two",
		"client_keys:", "- ${ONE}", "- ${TWO}", "admin_token: ${ONE}", "strict: true",
	}
	// The keys of the top in any order: the one that is cut off may be any.
	for turn := range 5 {
		turned := slices.Clone(lines[:4])
		for range turn {
			turned = append(turned[1:], turned[0])
		}
		order := slices.Concat(turned[:turn%4], lines[10:13], turned[turn%4:], lines[4:10], lines[13:])
		if turn == 4 {
			order = slices.Concat(lines[4:10], lines[13:], lines[10:13], lines[:4])
		}
		running := parsed(t, strings.Join(order, "\n"))
		taken := 0
		for n := range order {
			next, err := Parse("laconic.yaml", []byte(strings.Join(order[:n], "\n")), keysForTest)
			if err != nil {
				continue
			}
			if _, err := running.Reload(next); err != nil {
				continue
			}
			taken++
			c := next
			if len(c.ClientKeys) == 0 || c.AdminToken == "" || c.OverridesOn() || len(c.AllowedOrigins) > 1 || c.Upstream != running.Upstream ||
				c.RowOf("gpt-9").APIKey == "" || c.RowOf("").APIKey == "" || c.RowOf("").Upstream == "" {
				t.Errorf("turn %d, %d lines: %d client keys, upstream %s, models %v\n%s", turn, n, len(c.ClientKeys), c.Upstream, c.Models, strings.Join(order[:n], "\n"))
			}
			// The whole file brings back all that the cut one took.
			if whole, err := c.Reload(running); err != nil || len(whole.Kept) > 0 {
				t.Errorf("turn %d, %d lines, then the whole file: %v, kept %v", turn, n, err, whole.Kept)
			}
		}
		if taken == 0 {
			t.Errorf("turn %d: no cut was valid: the test shows nothing", turn)
		}
	}
}
