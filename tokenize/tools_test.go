package tokenize

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"laconic/proxy/wire/wiretest"
)

// The layouts are those of Python's json.dumps, without an indent and with one.
func TestToolsAreLaidOutAsTemplatesDo(t *testing.T) {
	const list = `[ {"name":"a, b: \"c\"", "n":[1,2.5,{}],"e":[ ],"s":"\\"} ]`
	f := func(indent int, want string) {
		t.Helper()
		if got := string(laidOut([]byte(list), indent)); got != want {
			t.Errorf("indent %d:\n%s\nwant:\n%s", indent, got, want)
		}
	}
	f(0, `[{"name": "a, b: \"c\"", "n": [1, 2.5, {}], "e": [], "s": "\\"}]`)
	f(2, `[
  {
    "name": "a, b: \"c\"",
    "n": [
      1,
      2.5,
      {}
    ],
    "e": [],
    "s": "\\"
  }
]`)
	for _, broken := range []string{"", "]", "}}}]", "[{", `["`, `["\`, ",:", "\"\"\""} {
		_ = laidOut([]byte(broken), 4)
	}
	if n := len(laidOut([]byte(strings.Repeat("[", 10_000)), 4)); n > 10_000*(4*deepest+2) {
		t.Errorf("10,000 levels take %d bytes", n)
	}
}

// Each family pays for its own template, the others for the layout that two of these share.
func TestEachFamilyPaysForItsTemplate(t *testing.T) {
	f := func(model string, indent, page int) {
		t.Helper()
		c := For(model)
		if got, want := c.Tools([]byte(weatherTools)), page+c.Text(string(laidOut([]byte(weatherTools), indent))); got != want {
			t.Errorf("%s: %d, want %d", model, got, want)
		}
		if got := c.Tools([]byte("[]")); got != 0 {
			t.Errorf("%s: no tools cost %d", model, got)
		}
	}
	f("qwen3-8b", 0, 86)
	f("deepseek-r1:7b", 0, 86)
	f("llama3.1:8b", 4, 44)
	f("llama-4-scout", 4, 44)
	f("mistral-small-latest", 0, 2)
	f("mixtral:8x7b", 0, 2)
	f("my-own", 0, 44)
	f("glm-4.6", 0, 44)
	if got := For("phi-3.5-mini-instruct").Tools([]byte(weatherTools)); got != 0 {
		t.Errorf("tools that Phi-3.5 leaves out cost %d", got)
	}
	c := For("claude-sonnet-4-5")
	if got, want := c.Tools([]byte(weatherTools)), 346+c.Text(string(compactJSON([]byte(weatherTools)))); got != want {
		t.Errorf("Claude: %d, want %d", got, want)
	}
}

// The pages that stand in the table were counted.
func TestPagesOfTemplates(t *testing.T) {
	o200k := For("gpt-4o")
	f := func(family, page string) {
		t.Helper()
		if got, want := o200k.Text(page), templateOf(family).page; got != want {
			t.Errorf("%s: %d tokens, %d in the table", family, got, want)
		}
	}
	f("qwen", "# Tools\n\nYou may call one or more functions to assist with the user query.\n\nYou are provided with function signatures within "+
		"<tools></tools> XML tags:\n<tools>\n\n</tools>\n\nFor each function call, return a json object with function name and arguments within "+
		"<tool_call></tool_call> XML tags:\n<tool_call>\n{\"name\": <function-name>, \"arguments\": <args-json-object>}\n</tool_call>")
	f("llama-3.1", "Answer the user's question by making use of the following functions if needed.\nIf none of the function can be used, please say so.\n"+
		"Here is a list of functions in JSON format:\n\n\nReturn function calls in JSON format.")
}

// Tools of real agents cost an unknown model their JSON, a tenth and the page at most. Those of the repository's own
// requests have few words, and the blanks are up to a third.
func TestRealToolsCostTheirJSON(t *testing.T) {
	seen := map[string]bool{}
	files := []string{"../e2e/testdata/conversations/readers.jsonl"}
	if wiretest.HasLargerSet(t) {
		larger, _ := filepath.Glob(wiretest.LargerSet(t) + "/wire/*.jsonl")
		files = append(files, larger...)
	}
	for i, file := range files {
		most := 110 // percent
		if i == 0 {
			most = 133
		}
		for _, r := range recorded[struct{ Tools json.RawMessage }](t, file) {
			if empty(r.Tools) || seen[string(r.Tools)] {
				continue
			}
			seen[string(r.Tools)] = true
			c := For("a model that nobody knows")
			got, plain := c.Tools(r.Tools), c.Text(string(compactJSON(r.Tools)))
			t.Logf("%s: %d, the JSON alone %d (%.2f)", filepath.Base(file), got, plain, float64(got)/float64(plain))
			if got < plain || got > plain*most/100+templateOf("unknown").page || plain == 0 {
				t.Errorf("%s: %d, the JSON alone %d", filepath.Base(file), got, plain)
			}
		}
	}
	if len(seen) == 0 {
		t.Error("no request has tools")
	}
}

func FuzzTools(f *testing.F) {
	f.Add([]byte(weatherTools))
	f.Add([]byte(`[{"name":"a","n":[1,[2,[3]]]}]`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, model := range []string{"qwen3", "llama3.1:8b", "mistral", "nobody's"} {
			if n := For(model).Tools(raw); n < 0 || n > 1000+40*len(raw) {
				t.Fatalf("%s: %d tokens for %d bytes", model, n, len(raw))
			}
		}
		if json.Valid(raw) {
			for _, indent := range []int{0, 4} {
				if got := laidOut(raw, indent); string(compactJSON(got)) != string(compactJSON(raw)) {
					t.Fatalf("%q became %q", raw, got)
				}
			}
		}
	})
}
