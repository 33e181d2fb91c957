package cli

import (
	"os"
	"slices"
	"testing"

	"laconic/config"
)

func TestServeLoadsWhatItsModelsCanNeed(t *testing.T) {
	f := func(yaml string, want ...string) {
		t.Helper()
		c, err := config.Parse("test", []byte(yaml), os.LookupEnv)
		if err != nil {
			t.Fatal(err)
		}
		if got := tokenizers(c); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", yaml, got, want)
		}
	}
	f("", "o200k_base", "cl100k_base")
	f(`models: [{match: "*"}]`, "o200k_base", "cl100k_base")
	f(`models: [{match: "*", tokenizer: bytes/4}]`, "bytes/4")
	f(`models: [{match: gpt-4o}, {match: gpt-4o-mini}, {match: "*", tokenizer: bytes/4}]`, "o200k_base", "bytes/4")
	f(`models: [{match: gpt-4}, {match: "*", tokenizer: bytes/4}]`, "cl100k_base", "bytes/4")
	f(`models: [{match: "qwen*", tokenizer: o200k*1.1}]`, "o200k*1.1", "o200k_base", "cl100k_base")
	f(`models: [{match: "gpt-4*"}, {match: "*", tokenizer: bytes/3}]`, "bytes/3", "o200k_base", "cl100k_base")
}
