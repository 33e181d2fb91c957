package config

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"laconic/config/configtest"
	"laconic/proxy/access"

	"github.com/google/go-cmp/cmp"
	yaml "go.yaml.in/yaml/v4"
)

var update = flag.Bool("update", false, "rewrite golden files")

func TestUnitsAreReadAndWritten(t *testing.T) {
	for _, s := range []string{"64MiB", "512MB", "1GiB", "3KiB", "7B", "1000001B", "0B"} {
		if n, err := parseSize(s); err != nil || n.String() != s {
			t.Errorf("%s is written %s (%v)", s, n, err)
		}
	}
	for _, s := range []string{"10s", "15m", "1h30m", "168h", "250ms", "1m30s"} {
		if d, err := parseDuration(s); err != nil || d.String() != s {
			t.Errorf("%s is written %s (%v)", s, d, err)
		}
	}
	for in, want := range map[string]Size{"1.5GiB": 3 << 29, "10 kb": 10_000} {
		if n, err := parseSize(in); err != nil || n != want {
			t.Errorf("%s is %d (%v)", in, n, err)
		}
	}
	for _, in := range []string{"64", "64M", "-1MB", "1e3MB", "", "big", "99999999999GiB"} {
		if n, err := parseSize(in); err == nil {
			t.Errorf("%q is %d", in, n)
		}
	}
	for _, in := range []string{"5", "0", "5d", "soon"} {
		if d, err := parseDuration(in); err == nil {
			t.Errorf("%q is %v", in, d)
		}
	}
	if n, err := parseWhole("128_000"); err != nil || n != 128000 {
		t.Errorf("128_000 is %d (%v)", n, err)
	}
	for _, in := range []string{"010", "0x10", "1e3", "", "-", "99999999999999999999"} {
		if n, err := parseWhole(in); err == nil {
			t.Errorf("%q is %d", in, n)
		}
	}
}

