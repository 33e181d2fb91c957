package tokenize

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
)

// testdata/models.txt says what follows from a model's name: its family, tokenizer, window and prompt limit, and whether
// its texts are counted exactly. -update writes it.
func TestModelsByName(t *testing.T) {
	const file = "testdata/models.txt"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	for line := range strings.Lines(string(text)) {
		if quoted, err := strconv.QuotedPrefix(line); err == nil {
			model, _ := strconv.Unquote(quoted)
			c := For(model)
			window, input, _ := Window(model)
			line = fmt.Sprintf("%-48s %-22s %-18s %5v %8d %7d\n", quoted, c.Family(), c.Name(), c.Exact(), window, input)
		}
		want.WriteString(line)
	}
	if *update {
		err = os.WriteFile(file, []byte(want.String()), 0o644)
	} else if want.String() != string(text) {
		err = errors.New("it is old, or the table has changed: go test ./tokenize -update shows what")
	}
	if err != nil {
		t.Errorf("%s: %v\n%s", file, err, want.String())
	}
	for i := range families {
		if c := (&Counter{&families[i], families[i].text}); c.Exact() && c.text.scale != nil {
			t.Errorf("%s claims to be exact", families[i].name)
		}
	}
}

var update = flag.Bool("update", false, "rewrite testdata/models.txt")

// A tokenizer that was chosen by name is a model's own only if it is that of its family, or if the model is unknown.
func TestChosenTokenizerIsExactWhereItIsTheModelsOwn(t *testing.T) {
	f := func(model, tokenizer string, texts, framing bool) {
		t.Helper()
		c, err := For(model).Named(tokenizer)
		if err != nil {
			t.Fatal(err)
		}
		if c.Exact() != texts || c.FramingExact() != framing {
			t.Errorf("%s by %s: texts %v, framing %v, want %v, %v", model, tokenizer, c.Exact(), c.FramingExact(), texts, framing)
		}
	}
	f("gpt-4o", "o200k_base", true, true)
	f("gpt-4", "cl100k_base", true, true)
	f("gpt-oss-20b", "o200k_harmony", true, false) // its template is only roughly known
	f("gpt-oss-20b", "o200k_base", true, false)    // the same tokens for ordinary text
	f("gpt-4o", "o200k_harmony", true, false)
	f("gpt-4o", "cl100k_base", false, false)
	f("gpt-4", "o200k_base", false, false)
	f("gpt-4o", "bytes/4", false, false)
	f("claude-sonnet-4-5", "o200k_base", false, false)
	f("llama3.1:8b", "cl100k_base", false, false)
	f("gpt-6", "o200k_base", false, false)
	f("my-own", "o200k_base", true, false)
	f("my-own", "cl100k_base", true, false)
	f("my-own", "o200k*1.1", false, false)
	f("", "o200k_base", true, false)
}

// Each row must be reachable, or it says something that is never used.
func TestEveryRowClaimsItsOwnPatterns(t *testing.T) {
	for i, f := range families {
		reached := false
		for pattern := range strings.FieldsSeq(f.match) {
			for _, fill := range []string{"", "x", "-x"} {
				model := strings.NewReplacer("*", fill, "?", "-").Replace(pattern)
				reached = reached || familyOf(model) == &families[i]
			}
			if strings.ToLower(pattern) != pattern {
				t.Errorf("%s: pattern %q is not lower case, it can never match", f.name, pattern)
			}
		}
		if !reached {
			t.Errorf("no name reaches %s (%s)", f.name, f.match)
		}
	}
}

func TestRowsAreComplete(t *testing.T) {
	seen := map[string]bool{}
	for i, f := range families {
		switch {
		case seen[f.name]:
			t.Errorf("%s stands in the table twice", f.name)
		case f.text == nil:
			t.Errorf("%s names no known tokenizer", f.name)
		case f.image == nil, f.audio < 1:
			t.Errorf("%s charges nothing for a picture or a sound", f.name)
		case f.input != 0 && f.input >= f.window:
			t.Errorf("%s: prompt limit %d is not below the window %d", f.name, f.input, f.window)
		case (f.match == "*") != (i == len(families)-1):
			t.Errorf("%s: the last row, and only the last, matches everything", f.name)
		}
		seen[f.name] = true
	}
}

func TestLongModelNameIsCheap(t *testing.T) {
	// The work is bounded by longestModel, so a name of megabytes costs no more than a short one.
	if got := For("claude-" + strings.Repeat("x-", 4<<20)).Family(); got != "claude" {
		t.Errorf("family %s", got)
	}
	if got := For(strings.Repeat("a.", 4<<20)).Family(); got != "unknown" {
		t.Errorf("family %s", got)
	}
	if got := For(strings.Repeat("x/", 4<<20) + "gpt-4o").Family(); got != "gpt-4o" {
		t.Errorf("family %s", got)
	}
}
