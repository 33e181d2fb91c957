package report

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"laconic/replay"
	"laconic/replay/replaytest"
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
		Files: []string{replaytest.Write(t, name, content)}, Budgets: []replay.Budget{{Tokens: budget}}, Show: &replay.Show{},
	}))
}

// TestPageShowsAConversation: before and after, with costs and reasons, and
// without a script.
func TestPageShowsAConversation(t *testing.T) {
	page := shownPage(t, "errand.jsonl", replaytest.Errand, 20)
	page = regexp.MustCompile(`(?s)<script>.*?</script>`).ReplaceAllString(page, "")
	for _, want := range []string{
		"<bdi>errand</bdi></b> of <bdi>errand.jsonl</bdi>, by the policy <b>test</b> with a budget of 20 tokens (20)",
		"9 messages, 4 requests, 1 epoch; it costs 0.983 of sending everything.",
		"<summary>Requests 1 to 2 go out as the client sent them: up to 17 tokens</summary>",
		`<details id="r3" class="request" open><summary>Request 3, epoch 1: 21 → 14 tokens</summary>`,
		"Epoch 1 began at 21 tokens, above its trigger of 19, and ended at 14; it was to land at ",
		"<p>rewrite 1 time, 7 tokens saved.</p>",
		`<span class="n">3</span> <span class="role">tool</span> <i>read</i>, 8 tokens<pre>the secret is code_4711 and nothing else here</pre>`,
		`<span class="n">0</span> <span class="role">system</span>, 2 tokens <span class="excerpt">be brief</span>`,
		`<p class="what"><b>edited</b>, 1 tokens</p>` + "\n" + `<p class="why"><code>rewrite</code> test, 7 tokens saved</p><pre>gone</pre>`,
		"<summary>Request 4 goes on from request 3, new messages at the end: 18 tokens, of the 25 that the client sent</summary>",
		`<polyline class="budget"`, `<polyline class="trigger"`, `<polyline class="land"`, `<a href="#r3" class="s0">`, "request 3, epoch 1: 14 tokens sent of 21</title>",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no\n%s", want)
		}
	}
	if strings.Contains(page, "Not on this page") {
		t.Error("something short is left out")
	}
}

var (
	tags       = regexp.MustCompile(`<[^!][^>]*>`)
	values     = regexp.MustCompile(`"[^"]*"`)
	attributes = regexp.MustCompile(`\s([a-zA-Z:-]+)=`)
)

// TestNothingOfAConversationIsMarkup: every tag and every attribute of the page is
// one that the templates write, whatever was recorded; and if one were not, the
// page could still run nothing but its own script.
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
	page := shownPage(t, "a<script>.jsonl", line+"\n{"+n, 40)
	plain := shownPage(t, "errand.jsonl", replaytest.Errand, 20)
	known := map[string]bool{
		"<script>": true, `<script type="application/json" id="data">`: true, "</script>": true, "<a": true, "</a>": true,
		"<i>": true, "</i>": true, "<bdi>": true, "</bdi>": true, "<em>": true, "</em>": true, "<ul": true, "</ul": true, "<li": true, "</li": true,
	}
	names := func(page string) (all []string) {
		page = strings.ReplaceAll(page, string(script), "")
		for _, tag := range tags.FindAllString(page, -1) {
			name, _, _ := strings.Cut(strings.TrimSuffix(tag, ">"), " ")
			all = append(all, name)
			for _, a := range attributes.FindAllStringSubmatch(values.ReplaceAllString(tag, ""), -1) {
				all = append(all, a[1])
			}
		}
		slices.Sort(all)
		return slices.Compact(all)
	}
	ours := names(plain)
	for _, name := range names(page) {
		if !slices.Contains(ours, name) && !known[name+">"] && !known[name] {
			t.Errorf("the page has %s, which no plain page has", name)
		}
	}
	if got := strings.Count(page, "<script"); got != 1 {
		t.Errorf("%d scripts", got)
	}
	for _, bad := range []string{"onerror=alert(1)>", "<img", "javascript:alert(1)\"", "\x00"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	if !strings.Contains(page, "&lt;script&gt;alert(1)&lt;/script&gt;") || !strings.Contains(page, "Request ") {
		t.Error("the conversation is not on the page")
	}
}

