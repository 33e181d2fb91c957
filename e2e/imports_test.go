// Package e2e compares the repository's pages and imports with what is there. Its
// folders run the laconic command as its users do, as a process, and need more each:
//
//   - stories: nothing; a contributor's loop
//   - sweep: nothing; recorded requests, folded in many ways
//   - binary: what is around the command, such as nginx, Prometheus and Chromium
//   - deploy: what `make deploy` builds, for the chart
//   - llamacpp: a real llama-server, which `make llamacpp` fetches
//   - survival, cluster: minutes; see there
//
// What several folders need is in package rig. Upstreams are stricter than real ones,
// but for those of llamacpp.
package e2e

import (
	"go/parser"
	"go/token"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"laconic/e2e/rig"
)

// rule says what a package of this module may import, tests apart. A package
// that consists of tests is held to its rule with them.
type rule struct {
	pkg string
	// std lists what it may take from the standard library; nil: all.
	std []string
	// others are the packages of this module and the modules it may take.
	others []string
	why    string
}

var pure = []string{"bytes", "cmp", "context", "encoding/binary", "encoding/base64", "errors", "fmt", "iter", "maps", "math", "math/bits", "regexp", "slices", "sort", "strconv", "strings", "sync", "unicode", "unicode/utf8"}

var rules = []rule{
	{"compact", append([]string{"encoding/json", "hash/fnv"}, pure...), nil, "compact decides; it may not know HTTP, logs, the clock or a tokenizer, and of JSON only whether arguments are an object"},
	{"compact/quote", pure, nil, "a text is quoted the same way whoever quotes it"},
	{"compact/agent", pure, []string{"laconic/compact/quote", "github.com/go-json-experiment/json/jsontext", "go.yaml.in/yaml/v4"}, "what an agent wrote is read from its text alone; it may not know a conversation"},
	{"compact/digest", pure, []string{"laconic/compact", "laconic/compact/agent", "laconic/compact/quote", "github.com/rogpeppe/go-internal/diff"}, "a digest is a function of the messages that left; which agent wrote them is not known here"},
	{"compact/promises", append([]string{"encoding/json"}, pure...), []string{"laconic/compact"}, "what was promised is checked by those who do not decide"},
	{"compact/stage", append([]string{"encoding/json", "reflect"}, pure...), []string{"laconic/compact", "laconic/compact/agent", "laconic/compact/digest", "laconic/compact/quote"}, "a stage sees a draft and its options, nothing else"},
	{"compact/policy", pure, []string{"laconic/compact", "laconic/compact/digest", "laconic/compact/stage"}, "a policy is a ladder of stages and its numbers"},
	{"compact/history", pure, []string{"laconic/compact", "laconic/compact/policy"}, "a history is a library on top of compact; the proxy holds none"},
	{"compact/handover", append([]string{"embed"}, pure...), []string{"laconic/compact", "laconic/compact/stage"}, "whose request it is follows from its texts alone; what becomes of it is a ladder of known stages"},
	{"fold", append([]string{"encoding/json", "unsafe"}, pure...), []string{"laconic/compact", "laconic/compact/handover", "laconic/compact/policy", "laconic/counting", "laconic/proxy/wire"}, "a program that folds bodies is given a library, and no part of a proxy"},
	{"fold/service", nil, []string{"laconic/compact", "laconic/fold", "laconic/proxy/wire", "github.com/tidwall/gjson"}, "the library over HTTP; who may call it, and under which rows, is handed in"},
	{"tokenize", append([]string{"embed", "encoding/json", "image", "image/gif", "image/jpeg", "image/png", "io", "path", "unsafe"}, pure...), []string{"laconic/tokenize/bpe"}, "counting is pure"},
	{"tokenize/bpe", append([]string{"embed", "unsafe"}, pure...), nil, "tokens are a function of the text"},
	{"proxy/answer", nil, []string{"laconic/proxy/wire", "laconic/proxy/overflow"}, "an answer passes through; what it says is for its wire to read"},
	{"proxy/wire", append([]string{"encoding/json", "io", "sync/atomic", "unicode/utf16", "unsafe"}, pure...), []string{"laconic/compact", "laconic/proxy/overflow", "github.com/go-json-experiment/json", "github.com/tidwall/gjson"}, "wire turns bytes into conversations and back; it may not know HTTP or logs"},
	{"proxy/discover", nil, []string{"laconic/compact", "github.com/tidwall/gjson"}, "upstreams are asked what they publish; whose credential asks is handed in"},
	{"proxy/learn", append([]string{"crypto/hmac", "crypto/sha256", "encoding/binary", "net/url", "reflect", "time"}, pure...), []string{"laconic/compact", "laconic/number", "laconic/proxy/overflow", "github.com/maypok86/otter/v2"}, "what is learnt of upstreams is values in and values out; it may not know HTTP, a request or the configuration"},
	{"proxy/overflow", append([]string{"encoding/json", "io"}, pure...), []string{"github.com/tidwall/gjson"}, "overflow reads what upstreams write; it may not know HTTP or the proxy"},
	{"proxy/summarize/redact", append([]string{"io"}, pure...), []string{"github.com/go-json-experiment/json"}, "a mask is a function of a text"},
	{"proxy/summarize/prompt", pure, []string{"laconic/compact", "laconic/compact/quote", "laconic/proxy/summarize/redact"}, "what a model is asked and what of its answer is taken is a function of texts"},
	{"proxy/fingerprint", append([]string{"crypto/sha256", "hash", "io"}, pure...), []string{"laconic/compact"}, "a hash of messages; it may not know what it is for"},
	{"proxy/summarize", nil, []string{
		"laconic/compact", "laconic/proxy/access", "laconic/proxy/admission", "laconic/proxy/apierror", "laconic/proxy/fingerprint", "laconic/proxy/summarize/prompt",
		"laconic/proxy/summarize/redact", "laconic/store", "github.com/maypok86/otter/v2", "golang.org/x/sync/semaphore",
	}, "a summarizer fills slots; it is given what it must know of a request"},
	{"proxy/plan", append([]string{"crypto/hmac", "crypto/sha256", "encoding/hex"}, pure...), []string{"laconic/compact", "laconic/compact/handover", "laconic/proxy/fingerprint", "laconic/proxy/learn", "laconic/proxy/wire"}, "what a request may cost and how it is shortened is a function of values; it may not know HTTP or who asks"},
	{"proxy/why", pure, []string{"laconic/compact", "laconic/number"}, "a sentence is a function of numbers and words; who shows it is not known here"},
	{"proxy/apierror", nil, nil, "an error's shape is known to every room; it may know none of them"},
	{"proxy/access", nil, []string{"laconic/proxy/apierror"}, "who may come in, and whose key goes where, is decided by headers and URLs alone"},
	{"proxy/operate", nil, []string{"laconic/number", "laconic/proxy/access", "laconic/proxy/apierror", "laconic/proxy/why", "laconic/proxy/wire"}, "what an operator is shown is handed in; it may not know the proxy"},
	{"proxy/logging", nil, []string{"laconic/compact", "laconic/proxy", "laconic/proxy/apierror", "laconic/proxy/operate", "laconic/proxy/summarize", "laconic/proxy/wire", "go.uber.org/zap"}, "what a proxy reports becomes lines; zap is nobody else's in the proxy"},
	{"proxy/metrics", nil, []string{"laconic/compact", "laconic/proxy", "laconic/proxy/apierror", "laconic/proxy/operate", "laconic/proxy/summarize", "laconic/proxy/wire", "laconic/store", "github.com/prometheus/client_golang"}, "what a proxy reports becomes counts; Prometheus is nobody else's in the proxy"},
	{"proxy/page", nil, []string{"laconic/compact", "laconic/number", "laconic/proxy", "laconic/proxy/fingerprint", "laconic/proxy/learn", "laconic/proxy/operate", "laconic/proxy/summarize", "laconic/proxy/why", "laconic/proxy/summarize/redact", "laconic/view", "github.com/go-json-experiment/json"}, "a page shows what a proxy reports; what else there is to show is handed in"},
	{"proxy/tracing", nil, []string{"laconic/proxy", "laconic/proxy/access", "laconic/proxy/apierror", "go.opentelemetry.io/otel", "github.com/go-logr/logr"}, "what a proxy reports becomes spans; OpenTelemetry is nobody else's in the proxy"},
	{"proxy/body", nil, []string{"laconic/proxy/admission", "laconic/proxy/apierror", "github.com/klauspost/compress", "golang.org/x/sync"}, "bodies are bytes with deadlines and a price; what they say is not known here"},
	{"proxy/admission", nil, []string{"laconic/number", "laconic/proxy/apierror", "golang.org/x/time"}, "memory and quotas are shared out by sizes and clients; what they are for is not known here"},
	{"proxy", nil, []string{
		"laconic/compact", "laconic/compact/handover", "laconic/proxy/wire", "laconic/proxy/learn", "laconic/proxy/overflow",
		"laconic/proxy/access", "laconic/proxy/admission", "laconic/proxy/answer", "laconic/proxy/apierror", "laconic/proxy/body", "laconic/proxy/discover",
		"laconic/proxy/operate", "laconic/proxy/plan", "laconic/proxy/summarize", "laconic/proxy/why",
		"laconic/view",
	}, "stages, tokenizers and YAML are handed in"},
	{"store", nil, []string{"github.com/maypok86/otter/v2", "go.etcd.io/bbolt", "github.com/redis/go-redis/v9", "github.com/failsafe-go/failsafe-go"}, "a store keeps texts; it may not know what they mean"},
	{"replay/recording", nil, []string{"laconic/compact", "laconic/proxy/wire", "github.com/tidwall/gjson"}, "recorded conversations are read as the proxy reads requests, and nothing is measured"},
	{"number", pure, nil, "a number is written the same everywhere"},
	{"view", append([]string{"embed"}, pure...), []string{"laconic/compact", "laconic/compact/quote"}, "what became of a message is a function of a plan; it may know neither the proxy nor a replay"},
	{"replay/report", nil, []string{"laconic/number", "laconic/replay", "laconic/view"}, "a report writes what was measured, and measures nothing"},
	{"replay", nil, []string{"laconic/compact", "laconic/compact/promises", "laconic/number", "laconic/replay/recording", "laconic/view", "golang.org/x/sync/errgroup"}, "replay measures policies; it may not know the proxy, nor which stages there are"},
	{"demo/strict", nil, nil, "the strict upstream must not share a mistake with the proxy"},
	{"demo", nil, []string{"laconic/demo/strict", "laconic/number", "github.com/sashabaranov/go-openai"}, "the demo is a client like any other"},
	{"config", nil, []string{"laconic/compact", "laconic/compact/policy", "laconic/compact/stage", "laconic/proxy/access", "laconic/proxy/why", "laconic/store", "laconic/tokenize", "go.yaml.in/yaml/v4"}, "a file becomes values; it may not know commands, the proxy or HTTP"},
	{"cli/runlog", nil, []string{"go.uber.org/zap", "golang.org/x/term"}, "a log is lines in and lines out; what they say is not known here"},
	{"cli/findings", nil, []string{"laconic/number", "laconic/config", "laconic/proxy", "laconic/proxy/operate", "laconic/proxy/why", "laconic/store"}, "facts become sentences; who gathers and who tells them is not known here"},
	{"counting", append([]string{"hash/maphash"}, pure...), []string{"laconic/compact", "laconic/tokenize", "github.com/go-json-experiment/json", "github.com/maypok86/otter/v2"}, "a counter is glue between compact and tokenize, which do not know each other"},
	{"docs/clients", []string{"embed"}, nil, "pages are texts"},
	{"cli/clients", nil, []string{"laconic/docs/clients"}, "what clients are told is data; it may know neither the proxy nor its configuration"},
	{"cli/top", nil, []string{"laconic/number", "laconic/proxy/page"}, "a board becomes lines; who asks for it is not known here"},
	{"cli/tally", nil, []string{"laconic/compact", "laconic/number", "laconic/proxy"}, "what a proxy reports becomes sums; where they are said is not known here"},
	{"compact/compacttest", nil, []string{"laconic/compact", "laconic/compact/promises", "golang.org/x/tools/txtar"}, "tests of every room write conversations by it"},
	{"proxy/wire/wiretest", nil, []string{"laconic/compact", "laconic/proxy/wire", "github.com/tidwall/gjson"}, "tests of every room read conversations by it"},
	{"config/configtest", nil, []string{"golang.org/x/tools/txtar"}, "tests of config and of the commands read configurations by it"},
	{"store/storetest", nil, []string{"github.com/redis/go-redis/v9"}, "tests start a server of their own by it"},
	{"replay/replaytest", nil, []string{"laconic/compact", "laconic/compact/compacttest"}, "tests of replay and of its reports read runs by it"},
	{"cli", nil, []string{
		"laconic/counting", "laconic/fold", "laconic/fold/service", "laconic/cli/findings", "laconic/cli/runlog", "laconic/compact", "laconic/compact/handover", "laconic/compact/policy", "laconic/compact/stage", "laconic/config", "laconic/demo", "laconic/demo/strict", "laconic/number",
		"laconic/cli/clients", "laconic/cli/tally", "laconic/cli/top", "laconic/proxy/apierror",
		"laconic/proxy", "laconic/proxy/access", "laconic/proxy/discover", "laconic/proxy/learn", "laconic/proxy/logging", "laconic/proxy/metrics", "laconic/proxy/operate", "laconic/proxy/page", "laconic/proxy/plan", "laconic/proxy/summarize", "laconic/proxy/tracing", "laconic/proxy/why", "laconic/proxy/wire",
		"laconic/replay", "laconic/replay/recording", "laconic/replay/report", "laconic/store", "laconic/tokenize",
		"github.com/maypok86/otter/v2", "github.com/spf13/cobra", "github.com/spf13/pflag", "go.uber.org/zap", "golang.org/x/sys", "golang.org/x/term",
	}, "commands put the rooms together; nothing but main may know them"},
	{".", []string{"context", "errors", "os", "os/signal", "syscall"}, []string{"laconic/cli"}, "main is signals and an exit code"},
	{"e2e", nil, []string{"laconic/e2e/rig", "laconic/store/storetest"}, "what the pages say is compared with the command as a process"},
	{"e2e/stories", nil, []string{"laconic/demo/strict", "laconic/e2e/rig", "laconic/store/storetest", "github.com/"}, "the command is seen as its users see it: as a process"},
	{"e2e/binary", nil, []string{"laconic/compact", "laconic/proxy/wire/wiretest", "laconic/counting", "laconic/demo", "laconic/demo/strict", "laconic/e2e/rig", "laconic/proxy/wire", "laconic/store/storetest", "github.com/", "golang.org/x/"}, "the command is seen as its users see it: as a process"},
	{"e2e/deploy", nil, []string{"laconic/e2e/rig", "laconic/store/storetest", "github.com/tidwall/gjson", "go.yaml.in/yaml/v4"}, "what deploys the command is run, or read by what would run it"},
	{"e2e/sweep", nil, []string{"laconic/compact", "laconic/demo/strict", "laconic/e2e/rig", "laconic/fold", "laconic/proxy/wire", "laconic/proxy/wire/wiretest", "github.com/tidwall/", "golang.org/x/sync/errgroup"}, "recorded requests are folded, and judged by a strict upstream"},
	{"e2e/rig", nil, []string{"laconic/proxy/wire/wiretest", "github.com/tidwall/gjson", "go.uber.org/goleak"}, "a process is started and ended by it; what it is tested for is not known here"},
	{"e2e/survival", nil, []string{"laconic/demo/strict", "laconic/e2e/llamacpp", "laconic/e2e/rig", "laconic/store/storetest", "laconic/tokenize", "github.com/tidwall/sjson"}, "an agent sees the command as a process"},
	{"e2e/llamacpp", nil, []string{"laconic/compact", "laconic/proxy/wire/wiretest", "laconic/e2e/llamacpp", "laconic/e2e/rig", "laconic/fold", "laconic/store/storetest", "github.com/tidwall/"}, "a real server is in front of the command, which is a process"},
	{"e2e/cluster", nil, []string{
		"laconic/demo/strict", "laconic/e2e/rig", "laconic/store/storetest", "github.com/Shopify/toxiproxy/v2", "github.com/rs/zerolog", "github.com/tidwall/gjson", "go.uber.org/goleak", "golang.org/x/sync/errgroup",
	}, "replicas are seen as their users see them: as processes behind a balancer"},
}