func TestPatternsMatch(t *testing.T) {
	f := func(pattern, name string, want bool) {
		t.Helper()
		if got := Pattern(pattern).Matches(name); got != want {
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
	start := time.Now()
	if Pattern(strings.Repeat("a*", 2000)+"b").Matches(strings.Repeat("a", 4<<20)) || time.Since(start) > 5*time.Second {
		t.Errorf("it matches, or 4 MB took %v", time.Since(start))
	}
}

func TestPatternsCover(t *testing.T) {
	f := func(p, q string, want bool) {
		t.Helper()
		if got := Pattern(p).covers(Pattern(q)); got != want {
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
		r := &reading{config: &Config{variables: map[*yaml.Node]string{}}}
		n := &yaml.Node{Kind: yaml.ScalarNode, Value: in}
		r.expandAll(n, configtest.Variable)
		var said []string
		for _, e := range r.found {
			said = append(said, e.Message)
		}
		got := n.Value
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
	c, err := Parse("laconic.yaml", []byte("listen: 127.0.0.1:1\npolicies: {adaptive: {pin: {text: [${INJECT}]}}}\n"), configtest.Variable)
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
		if got := Nearest(in, known); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
	f("lisen", "listen")
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
		u, err := ParseUpstream(upstream)
		if err != nil {
			t.Fatal(err)
		}
		if got := access.SameListener(u, listen); got != want {
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
	if diff := cmp.Diff(Default(), c, ignorePlaces); diff != "" || c.File != "" {
		t.Errorf("-default +got\n%s", diff)
	}
	if err := problems(Default().check()); err != nil {
		t.Errorf("the defaults are refused: %v", err)
	}
	if !c.OverridesOn() {
		t.Error("overrides are off on loopback")
	}

	if err := os.WriteFile(FileName, []byte("default_window: 4096\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err = Load("")
	if err != nil || c.DefaultWindow != 4096 || c.File != FileName {
		t.Errorf("%s is not read: %v", FileName, err)
	}
	was := FileName
	move := func(to string) {
		t.Helper()
		if err := os.Rename(was, to); err != nil {
			t.Fatal(err)
		}
		was = to
	}
	move("laconic.yml")
	if c, err = Load(""); err != nil || c.File != "laconic.yml" {
		t.Errorf("laconic.yml is not read: %v", err)
	}
	if err := os.MkdirAll("home/.config/laconic", 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", "home")
	t.Setenv("XDG_CONFIG_HOME", "")
	for _, name := range []string{"laconic.yaml", "laconic.yml"} {
		path := "home/.config/laconic/" + name
		move(path)
		if c, err = Load(""); err != nil || c.File != path {
			t.Errorf("the file of the user is not read: %v, %q", err, c.File)
		}
	}
	for _, path := range []string{"home/.config/laconic/config.yaml", "home/.config/laconic/laconic.toml", "laconic.json", ".laconic.yaml", "Laconic.YAML"} {
		move(path)
		if _, err = Load(""); err == nil || err.Error() != path+": the file is not read, because of its name (call it laconic.yaml, in YAML, or name it by -c)" {
			t.Errorf("%s: %v", path, err)
		}
	}
	for _, path := range []string{"config.yaml", "Config.yml"} {
		move(path)
		if c, err = Load(""); err != nil || c.File != "" {
			t.Errorf("%s, the file of another program: %v, %q", path, err, c.File)
		}
	}
	if _, err := Load("other.yaml"); err == nil || err.Error() != "other.yaml: there is no such file (correct the path; laconic init writes a file, and without -c every setting has its default)" {
		t.Errorf("a missing file: %v", err)
	}
}

var ignorePlaces = cmp.Options{
	cmp.AllowUnexported(Policy{}),
	cmp.FilterPath(func(p cmp.Path) bool {
		return slices.Contains([]string{".places", ".File", ".Sum", ".variables", ".unreadBase"}, p.Last().String())
	}, cmp.Ignore()),
}

func TestOverridesWinAndAreChecked(t *testing.T) {
	src := []byte("upstream: https://file.example/v1\nlog: {level: debug}\n")
	c, err := Parse("laconic.yaml", src, configtest.Variable, []Override{
		{"upstream", "http://flag.example:8000/v1", "--upstream"},
		{"log.format", "json", "--log-format"},
		{"default_window", "4096", "--window"},
		{"strict", "true", "--strict"},
	}...)
	if err != nil {
		t.Fatal(err)
	}
	if c.Upstream != "http://flag.example:8000/v1" || c.Log != (Log{"debug", "json"}) || c.DefaultWindow != 4096 || !c.Strict {
		t.Errorf("got %+v", c)
	}

	_, err = Parse("laconic.yaml", src, configtest.Variable, []Override{
		{"upstream", "flag.example", "LACONIC_UPSTREAM"},
		{"log.level", "${WORD}", "--log-level"},
		{"default_window", "many", "--window"},
	}...)
	const want = `LACONIC_UPSTREAM: upstream must be a URL that begins with http:// or https:// (such as https://api.openai.com/v1)
--log-level: log.level is not a known name (known are debug, info, warn, error)
--window: default_window must be a whole number`
	if err == nil || !sameLines(err.Error(), want) {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}

// An override does not change what the file said about everything else.
func TestOverridesLeaveTheFilesPositions(t *testing.T) {
	c, err := Parse("laconic.yaml", []byte("log:\n  formt: json\nlimits: {body: 1GiB}\n"), configtest.Variable, []Override{
		{"log.level", "debug", "--log-level"},
		{"limits.memory", "1MiB", "--memory"},
		{"admin", "0.0.0.0:7281", "--admin"},
	}...)
	const want = `--admin: admin is open to other machines, so it needs an admin_token (or listen on 127.0.0.1)
laconic.yaml:2:3: unknown key "formt" in log (did you mean format?)
laconic.yaml:3:16: limits.body is larger than limits.memory, so the largest request could never be taken`
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
	if p := c.placeOf("log.color"); p.from != "laconic.yaml" || p.node.Line != 2 {
		t.Errorf("log is now thought to stand in %s:%d", p.from, p.node.Line)
	}
	_, err = Parse("", nil, configtest.Variable, Override{"listen", "127.0.0.1:7281", "--listen"})
	if err == nil || err.Error() != `--listen: admin and listen are the same address (give admin another port, or turn it off)` {
		t.Errorf("got %v", err)
	}
}

func sameLines(a, b string) bool {
	return slices.Equal(slices.Sorted(strings.SplitSeq(a, "\n")), slices.Sorted(strings.SplitSeq(b, "\n")))
}

func TestHostileFilesAreAnswered(t *testing.T) {
	f := func(name, src, part string) {
		t.Helper()
		start := time.Now()
		_, err := Parse("laconic.yaml", []byte(src), configtest.Variable)
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: got %v", name, err)
		}
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("%s took %v", name, took)
		}
	}
	f("deep", strings.Repeat("[", 200_000), "this is not YAML: exceeded max depth")
	f("many problems", strings.Repeat("a: 1\n", 5000), "and 4950 more")
	f("many problems in a line", "{"+strings.Repeat("a: 1, ", 4000)+"}", "and 3950 more")
	f("many rows", "models: ["+strings.Repeat(`{match: "*", policy: x}, `, 5000)+"]", "models has 5000 rows")
	f("many rungs", "policies: {adaptive: {ladder: ["+strings.Repeat("{trim_results: {max_chars: 0}}, ", 2000)+"]}}", "and 1950 more")
	f("one long line", "listen: "+strings.Repeat("x", 200_000), "listen must be host:port")
	f("not text", "\x00\x01", "this is not YAML: control characters are not allowed")
	f("utf-16", "\xff\xfea\x00", "the file is not UTF-8")
	f("latin-1", "# gr\xfcn\n", "the file is not UTF-8")
}

func TestPositionsFitWhateverEndsALine(t *testing.T) {
	f := func(end string) {
		t.Helper()
		_, err := Parse("laconic.yaml", []byte("\uFEFF# größe 世界"+end+"log:"+end+"  level: \"世界\" "+end+"  formt: x"+end), configtest.Variable)
		const want = `laconic.yaml:3:10: log.level is not a known name (known are debug, info, warn, error)
laconic.yaml:4:3: unknown key "formt" in log (did you mean format?)`
		if err == nil || strings.ReplaceAll(err.Error(), " \n", "\n") != want {
			t.Errorf("%q: got\n%v\nwant\n%s", end, err, want)
		}
	}
	f("\n")
	f("\r\n")
	f("\r")
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

// TestOnlyWhatIsAskedOfARunningProxyMatters: its address and its token.
func TestOnlyWhatIsAskedOfARunningProxyMatters(t *testing.T) {
	file := filepath.Join(t.TempDir(), "laconic.yaml")
	f := func(src, admin, token, wrong string, over ...Override) {
		t.Helper()
		if err := os.WriteFile(file, []byte(src), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := LoadAdmin(file, over...)
		if said := fmt.Sprint(err); c.Admin != admin || string(c.AdminToken) != token || (err == nil) != (wrong == "") || !strings.Contains(said, wrong) {
			t.Errorf("%q: %q %q %v", src, c.Admin, c.AdminToken, err)
		}
	}
	t.Setenv("A_TOKEN", "a-token-of-the-test")
	const rest = "upsteam: x\nlisten: 127.0.0.1:7000\nclient_keys: [\"${NOT_SET}\"]\nlimits: 7\nmodels:\n"
	f(rest+"admin: 127.0.0.1:7000\nadmin_token: ${A_TOKEN}\n", "127.0.0.1:7000", "a-token-of-the-test", "")
	f("admin: \"off\"\n"+rest, "", "", "")
	f(rest, Default().Admin, "", "")
	f(rest, "127.0.0.1:1", "", "", Override{Key: "admin", Value: "127.0.0.1:1", From: "--admin"}, Override{Key: "log.level", Value: "loud", From: "--log-level"})
	f("admin_token: ${NOT_SET}\n", Default().Admin, "", "NOT_SET is not set")
	f("admin: [1]\n", Default().Admin, "", "admin must be")
	f("a: [", Default().Admin, "", "this is not YAML")
}