// TestContentPolicy: the page allows its own style and script by their hashes, and
// nothing else.
func TestContentPolicy(t *testing.T) {
	page := shownPage(t, "errand.jsonl", replaytest.Errand, 20)
	allowed := regexp.MustCompile(`<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src '([^']+)'; script-src '([^']+)'; img-src data:; base-uri 'none'; form-action 'none'">`).FindStringSubmatch(page)
	if allowed == nil {
		t.Fatal("the page has no content policy")
	}
	for i, tag := range []string{"style", "script"} {
		all := regexp.MustCompile(`(?s)<`+tag+`>(.*?)</`+tag+`>`).FindAllStringSubmatch(page, -1)
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
}

// TestPageIsBounded: of a conversation that is far too long the page has a part,
// and says what is missing.
func TestPageIsBounded(t *testing.T) {
	text := strings.Repeat("<&'\">é ", 20_000)
	s := &replay.Shown{Conversation: strings.Repeat("c", 1<<20), Model: strings.Repeat("m", 1<<20), Policy: "test", Budget: "7", Tokens: 7}
	const messages = 6000
	for range messages {
		s.Messages = append(s.Messages, replay.ShownMessage{Role: "tool", About: text, Tokens: 7, Pieces: []replay.Piece{{Kind: text, Text: text}, {Text: text}}})
	}
	long := &replay.ShownMessage{Role: "user", Pieces: []replay.Piece{{Text: text}, {Text: text, Record: true, Known: len(text) / 2}}}
	for i := range messages {
		r := replay.ShownRequest{Messages: i + 1, Sent: i + 1, Full: i, Tokens: i / 2, Trigger: 5, Land: 3}
		if i%2 == 0 {
			r.Rows = []replay.ShownRow{{Fate: replay.Known, To: i / 2}, {Fate: replay.Removed, From: i / 2, To: i}, {Fate: replay.Edited, From: i, To: i + 1, Sent: long}}
		}
		s.Requests = append(s.Requests, r)
	}
	page := paged(t, &replay.Result{Policies: []string{"test"}, Shown: s})
	if mb := len(page) >> 20; mb >= 12 {
		t.Errorf("the page has %d MB", mb)
	}
	missing := regexp.MustCompile(`Not on this page: the rest of [\d,]+ long texts: [\d,]+ bytes; [\d,]+ messages in requests that are shown; the messages of 2,850 requests that changed something; a line for each of 1,500 requests that go on\.`)
	if !missing.MatchString(page) {
		t.Errorf("the page does not say what is missing: %s", regexp.MustCompile(`Not on this page[^<]*`).FindString(page))
	}
	if n := strings.Count(page, `class="request`); n != messages {
		t.Errorf("%d requests have a line, of %d", n, messages)
	}
	for _, want := range []string{"Its messages are not on this page.", " not on this page.</p>", "bytes more, not on this page", `<details class="more"><summary>the beginning</summary>`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

// TestDrawn: a line of many points keeps its highest and lowest.
func TestDrawn(t *testing.T) {
	f := func(n int) {
		t.Helper()
		value := func(k int) int {
			switch k {
			case n / 3:
				return 1000
			case n / 2:
				return -1000
			}
			return k % 7
		}
		all := drawn(n, value)
		if len(all) > mostPoints || !slices.IsSorted(all) || len(slices.Compact(slices.Clone(all))) != len(all) {
			t.Errorf("%d points of %d", len(all), n)
		}
		for _, k := range []int{0, n / 3, n / 2, n - 1} {
			if n > 0 && !slices.Contains(all, k) {
				t.Errorf("of %d points %d is not drawn", n, k)
			}
		}
	}
	for _, n := range []int{0, 1, 2, 1999, 2000, 2001, 5000, 123_457} {
		f(n)
	}
}

// TestTextsAreCutAtCharacters: a piece has the whole beginning of its text, and
// says how much is missing.
func TestTextsAreCutAtCharacters(t *testing.T) {
	s := &shown{text: mostText}
	p := s.piece(replay.Piece{Text: strings.Repeat("é", 10_000)}, editedHead, editedLength)
	if len(p.Head) != editedHead || p.Head+p.Rest != strings.Repeat("é", editedLength/2) || p.Cut != "8,000 bytes more, not on this page" || p.More != "5,650 more characters" {
		t.Errorf("%d bytes at once, %d behind a click (%s); %s", len(p.Head), len(p.Rest), p.More, p.Cut)
	}
	if s.cutTexts != 1 || s.cutBytes != 8000 {
		t.Errorf("%d texts, %d bytes are said to be missing", s.cutTexts, s.cutBytes)
	}
	for n := range 7 {
		if got := prefix("aéé€", n); !strings.HasPrefix("aéé€", got) || len(got) > n || strings.ToValidUTF8(got, "?") != got {
			t.Errorf("the first %d bytes are %q", n, got)
		}
	}
	if got := prefix("\x80\x80\x80", 2); got != "" {
		t.Errorf("%q", got)
	}
	s.text = 0
	if p := s.piece(replay.Piece{Text: strings.Repeat("x", 1000)}, editedHead, editedLength); len(p.Head) != excerptLength || p.Rest != "" {
		t.Errorf("%d and %d bytes on a page that has its fill", len(p.Head), len(p.Rest))
	}
}

// TestExcerpt: the beginning of the first text that says something, on one line.
func TestExcerpt(t *testing.T) {
	f := func(want string, pieces ...replay.Piece) {
		t.Helper()
		if got := excerpt(&replay.ShownMessage{Pieces: pieces}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	f("(nothing)")
	f("(nothing)", replay.Piece{Text: " \n"})
	f("picture, 7 bytes", replay.Piece{Text: "\n"}, replay.Piece{Kind: "picture, 7 bytes"})
	f("a b", replay.Piece{Text: "\n\n"}, replay.Piece{Kind: "thinking", Text: "  a\n\tb  "}, replay.Piece{Text: "c"})
	f(strings.Repeat("x", excerptLength)+" …", replay.Piece{Text: strings.Repeat("x", excerptLength+1)})
	f("x …", replay.Piece{Text: "x" + strings.Repeat(" ", 5000) + "y"})
	f("\uFFFDa", replay.Piece{Text: "\xffa"})
}