// TestImports is the architecture: who may know whom.
func TestImports(t *testing.T) {
	for _, r := range rules {
		imports := importsOf(t, r.pkg)
		for _, imp := range imports {
			if !allowed(r, imp) {
				t.Errorf("%s may not import %s: %s", r.pkg, imp, r.why)
			}
		}
		for _, o := range r.others {
			if !slices.ContainsFunc(imports, func(imp string) bool { return covers(o, imp) }) {
				t.Errorf("%s may import %s, and does not: the row says too much", r.pkg, o)
			}
		}
	}
}

// TestLibraries: who imports a library gets neither the network nor a store with it, by
// whatever way.
func TestLibraries(t *testing.T) {
	f := func(pkg string, forbidden ...string) {
		t.Helper()
		for _, dep := range listed(t, "-deps", "laconic/"+pkg) {
			if slices.Contains(forbidden, dep) {
				t.Errorf("%s pulls in %s", pkg, dep)
			}
		}
	}
	ours := []string{"laconic/proxy", "laconic/proxy/summarize", "laconic/store", "laconic/config", "laconic/cli", "github.com/spf13/cobra", "go.uber.org/zap"}
	f("fold", append(ours, "net", "net/http")...)
	f("compact/history", append(ours, "net", "net/http", "laconic/tokenize")...)
	f("fold/service", ours...)
}

