package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"laconic/compact/compacttest"
)

// TestCountReadsRecordedRequests counts every request of a recorded run with
// the command. Its parts add up, and for the model that took it the whole is
// not below what its provider billed.
func TestCountReadsRecordedRequests(t *testing.T) {
	names, _ := filepath.Glob(filepath.Join(compacttest.LargerSet(t), "wire", "*.jsonl"))
	if len(names) == 0 {
		t.Fatal("no recorded requests")
	}
	type counted struct {
		Exact                 bool
		TextsExact            bool `json:"texts_exact"`
		Tokenizer             string
		Total, Tools, Framing int
		ResponseFormat        int `json:"response_format"`
		Roles                 map[string]int
		Messages              []struct{ Tokens int }
	}
	count := func(body []byte, model string) (c counted) {
		var out, said bytes.Buffer
		if code := Run(t.Context(), []string{"count", "--json", "--model", model}, bytes.NewReader(body), &out, &said); code != 0 {
			t.Fatalf("exit code %d: %s", code, &said)
		}
		if err := json.Unmarshal(out.Bytes(), &c); err != nil {
			t.Fatalf("%v in %s", err, &out)
		}
		roles, messages := 0, 0
		for _, n := range c.Roles {
			roles += n
		}
		for _, m := range c.Messages {
			messages += m.Tokens
		}
		if roles+c.Tools+c.Framing+c.ResponseFormat != c.Total || messages != roles {
			t.Errorf("%s: the parts of %d do not add up: %+v", model, c.Total, c)
		}
		return c
	}
	requests := 0
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for body := range bytes.Lines(text) {
			var r struct {
				Messages []json.RawMessage
				Response struct {
					Usage struct {
						Prompt int `json:"prompt_tokens"`
					}
				}
			}
			if err := json.Unmarshal(body, &r); err != nil {
				t.Fatal(err)
			}
			if requests++; testing.Short() && requests%8 != 0 {
				continue // under the race detector each process takes seconds
			}
			estimate := count(body, "claude-3-5-sonnet-20241022")
			if billed := r.Response.Usage.Prompt; estimate.TextsExact || estimate.Exact || billed == 0 || estimate.Total < billed {
				t.Errorf("request %d: %d tokens, %d were billed", requests, estimate.Total, billed)
			}
			if exact := count(body, "gpt-4o"); !exact.TextsExact || exact.Exact && exact.Tools > 0 || exact.Tokenizer != "o200k_base" || len(exact.Messages) != len(r.Messages) {
				t.Errorf("request %d: %+v", requests, exact)
			}
		}
	}
	t.Logf("%d requests", requests)
}

// TestALineIsAJSONString: what is anything else is refused, and bytes that are
// not UTF-8 are no JSON either.
func TestALineIsAJSONString(t *testing.T) {
	f := func(line, want string, fine bool) {
		t.Helper()
		if got, err := stringOf([]byte(line)); string(got) != want || (err == nil) != fine {
			t.Errorf("%q: %q, %v", line, got, err)
		}
	}
	f(`"a\nb"`+"\r\n", "a\nb", true)
	f(" \n", "", true)
	f("\"\ufffd\"", "\ufffd", true)
	f(`"\ud800"`, "\ufffd", true)
	for _, line := range []string{"1", "null", "{}", `"a`, `"a" "b"`, "\"a\xe2\x82 b\"", "\xff", "\"\xed\xa0\x80\""} {
		f(line, "", false)
	}
}
