package cli

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"laconic/compact"
	"laconic/compact/policy"
	"laconic/compact/stage"
	"laconic/config"
	"laconic/config/configtest"
	"laconic/proxy"
	"laconic/store"
	"laconic/tokenize"
)

var update = flag.Bool("update", false, "rewrite golden files")

const canary = "canary"

// TestConfigStories runs the files of config/testdata: a configuration and what
// check says about it, in words (says) or for programs (json).
func TestConfigStories(t *testing.T) {
	files, err := filepath.Glob("../config/testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no stories", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive := must(txtar.ParseFile(file))
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
					c, err := config.Parse("laconic.yaml", src, configtest.Variable)
					code := printConfig(&b, c, err, part == "json")
					if (code == nil) != (err == nil) {
						t.Errorf("%v with error %v", code, err)
					}
					if err == nil {
						o := proxyOptions(c)
						if o.Summarizer != nil {
							o.Store, err = store.Open(storeOptions(c, func(line string) { t.Log(line) }))
							defer o.Store.Close()
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
				writeFile(t, file, string(txtar.Format(archive)))
			}
		})
	}
}

// lists stand in the stories for what grows with the product, and for numbers
// that are chosen by measurement.
var lists = strings.NewReplacer(
	fmt.Sprintf("land: %v\n", compact.DefaultLand), "land: LAND\n",
	fmt.Sprintf("share: %v\n", compact.DefaultKeepShare), "share: SHARE\n",
	fmt.Sprintf("tokens: %d\n", compact.DefaultKeepTokens), "tokens: TOKENS\n",
	strings.Join(stage.Names(), ", "), "STAGES",
	strings.Join(slices.Sorted(slices.Values(policy.Names())), ", "), "POLICIES",
	strings.Join(tokenize.Names(), ", "), "TOKENIZERS",
)

// goWords are what no user should read.
var goWords = regexp.MustCompile(`main\.|\b(?:yaml|json): |\[\]string|\bint(64)?\b|float64|\bstruct\b|unmarshal|!!`)

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
		c, err := config.Parse("laconic.yaml", []byte(broken), configtest.Variable)
		var b strings.Builder
		_ = printConfig(&b, c, err, false)
		_ = printConfig(&b, c, err, true)
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
	for _, src := range configtest.All(f, "../config/testdata") {
		if !strings.Contains(string(src), canary) {
			f.Add(string(src))
		}
	}
	vault := must(store.Open(store.Options{}))
	f.Cleanup(vault.Close)
	always := func(string) (string, bool) { return canary, true }
	const secrets = "x-row: &row {api_key: canary, window: none}\nclient_keys:\n  - canary: [\n"
	f.Fuzz(func(t *testing.T, src string) {
		if strings.Contains(src, canary) {
			t.Skip("the secret stands where none belongs")
		}
		for _, text := range []string{src, src + "\n" + secrets, "client_keys: [canary, {canary: canary}]\nmodels: [{api_key: canary, credential: canary}]\nsummarizer: {api_key: canary, credential: canary}\nstore: {secret: canary}\n" + src} {
			c, err := config.Parse("fuzz.yaml", []byte(text), always)
			var b strings.Builder
			_ = printConfig(&b, c, err, false)
			_ = printConfig(&b, c, err, true)
			if err != nil {
				if strings.Contains(b.String(), canary) {
					t.Fatalf("a secret is shown:\n%s\nof\n%s", b.String(), text)
				}
				continue
			}
			o := proxyOptions(c)
			if o.Summarizer != nil {
				o.Store = vault // not the one it names: a fuzzer writes no files
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