// TestEveryPackageHasItsRule: a new room is entered in the table.
func TestEveryPackageHasItsRule(t *testing.T) {
	known := map[string]bool{}
	for _, r := range rules {
		known[path.Join("laconic", r.pkg)] = true
	}
	for _, pkg := range listed(t, "laconic/...") {
		if !known[pkg] && !strings.Contains(pkg, "/internal/") {
			t.Errorf("%s has no rule in this table", pkg)
		}
	}
}

// TestEveryPackageSaysWhatItIs: a package starts with what it guarantees.
func TestEveryPackageSaysWhatItIs(t *testing.T) {
	for _, pkg := range listed(t, "-f", "{{if and .GoFiles (lt (len .Doc) 40)}}{{.ImportPath}}{{end}}", "laconic/...") {
		t.Errorf("package %s has no doc comment that says what it guarantees", pkg)
	}
}

// TestTheDrawingOfRooms: each room of docs/design.md stands above all that it imports.
func TestTheDrawingOfRooms(t *testing.T) {
	page := rig.ReadFile(t, "../docs/design.md")
	_, drawing, _ := strings.Cut(string(page), "```\nmain ")
	drawing, _, _ = strings.Cut(drawing, "```")
	line := map[string]int{".": 1}
	for n, text := range strings.Split(drawing, "\n")[1:] {
		names, _, _ := strings.Cut(text, "  ")
		for _, name := range strings.Fields(names) {
			line[name] = n + 2
		}
	}
	for _, r := range rules {
		if strings.HasPrefix(r.pkg, "e2e") || strings.HasSuffix(r.pkg, "test") {
			continue
		}
		if line[r.pkg] == 0 {
			t.Errorf("%s is not in the drawing", r.pkg)
		}
		for _, other := range r.others {
			if name, ours := strings.CutPrefix(other, "laconic/"); ours && line[name] <= line[r.pkg] {
				t.Errorf("%s imports %s, which does not stand below it", r.pkg, name)
			}
		}
	}
}

// listed returns the words that go list prints.
func listed(t *testing.T, args ...string) []string {
	t.Helper()
	out, err := exec.Command("go", append([]string{"list"}, args...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(out))
}

func importsOf(t *testing.T, pkg string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", pkg, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files in %s: %v", pkg, err)
	}
	seen := map[string]bool{}
	var all []string
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") && !strings.HasPrefix(pkg, "e2e") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range f.Imports {
			if imp := strings.Trim(spec.Path.Value, `"`); !seen[imp] {
				seen[imp] = true
				all = append(all, imp)
			}
		}
	}
	return all
}

func allowed(r rule, imp string) bool {
	first, _, _ := strings.Cut(imp, "/")
	if !strings.Contains(first, ".") && first != "laconic" {
		if r.std == nil {
			return true
		}
		return slices.Contains(r.std, imp)
	}
	return slices.ContainsFunc(r.others, func(o string) bool { return covers(o, imp) })
}

// covers reports whether a row with o allows an import: a package of this module
// alone, a module with all of its packages.
func covers(o, imp string) bool {
	return imp == o || strings.HasPrefix(imp, strings.TrimSuffix(o, "/")+"/") && !strings.HasPrefix(o, "laconic/")
}
