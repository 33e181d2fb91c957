package report

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"laconic/replay"
	"laconic/replay/replaytest"
	"laconic/view"
)

// nasty is a text that would be markup wherever somebody forgot to escape it.
const nasty = `</pre></details></script></style></title>--></svg>"'><script>alert(1)</script><img src=x onerror=alert(1)> {{.Style}} <a href="javascript:alert(1)">` + "\u202e\x00\x1b[31m"

// quoted returns a text as JSON.
func quoted(text string) string {
	raw, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// shownPage returns the page about a conversation.
func shownPage(t *testing.T, name, content string, budget int) string {
	t.Helper()
	return paged(t, replayed(t, replay.Options{
		Files: []string{replaytest.Write(t, name, content)}, Budgets: []replay.Budget{{Tokens: budget}}, Show: new(string),
	}))
}

var embedded = regexp.MustCompile(`(?s)<script type="application/json" id="data">(.*?)</script>`)

// TestPageHoldsAConversation: all that its script draws, once.
func TestPageHoldsAConversation(t *testing.T) {
	page := shownPage(t, "errand.jsonl", replaytest.Errand, 20)
	var got struct {
		File, ID, Policy string
		Cost             float64
		Said             [][]view.Piece
		Points           []map[string]any
		Changes          []struct {
			Number, First int
			Fates         []map[string]any
			Texts         map[string][]view.Piece `json:"sent_texts"`
		}
		Texts []string
	}
	if err := json.Unmarshal([]byte(embedded.FindStringSubmatch(page)[1]), &got); err != nil {
		t.Fatal(err)
	}
	if got.File != "errand.jsonl" || got.ID != "errand" || got.Policy != "test" || fmt.Sprintf("%.3f", got.Cost) != "0.983" || len(got.Points) != 4 || len(got.Said) != 9 {
		t.Errorf("%+v", got)
	}
	if c := got.Changes; len(c) != 1 || c[0].Number != 3 || c[0].First != 1 || c[0].Fates[1]["state"] != "changed" || got.Texts[c[0].Texts["3"][0].Text] != "gone" {
		t.Errorf("%+v", c)
	}
	if n := strings.Count(page, "the secret is code_4711"); n != 1 {
		t.Errorf("a text is %d times on the page", n)
	}
}

// TestNothingOfAConversationIsMarkup: whatever was recorded, the page has the tags of
// one that was not, and as many.
func TestNothingOfAConversationIsMarkup(t *testing.T) {
	n := quoted(nasty)
	var rounds []string
	for i := range 6 {
		id := quoted(fmt.Sprint(nasty, i))
		rounds = append(rounds, `{"role":"assistant","reasoning_content":`+n+`,"content":`+n+`,"tool_calls":[{"id":`+id+`,"type":"function","function":{"name":`+n+`,"arguments":`+n+`}}]},
			{"role":"tool","tool_call_id":`+id+`,"name":`+n+`,"content":`+n+`}`)
	}
	line := strings.ReplaceAll(`{"id":`+n+`,"model":`+n+`,"messages":[{"role":"system","content":`+n+`},
		{"role":"user","content":[{"type":"text","text":`+n+`},{"type":"image_url","image_url":{"url":`+n+`}}]},
		{"role":"assistant","tool_calls":[{"id":"open","type":"function","function":{"name":`+n+`,"arguments":`+n+`}}]},
		`+strings.Join(rounds, ",")+`]}`, "\n", "")
	tags := func(page string) []string {
		return regexp.MustCompile(`<[^!][^>]*>`).FindAllString(strings.ReplaceAll(page, view.Script(reportScript), ""), -1)
	}
	page := shownPage(t, "a<script>.jsonl", line, 40)
	plain := shownPage(t, "errand.jsonl", replaytest.Errand, 20)
	if got, want := tags(page), tags(plain); len(got) != len(want) {
		t.Errorf("%d tags, %d without anything recorded that looks like one: %q", len(got), len(want), got)
	}
	for _, bad := range []string{"<img", "\x00", "\u2028"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	if !strings.Contains(page, `\u003cscript\u003ealert(1)`) {
		t.Error("the conversation is not on the page")
	}
}

// TestContentPolicy: the page allows its own style and script by their hashes, and
// nothing else.
func TestContentPolicy(t *testing.T) {
	page := shownPage(t, "errand.jsonl", replaytest.Errand, 20)
	allowed := regexp.MustCompile(`<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src '([^']+)'; script-src '([^']+)'; img-src data:; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'">`).FindStringSubmatch(page)
	if allowed == nil {
		t.Fatal("the page has no content policy")
	}
	for i, tag := range []string{"style", `script type="module"`} {
		name, _, _ := strings.Cut(tag, " ")
		all := regexp.MustCompile(`(?s)<`+tag+`>(.*?)</`+name+`>`).FindAllStringSubmatch(page, -1)
		if len(all) != 1 {
			t.Fatalf("%d of %s", len(all), tag)
		}
		sum := sha256.Sum256([]byte(all[0][1]))
		if want := "sha256-" + base64.StdEncoding.EncodeToString(sum[:]); allowed[i+1] != want {
			t.Errorf("%s is allowed as %s, and is %s", tag, allowed[i+1], want)
		}
	}
	if at := strings.Index(page, "Content-Security-Policy"); at > strings.Index(page, "<style") {
		t.Error("the policy stands behind what it is for")
	}
	if script := view.Script(reportScript); strings.Contains(script, "import ") || strings.Contains(script, "export ") {
		t.Error("the script is not one")
	}
}
