package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"laconic/compact"
	"laconic/compact/policy"
	"laconic/compact/stage"
	"laconic/proxy"
	"laconic/store"
	"laconic/tokenize"
)

var update = flag.Bool("update", false, "rewrite golden files")

// canary is part of every secret in these tests; nothing we print may hold it.
const canary = "canary"

// variables is the environment of the tests.
func variables(name string) (string, bool) {
	v, ok := map[string]string{
		"KEY":     "canary-from-env",
		"EMPTY":   "",
		"WINDOW":  "32768",
		"WORD":    "canary-word",
		"URL":     "https://user:canary@models.example/v1",
		"INJECT":  "x\nlisten: 0.0.0.0:canary",
		"NEGLECT": "-1",
		"MODEL":   "canary-*",
	}[name]
	return v, ok
}

// TestConfigStories runs the files of testdata/config: a configuration and what
// check says about it, in words (says) or for programs (json).
func TestConfigStories(t *testing.T) {
	files, err := filepath.Glob("testdata/config/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no stories", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if len(archive.Comment) == 0 {
				t.Error("the story has no sentence on top")
			}
			var src []byte
			for i := range archive.Files {
				f := &archive.Files[i]
				name, part, _ := strings.Cut(f.Name, "/")
				if part == "yaml" {
					src = f.Data
					if i+1 == len(archive.Files) || !strings.HasPrefix(archive.Files[i+1].Name, name+"/") {
						t.Errorf("%s: no answer is given", name)
					}
					continue
				}
				t.Run(name+"/"+part, func(t *testing.T) {
					var b strings.Builder
					c, err := readConfig("laconic.yaml", src, variables, nil)
					code := tellConfig(&b, c, err, part == "json")
					if (code == 0) != (err == nil) {
						t.Errorf("exit code %d with error %v", code, err)
					}
					if err == nil {
						o, err := c.Options(countWords)
						if err == nil && o.Summarizer != nil {
							o.Summarizer.Store, err = c.openStore(func(line string) { t.Log(line) })
							defer o.Summarizer.Store.Close()
						}
						if err == nil {
							_, err = proxy.New(o)
						}
						if err != nil {
							t.Errorf("check takes what the proxy refuses: %v", err)
						}
					}
					got := lists.Replace(b.String())
					if strings.Contains(got, canary) {
						t.Errorf("a secret is shown:\n%s", got)
					}
					if word := goWords.FindString(got); word != "" {
						t.Errorf("%q is no word of a configuration:\n%s", word, got)
					}
					if *update {
						f.Data = []byte(got)
						return
					}
					if diff := cmp.Diff(string(f.Data), got); diff != "" {
						t.Errorf("-want +got\n%s", diff)
					}
				})
			}
			if *update {
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// lists stand in the stories for what grows with the product, and for numbers
// that are chosen by measurement.
var lists = strings.NewReplacer(
	fmt.Sprintf("warm %v, land %v,", compact.DefaultWarm, compact.DefaultLand), "warm WARM, land LAND,",
	fmt.Sprintf("%v of the room, at most %d tokens, at least 1 exchange", compact.DefaultKeepShare, compact.DefaultKeepTokens), "KEEP",
	strings.Join(stage.Names(), ", "), "STAGES",
	strings.Join(stage.Names(), " > "), "LADDER",
	strings.Join(slices.Sorted(slices.Values(policy.Names())), ", "), "POLICIES",
	strings.Join(tokenize.Names(), ", "), "TOKENIZERS",
)

// goWords are what no user should read.
var goWords = regexp.MustCompile(`main\.|\b(?:yaml|json): |\[\]string|\bint(64)?\b|float64|\bstruct\b|unmarshal|!!`)

func TestSizesAreReadWithTheirUnit(t *testing.T) {
	f := func(in string, want Size, sentence string) {
		t.Helper()
		got, err := parseSize(in)
		sameValue(t, in, got, want, err, sentence)
	}
	f("64MiB", 64<<20, "")
	f("512MB", 512_000_000, "")
	f("1.5GiB", 3<<29, "")
	f("10 kb", 10_000, "")
	f("7B", 7, "")
	f("64", 0, "needs a unit: B, KB, KiB, MB, MiB, GB or GiB")
	f("64M", 0, "needs a unit: B, KB, KiB, MB, MiB, GB or GiB")
	f("-1MB", 0, "cannot be negative")
	f("1e3MB", 0, "must be a size with its unit, such as 64MiB or 512MB")
	f("", 0, "must be a size with its unit, such as 64MiB or 512MB")
	f("big", 0, "must be a size with its unit, such as 64MiB or 512MB")
	f("99999999999GiB", 0, "is larger than any machine")

	for _, s := range []string{"64MiB", "512MB", "1GiB", "3KiB", "7B", "1000001B", "0B"} {
		if n, err := parseSize(s); err != nil || n.String() != s {
			t.Errorf("%s is written %s (%v)", s, n, err)
		}
	}
}

func TestTimesAreReadWithTheirUnit(t *testing.T) {
	f := func(in string, want time.Duration, sentence string) {
		t.Helper()
		got, err := parseDuration(in)
		sameValue(t, in, time.Duration(got), want, err, sentence)
	}
	f("10s", 10*time.Second, "")
	f("15m", 15*time.Minute, "")
	f("1h30m", 90*time.Minute, "")
	f("250ms", 250*time.Millisecond, "")
	f("5", 0, "needs a unit: ms, s, m or h")
	f("0", 0, "needs a unit: ms, s, m or h")
	f("5d", 0, "must be a time with its unit, such as 10s, 15m or 1h30m")
	f("soon", 0, "must be a time with its unit, such as 10s, 15m or 1h30m")

	for _, s := range []string{"10s", "15m", "1h30m", "168h", "250ms", "1m30s"} {
		if d, err := parseDuration(s); err != nil || d.String() != s {
			t.Errorf("%s is written %s (%v)", s, d, err)
		}
	}
}

func TestNumbersArePlain(t *testing.T) {
	whole := func(in string, want int, sentence string) {
		t.Helper()
		got, err := parseWhole(in)
		sameValue(t, in, got, want, err, sentence)
	}
	whole("128000", 128000, "")
	whole("128_000", 128000, "")
	whole("-3", -3, "")
	whole("010", 0, "must be a whole number")
	whole("0x10", 0, "must be a whole number")
	whole("1e3", 0, "must be a whole number")
	whole("", 0, "must be a whole number")
	whole("-", 0, "must be a whole number")
	whole("99999999999999999999", 0, "is far too large")

	trigger := func(in string, want Trigger, sentence string) {
		t.Helper()
		got, err := parseTrigger(in)
		sameValue(t, in, got, want, err, sentence)
	}
	trigger("auto", 0, "")
	trigger("0.9", 0.9, "")
	trigger("0", 0, "must be above 0")
	trigger("often", 0, "must be auto or a share of the budget, such as 0.9")
	trigger("inf", 0, "must be auto or a share of the budget, such as 0.9")
}

func sameValue[T comparable](t *testing.T, in string, got, want T, err error, sentence string) {
	t.Helper()
	said := ""
	if err != nil {
		said = err.Error()
	}
	if got != want || said != sentence {
		t.Errorf("%q: got %v, %q, want %v, %q", in, got, said, want, sentence)
	}
}

func TestPatternsMatch(t *testing.T) {
	f := func(pattern, name string, want bool) {
		t.Helper()
		if got := compilePattern(pattern).matches(name); got != want {
			t.Errorf("%q matches %q: %v", pattern, name, got)
		}
	}
	f("gpt-4o", "gpt-4o", true)
	f("gpt-4o", "gpt-4o-mini", false)
	f("gpt-4o", "GPT-4o", false)
	f("gpt-4o*", "gpt-4o", true)
	f("gpt-4o*", "gpt-4o-mini", true)
	f("gpt-4o*", "openai/gpt-4o", false)
	f("*", "", true)
	f("*", "a/b:c", true)
	f("**", "x", true)
	f("*llama*", "meta/llama-3/instruct", true)
	f("*/llama*", "llama", false)
	f("a*b*c", "abc", true)
	f("a*b*c", "a-b-b-c", true)
	f("a*b*c", "acb", false)
	f("ab*ba", "aba", false)
	f("*a*a*", "a", false)
	f("gpt-4.*", "gpt-4.1", true)
	f("", "", true)
	f("", "x", false)
}

// A name comes from the client: no pattern may make it expensive.
func TestPatternsAreLinear(t *testing.T) {
	hostile := compilePattern(strings.Repeat("a*", 2000) + "b")
	start := time.Now()
	if hostile.matches(strings.Repeat("a", 4<<20)) {
		t.Error("it matches")
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("4 MB took %v", took)
	}
}

func TestPatternsCover(t *testing.T) {
	f := func(p, q string, want bool) {
		t.Helper()
		if got := compilePattern(p).covers(compilePattern(q)); got != want {
			t.Errorf("%q covers %q: %v", p, q, got)
		}
	}
	f("*", "gpt-4o*", true)
	f("*", "*", true)
	f("gpt-*", "gpt-4o*", true)
	f("gpt-4o*", "gpt-*", false)
	f("*mini", "gpt-*-mini", true)
	f("gpt-*", "*gpt-*", false)
	f("gpt-4o", "gpt-4o*", false)
	f("gpt-4o*", "gpt-4o", true)
	f("*a*", "*ba*", true)
	f("a*a", "a*", false)
}

func TestVariablesExpand(t *testing.T) {
	f := func(in, want string, faults ...string) {
		t.Helper()
		got, _, fs := expand(in, variables)
		var said []string
		for _, e := range fs {
			said = append(said, e.message)
		}
		if got != want || !slices.Equal(said, faults) {
			t.Errorf("%q: got %q, %q, want %q, %q", in, got, said, want, faults)
		}
	}
	f("plain $ text", "plain $ text")
	f("${WINDOW}", "32768")
	f("<${WINDOW}|${EMPTY}>", "<32768|>")
	f("$${WINDOW}", "${WINDOW}")
	f("$$${WINDOW}", "$${WINDOW}")
	f("a$${b}${WINDOW}", "a${b}32768")
	f("${NOT_SET}x", "x", "the variable NOT_SET is not set")
	f("${A}${B}", "", "the variable A is not set", "the variable B is not set")
	f("${WINDOW:-5}", "", "a variable is written ${NAME}, of letters, digits and _")
	f("${}", "", "a variable is written ${NAME}, of letters, digits and _")
	f("${WINDOW", "", "a variable is not closed with }")
}

func TestWhatAVariableHoldsIsNeverYAML(t *testing.T) {
	c, err := readConfig("laconic.yaml", []byte("listen: 127.0.0.1:1\npolicies: {adaptive: {pin: {text: [${INJECT}]}}}\n"), variables, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Policies["adaptive"].Pin.Text; len(got) != 1 || !strings.HasPrefix(got[0], "x\nlisten") || c.Listen != "127.0.0.1:1" {
		t.Errorf("got text %q, listen %q", got, c.Listen)
	}
}

func TestNearestIsWhatWasMeant(t *testing.T) {
	known := []string{"listen", "limits", "log", "models", "max_messages", "keep_recent", "api_key"}
	f := func(in, want string) {
		t.Helper()
		if got := nearest(in, known); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
	f("lisen", "listen")
	f("lsiten", "listen")
	f("Listen", "listen")
	f("limit", "limits")
	f("maxMessages", "max_messages")
	f("keep-recent", "keep_recent")
	f("apikey", "api_key")
	f("lag", "log")
	f("window", "")
	f("", "")
	f(strings.Repeat("listen", 1000), "")
}

func TestOurOwnAddressIsRecognised(t *testing.T) {
	f := func(upstream, listen string, want bool) {
		t.Helper()
		u, err := parseUpstream(upstream)
		if err != nil {
			t.Fatal(err)
		}
		if got := pointsAt(u, listen); got != want {
			t.Errorf("%s at %s: %v", upstream, listen, got)
		}
	}
	f("http://127.0.0.1:7280/v1", "127.0.0.1:7280", true)
	f("http://localhost:7280/v1", "127.0.0.1:7280", true)
	f("http://LOCALHOST.:7280/v1", "127.0.0.1:7280", true)
	f("http://x.localhost:7280/v1", "127.0.0.1:7280", true)
	f("http://[::1]:7280/v1", "127.0.0.1:7280", true)
	f("http://0.0.0.0:7280/v1", "127.0.0.1:7280", true)
	f("http://[::]:7280/v1", "localhost:7280", true)
	f("http://[::ffff:127.0.0.1]:7280", "127.0.0.1:7280", true)
	f("http://127.0.0.1:07280", ":7280", true)
	f("http://127.0.0.1", "0.0.0.0:80", true)
	f("https://127.0.0.1", "0.0.0.0:443", true)
	f("http://gateway:7280/v1", "gateway:7280", true)
	f("http://127.0.0.1:7282/v1", "127.0.0.1:7280", false)
	f("http://127.0.0.2:7280/v1", "127.0.0.1:7280", false)
	f("http://127.0.0.2:7280/v1", "0.0.0.0:7280", true)
	f("http://gateway:7280/v1", "127.0.0.1:7280", false)
	f("http://127.0.0.1:7280/v1", "127.0.0.1:0", false)
}

func TestNoFileIsDefault(t *testing.T) {
	t.Chdir(t.TempDir())
	c, err := Load("")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Default(), c, ignorePlaces); diff != "" || c.File() != "" {
		t.Errorf("-default +got\n%s", diff)
	}
	if err := Default().Validate(); err != nil {
		t.Errorf("the defaults are refused: %v", err)
	}
	if !c.OverridesOn() {
		t.Error("overrides are off on loopback")
	}

	if err := os.WriteFile(configFile, []byte("default_window: 4096\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err = Load("")
	if err != nil || c.DefaultWindow != 4096 || c.File() != configFile {
		t.Errorf("%s is not read: %v", configFile, err)
	}
	if _, err := Load("other.yaml"); err == nil || err.Error() != "other.yaml: there is no such file (without a file every setting has its default)" {
		t.Errorf("a missing file: %v", err)
	}
}

var ignorePlaces = cmp.Options{
	cmp.AllowUnexported(PolicyConfig{}),
	cmp.FilterPath(func(p cmp.Path) bool {
		return p.Last().String() == ".places" || p.Last().String() == ".file" || p.Last().String() == ".unread"
	}, cmp.Ignore()),
}

func TestOverridesWinAndAreChecked(t *testing.T) {
	src := []byte("upstream: https://file.example/v1\nlog: {level: debug}\n")
	c, err := readConfig("laconic.yaml", src, variables, []Override{
		{"upstream", "http://flag.example:8000/v1", "--upstream"},
		{"log.format", "json", "--log-format"},
		{"default_window", "4096", "--window"},
		{"strict", "true", "--strict"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if c.Upstream != "http://flag.example:8000/v1" || c.Log != (LogConfig{"debug", "json"}) || c.DefaultWindow != 4096 || !c.Strict {
		t.Errorf("got %+v", c)
	}

	_, err = readConfig("laconic.yaml", src, variables, []Override{
		{"upstream", "flag.example", "LACONIC_UPSTREAM"},
		{"log.level", "${WORD}", "--log-level"},
		{"default_window", "many", "--window"},
		{"window", "5", "--w"},
	})
	const want = `LACONIC_UPSTREAM: upstream must begin with http:// or https:// (such as https://api.openai.com/v1)
--log-level: log.level cannot be "${WORD}" (it is one of debug, info, warn, error)
--window: default_window must be a whole number
--w: unknown key "window" (it belongs in a row of models)`
	if err == nil || !sameLines(err.Error(), want) {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}

// An override does not change what the file said about everything else.
func TestOverridesLeaveTheFilesPositions(t *testing.T) {
	c, err := readConfig("laconic.yaml", []byte("log:\n  formt: json\nlimits: {body: 1GiB}\n"), variables, []Override{
		{"log.level", "debug", "--log-level"},
		{"limits.memory", "1MiB", "--memory"},
		{"admin", "0.0.0.0:7281", "--admin"},
	})
	const want = `--admin: admin is open to other machines, so it needs an admin_token (or listen on 127.0.0.1)
laconic.yaml:2:3: unknown key "formt" in log (did you mean format?)
  2 |   formt: ***
    |   ^^^^^
laconic.yaml:3:16: limits.body is larger than limits.memory, so the largest request could never be taken (they are 1GiB and 1MiB)
  3 | limits: {body: 1GiB}
    |                ^^^^`
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
	if p := c.placeOf("log.color"); p.src.name != "laconic.yaml" || p.node.Line != 2 {
		t.Errorf("log is now thought to stand in %s:%d", p.src.name, p.node.Line)
	}
	_, err = readConfig("", nil, variables, []Override{{"listen", "127.0.0.1:7281", "--listen"}})
	if err == nil || err.Error() != `--listen: admin and listen are the same address (give admin another port, or turn it off)` {
		t.Errorf("got %v", err)
	}
}

func sameLines(a, b string) bool {
	return slices.Equal(slices.Sorted(strings.SplitSeq(a, "\n")), slices.Sorted(strings.SplitSeq(b, "\n")))
}

// wordCounter is a Counter that only tells what it was made for.
type wordCounter struct {
	compact.Counter
	model, tokenizer string
}

func countWords(model, tokenizer string) (compact.Counter, error) {
	return wordCounter{model: model, tokenizer: tokenizer}, nil
}

// optionsOf gives the options of a valid configuration, as the proxy takes them.
func optionsOf(t *testing.T, src string) proxy.Options {
	t.Helper()
	c, err := readConfig("laconic.yaml", []byte(src), variables, nil)
	if err != nil {
		t.Fatal(err)
	}
	o, err := c.Options(countWords)
	if err != nil {
		t.Fatal(err)
	}
	if s := o.Summarizer; s != nil {
		if s.Store, err = c.openStore(nil); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Store.Close)
	}
	if _, err := proxy.New(o); err != nil {
		t.Errorf("the proxy refuses what check takes: %v", err)
	}
	return o
}

func TestTheFirstRowThatMatchesIsTheRoute(t *testing.T) {
	o := optionsOf(t, `
default_window: 9000
models:
  - {match: "gpt-4o-mini", window: 5000, tokenizer: bytes/4, policy: gentle}
  - {match: "gpt-*", reserve: 1000}
  - {match: "claude-*", upstream: "https://other.example/v1/", api_key: ${KEY}}
  - {match: "local/*", upstream: "http://127.0.0.1:11434/v1", credential: client, budget: 700, max_messages: 9}
policies: {gentle: {land: 0.5}}
`)
	f := func(model, match, upstream string, limits compact.Limits, policy, tokenizer string) *proxy.Route {
		t.Helper()
		r := o.RouteFor(model)
		if r.Match != match || r.Upstream.String() != upstream || r.Limits != limits || r.Policy.Name != policy {
			t.Errorf("%s: got %q %s %+v %s", model, r.Match, r.Upstream, r.Limits, r.Policy.Name)
		}
		if c := r.Counter.(wordCounter); c.model != model || c.tokenizer != tokenizer {
			t.Errorf("%s: counted as %q by %q", model, c.model, c.tokenizer)
		}
		if o.RouteFor(model) != r || o.PolicyNamed(policy) != r.Policy {
			t.Errorf("%s: made anew for each request", model)
		}
		return r
	}
	const openai = "https://api.openai.com/v1"
	known, input, ok := tokenize.Window("gpt-4o")
	if !ok {
		t.Fatal("the table does not know gpt-4o")
	}
	f("gpt-4o-mini", "gpt-4o-mini", openai, compact.Limits{Window: 5000}, "gentle", "bytes/4")
	f("gpt-4o", "gpt-*", openai, compact.Limits{Window: known, Input: input, Reserve: 1000}, "adaptive", "")
	f("nobody", "", openai, compact.Limits{Window: 9000}, "adaptive", "")
	r := f("local/x", "local/*", "http://127.0.0.1:11434/v1", compact.Limits{Window: 9000, Budget: 700, MaxMessages: 9}, "adaptive", "")
	if !r.ClientCredential || r.Key != "" {
		t.Error("credential: client is ignored")
	}
	r = o.RouteFor("claude-x")
	if string(r.Key) != "canary-from-env" || r.ClientCredential || r.Upstream.String() != "https://other.example/v1" {
		t.Errorf("the key of a row: %+v", r)
	}
	if r := o.RouteFor("gpt-4o"); !r.ClientCredential || r.Key != "" {
		t.Error("the client's credential does not go to the default upstream")
	}
	if o.PolicyNamed("gentle").Land != 0.5 || o.PolicyNamed("none") != nil {
		t.Error("policies are not found by name")
	}
	if o.Default.Match != "" || o.Default.Upstream.String() != openai || o.Default.Limits.Window != 9000 {
		t.Errorf("the default route: %+v", o.Default)
	}
	if len(o.Routes) != 5 {
		t.Errorf("%d routes are listed", len(o.Routes))
	}
}

func TestARequestWithoutAModelTakesTheRowForAll(t *testing.T) {
	o := optionsOf(t, `
models:
  - {match: "gpt-*", api_key: canary-2}
  - {match: "*", upstream: "http://127.0.0.1:8000/v1", api_key: ${KEY}}
client_keys: [canary-0123456789]
`)
	if o.Default.Match != "*" || o.Default.Upstream.Host != "127.0.0.1:8000" || string(o.Default.Key) != "canary-from-env" {
		t.Errorf("got %+v", o.Default)
	}
	if len(o.Routes) != 2 || o.Routes[1].Match != "*" {
		t.Errorf("there is a route that nothing can take: %+v", o.Routes)
	}
	if len(o.ClientKeys) != 1 || string(o.ClientKeys[0]) != "canary-0123456789" {
		t.Error("the client keys are lost")
	}
}

func TestEverySettingReachesTheProxy(t *testing.T) {
	o := optionsOf(t, `
listen: 0.0.0.0:9000
overrides: true
response_headers: false
strict: true
allowed_origins: ["https://app.example"]
limits: {body: 2KiB, memory: 3KiB, connections_per_address: 7, header_timeout: 1s, response_header_timeout: 2s, stream_idle: 3s, shutdown: 4s}
`)
	want := proxy.Limits{Body: 2048, Memory: 3072, Connections: 7, Header: 1e9, ResponseHeader: 2e9, StreamIdle: 3e9, Shutdown: 4e9}
	if o.Listen != "0.0.0.0:9000" || !o.Overrides || o.ResponseHeaders || !o.Strict ||
		!slices.Equal(o.AllowedOrigins, []string{"https://app.example"}) || o.Limits != want {
		t.Errorf("got %+v", o)
	}
	o = optionsOf(t, `
default_window: 5000
summarizer: {model: m, upstream: "http://10.0.0.7:1/v1/", api_key: k, wait: 1s, timeout: 2s, window: 5000, workers: 4, mask: false}`)
	s := *o.Summarizer
	if want := (proxy.Summarizer{
		Upstream: s.Upstream, Counter: s.Counter, Store: s.Store,
		Model: "m", Key: "k", Wait: 1e9, WaitUnfolded: 1e9, Timeout: 2e9, Window: 5000, Workers: 4,
	}); s != want || s.Upstream.String() != "http://10.0.0.7:1/v1" {
		t.Errorf("got %+v at %v", s, s.Upstream)
	}
	for text, window := range map[string]int{"{model: m, credential: client}": 5000, "{model: gpt-4o-mini}": 128000} {
		s := optionsOf(t, "default_window: 5000\nsummarizer: "+text).Summarizer
		if s.Window != window || s.Wait != 0 || s.WaitUnfolded != proxy.DefaultUnfoldedWait || s.Upstream.String() != "https://api.openai.com/v1" || !s.Mask || s.ClientCredential == (s.Model != "m") {
			t.Errorf("%s: %+v", text, s)
		}
	}
	if o := optionsOf(t, "store: {kind: memory}"); o.Summarizer != nil {
		t.Error("a store alone makes a summarizer")
	}
	if o := optionsOf(t, "listen: 0.0.0.0:9000"); o.Overrides || !o.ResponseHeaders || o.Strict {
		t.Error("overrides are on where other machines can send them")
	}
}

func TestAConfiguredWindowBeatsTheTable(t *testing.T) {
	window, input, ok := tokenize.Window("gpt-5")
	if !ok || input == 0 {
		t.Fatalf("the table says %d, %d of gpt-5", window, input)
	}
	f := func(row compact.Limits, wantWindow, wantInput int) {
		t.Helper()
		if got := withTable(row, "gpt-5", 9000); got.Window != wantWindow || got.Input != wantInput {
			t.Errorf("%+v: got %+v", row, got)
		}
	}
	f(compact.Limits{}, window, input)
	f(compact.Limits{Window: 50_000}, 50_000, 0)
	f(compact.Limits{Window: window}, window, input)
	f(compact.Limits{Input: 1000}, window, 1000)
}

func TestRoutesOfInventedModelsAreBounded(t *testing.T) {
	c := Default()
	policies, err := c.policies()
	if err != nil {
		t.Fatal(err)
	}
	table, err := c.routes(policies, countWords)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 3000 {
				if r := table.route(fmt.Sprintf("model-%d-%d", g, i)); r == nil {
					t.Error("no route")
				}
			}
			table.route(strings.Repeat("x", 1<<20))
		})
	}
	wg.Wait()
	if n := len(table.known); n > mostRoutes {
		t.Errorf("%d routes are remembered", n)
	}
	for name := range table.known {
		if len(name) > longestKnown {
			t.Errorf("a name of %d bytes is remembered", len(name))
		}
	}
}

// The loader refuses such rows; should one get through, no credential leaves.
func TestTheClientsKeyGoesWhereItWasMeant(t *testing.T) {
	f := func(row ModelConfig, clientKeys []proxy.Secret, want bool) {
		t.Helper()
		c := Default()
		c.Models, c.ClientKeys = []ModelConfig{row}, clientKeys
		o, err := c.Options(countWords)
		if err != nil {
			t.Fatal(err)
		}
		if got := o.RouteFor("m").ClientCredential; got != want {
			t.Errorf("%+v: the client's credential is sent: %v", row, got)
		}
	}
	const other = "https://other.example/v1"
	f(ModelConfig{Match: "m"}, nil, true)
	f(ModelConfig{Match: "m", Upstream: "https://API.openai.com:443/v2"}, nil, true)
	f(ModelConfig{Match: "m", Upstream: other}, nil, false)
	f(ModelConfig{Match: "m", Upstream: other, Credential: "client"}, nil, true)
	f(ModelConfig{Match: "m", Upstream: other, APIKey: "k"}, nil, false)
	f(ModelConfig{Match: "m"}, []proxy.Secret{"k"}, false)
}

func TestPoliciesExtendEachOtherInAnyOrder(t *testing.T) {
	o := optionsOf(t, `
policies:
  c: {extends: b, repair: drop}
  b: {extends: a, land: 0.3, pin: {roles: [tool], text: ["^RULE"], tools: [read]}}
  a: {trigger: 0.7, on_overflow: reject, placement: system, ladder: [drop_oldest]}
  adaptive: {keep_recent: {exchanges: 3}}
`)
	c := o.PolicyNamed("c")
	if c.Trigger != 0.7 || c.Land != 0.3 || !c.Reject || c.Placement != compact.PlaceSystem || c.Repair != compact.RepairDrop || c.KeepRecent.Exchanges != 3 ||
		c.KeepRecent.Share != compact.DefaultKeepShare || len(c.Ladder) != 1 || c.Ladder[0].Name() != "drop_oldest" ||
		!slices.Equal(c.Pins.Roles, []compact.Role{compact.Tool}) || len(c.Pins.Text) != 1 || len(c.Pins.Tools) != 1 || !c.Pins.Tools[0].MatchString("read") {
		t.Errorf("got %+v", c)
	}
	if a := o.PolicyNamed("adaptive"); a.Trigger != 0 || a.Land != compact.DefaultLand || a.Reject || len(a.Pins.Tools) != 0 || len(a.Ladder) < 5 {
		t.Errorf("adaptive became %+v", a)
	}
}

func TestNamedPoliciesAreThereWithoutAFile(t *testing.T) {
	o := optionsOf(t, "policies: {mine: {extends: window, options: {keep: 7}, pin: {tools: [read]}, repair: drop, on_overflow: reject}}")
	for _, name := range policy.Names() {
		want, err := policy.New(name, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := o.PolicyNamed(name)
		if got == nil || got.Name != name || got.Once != want.Once || got.Trigger != want.Trigger || len(got.Ladder) != len(want.Ladder) || got.Reject {
			t.Errorf("%s: got %+v, want %+v", name, got, want)
		}
	}
	mine := o.PolicyNamed("mine")
	if mine.Name != "mine" || !mine.Once || mine.KeepRecent.Messages != 7 || len(mine.Pins.Tools) != 1 || !mine.Pins.Tools[0].MatchString("read") ||
		mine.Repair != compact.RepairDrop || !mine.Reject {
		t.Errorf("got %+v", mine)
	}
}

func TestAMapsOwnKeysWinOverMergedOnes(t *testing.T) {
	c, err := readConfig("laconic.yaml", []byte(`
x-a: &a {window: 1000, reserve: 100}
x-b: &b {window: 2000, reserve: 200, budget: 20}
models:
  - {<<: *a, match: m, window: 3000}
  - {match: n, <<: [*a, *b]}
`), variables, nil)
	want := []ModelConfig{{Match: "m", Window: 3000, Reserve: 100}, {Match: "n", Window: 1000, Reserve: 100, Budget: 20}}
	if err != nil || !slices.Equal(c.Models, want) {
		t.Errorf("got %+v, %v", c.Models, err)
	}
}

func TestHostileFilesAreAnswered(t *testing.T) {
	f := func(name, src, part string) {
		t.Helper()
		start := time.Now()
		_, err := readConfig("laconic.yaml", []byte(src), variables, nil)
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: got %v", name, err)
		}
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("%s took %v", name, took)
		}
	}
	f("deep", strings.Repeat("[", 200_000), "nested too deeply")
	f("deep options", "policies: {adaptive: {ladder: [{trim_results: {head: "+strings.Repeat("[", 100)+strings.Repeat("]", 100)+"}}]}}", "nested too deeply")
	f("alias to itself", "policies: {adaptive: {ladder: [{trim_results: &a {head: *a}}]}}", "nested too deeply")
	f("merge of itself", "models: [&a {<<: [*a, *a], match: 1}]", "repeats itself")
	f("laughs", "x-0: &a0 [1,1,1,1,1,1,1,1,1,1]\n"+laughs(9)+"policies: {adaptive: {ladder: [{trim_results: {head: *a9}}]}}", "repeats itself")
	f("many problems", strings.Repeat("a: 1\n", 5000), "and 4950 more")
	f("many problems in a line", "{"+strings.Repeat("a: 1, ", 4000)+"}", "and 3950 more")
	f("many rows", "models: ["+strings.Repeat(`{match: "*", policy: x}, `, 5000)+"]", "models has 5000 rows")
	f("many rungs", "policies: {adaptive: {ladder: ["+strings.Repeat("{trim_results: {head: 2}}, ", 2000)+"]}}", "and 1950 more")
	f("one long line", "listen: "+strings.Repeat("x", 200_000), "listen must be host:port")
	f("not text", "\x00\x01", "a control character stands here")
	f("utf-16", "\xff\xfea\x00", "the file is UTF-16")
	f("latin-1", "# gr\xfcn\n", "the file is not UTF-8")
}

func TestPositionsFitWhateverEndsALine(t *testing.T) {
	f := func(end string) {
		t.Helper()
		_, err := readConfig("laconic.yaml", []byte("\uFEFF# größe 世界"+end+"log:"+end+"  level: \"世界\" "+end+"  formt: x"+end), variables, nil)
		const want = `laconic.yaml:3:10: log.level cannot be "世界" (it is one of debug, info, warn, error)
  3 |   level: "世界"
    |          ^^^^
laconic.yaml:4:3: unknown key "formt" in log (did you mean format?)
  4 |   formt: ***
    |   ^^^^^`
		if err == nil || strings.ReplaceAll(err.Error(), " \n", "\n") != want {
			t.Errorf("%q: got\n%v\nwant\n%s", end, err, want)
		}
	}
	f("\n")
	f("\r\n")
	f("\r")
}

func laughs(n int) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, "x-%d: &a%d [%s*a%d]\n", i, i, strings.Repeat(fmt.Sprintf("*a%d,", i-1), 9), i-1)
	}
	return b.String()
}

func TestALargeFileIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "big.yaml")
	if err := os.WriteFile(path, make([]byte, longestConfig+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path); err == nil || !strings.HasSuffix(err.Error(), "the file is larger than 1MiB") {
		t.Errorf("got %v", err)
	}
}

// Files break while people type. Wherever a few characters are lost or added,
// what stands behind a key that holds secrets is not shown.
func TestNoSlipOfTheHandShowsASecret(t *testing.T) {
	const text = `# a file with secrets in every style
listen: 127.0.0.1:7280
admin_token: "canary-0 canary"   # canary
client_keys:
  - canary-1
  - 'canary-2: canary'
x-row: &row {api_key: canary-3, window: none}
models:
  - match: "gpt-*"
    api_key: canary-4
    upstream: https://one.example/v1
    windw: 1
  - {match: "a", api_key: "canary-5, canary", credential: canary-6, reserve: x}
  - match: b
    api_key: >-
      canary-7
      canary-8
    budget: many
  - {<<: *row, match: "*", api_key:
      canary-9}
log: {level: loud}
client_key: canary-10
`
	slips := []string{"", "", "", ":", ": ", "\"", "'", "[", "]", "{", "}", "#", " #", "&", "*", "!", "|", ">", "-", "- ", "\n", "\n  ", "\t", " ", ",", "%", "@", "?", "? ", "$", "${", "\\"}
	random := rand.New(rand.NewPCG(1, 2))
	seen := map[string]bool{}
	for range 1500 {
		broken := text
		for range 1 + random.IntN(3) {
			at := random.IntN(len(broken))
			lost := min(random.IntN(3), len(broken)-at)
			broken = broken[:at] + slips[random.IntN(len(slips))] + broken[at+lost:]
		}
		c, err := readConfig("laconic.yaml", []byte(broken), variables, nil)
		var b strings.Builder
		tellConfig(&b, c, err, false)
		tellConfig(&b, c, err, true)
		for _, w := range strings.FieldsFunc(b.String(), func(r rune) bool { return r == '\n' }) {
			if strings.Contains(w, canary) && !seen[w] {
				seen[w] = true
				t.Errorf("shown: %s\nof\n%s", w, broken)
			}
		}
		if len(seen) > 5 {
			t.FailNow()
		}
	}
}

// FuzzParse: no file ends the process, no message shows what the environment
// or an api_key holds, and what is valid can be used.
func FuzzParse(f *testing.F) {
	files, _ := filepath.Glob("testdata/config/*.txtar")
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, part := range archive.Files {
			if strings.HasSuffix(part.Name, "/yaml") && !strings.Contains(string(part.Data), canary) {
				f.Add(string(part.Data))
			}
		}
	}
	vault, err := store.Open(store.Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(vault.Close)
	always := func(string) (string, bool) { return canary, true }
	const secrets = "x-row: &row {api_key: canary, window: none}\nclient_keys:\n  - canary: [\n"
	f.Fuzz(func(t *testing.T, src string) {
		if strings.Contains(src, canary) {
			t.Skip("the secret stands where none belongs")
		}
		for _, text := range []string{src, src + "\n" + secrets, "client_keys: [canary, {canary: canary}]\nmodels: [{api_key: canary, credential: canary}]\nsummarizer: {api_key: canary, credential: canary}\nstore: {secret: canary}\n" + src} {
			c, err := readConfig("fuzz.yaml", []byte(text), always, nil)
			var b strings.Builder
			tellConfig(&b, c, err, false)
			tellConfig(&b, c, err, true)
			if err != nil {
				if strings.Contains(b.String(), canary) {
					t.Fatalf("a secret is shown:\n%s\nof\n%s", b.String(), text)
				}
				continue
			}
			if err := c.Validate(); err != nil {
				t.Fatalf("valid when read, then not: %v", err)
			}
			o, err := c.Options(countWords)
			if err != nil {
				t.Fatalf("valid, but of no use: %v", err)
			}
			if o.Summarizer != nil {
				o.Summarizer.Store = vault // not the one it names: a fuzzer writes no files
			}
			if _, err := proxy.New(o); err != nil {
				t.Fatalf("valid, but the proxy refuses it: %v\n%s", err, text)
			}
			if o.RouteFor("x") == nil || o.Default.Policy == nil {
				t.Fatal("valid, but without a route or a policy")
			}
		}
	})
}
