package counting

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"laconic/compact"
	"laconic/proxy/wire"
	"laconic/tokenize"
)

// agentRequest is the body of a coding agent's request of n messages, whose results
// are size bytes of source text: every thirty bytes something is escaped.
func agentRequest(n, size int) []byte {
	object := func(m map[string]any) string {
		raw, err := json.Marshal(m)
		if err != nil {
			panic(err)
		}
		return string(raw)
	}
	list := []string{object(map[string]any{"role": "system", "content": strings.Repeat("You are a careful engineer.\n", 60)}), `{"role":"user","content":"Make it accept \"quoted\" names."}`}
	for i := range (n - 2) / 2 {
		text := strings.Repeat(fmt.Sprintf("\tif name != \"\" && !p.quoted(name, %d) {\n", i), 1+size/30)[:size]
		list = append(list, fmt.Sprintf(`{"role":"assistant","content":"Next.","tool_calls":[{"id":"c%d","type":"function","function":{"name":"read","arguments":"{}"}}]}`, i),
			object(map[string]any{"role": "tool", "tool_call_id": fmt.Sprint("c", i), "content": text}))
	}
	return []byte(`{"model":"gpt-4o","tools":[{"type":"function","function":{"name":"read","description":"` + strings.Repeat("Reads a file. ", 30) + `"}}],"messages":[` + strings.Join(list, ",") + `]}`)
}

func total(k compact.Counter, r *wire.Request) int {
	return k.Fixed(r.Beside) + compact.CostAll(k, r.Conversation.Messages)
}

func decoded(t testing.TB, body []byte) *wire.Request {
	t.Helper()
	r, err := wire.Chat.Decode(body)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A message costs what its pieces do, also from memory and for another model, and
// an edited one is not taken for what it was.
func TestAMessageCostsWhatItsPiecesCost(t *testing.T) {
	counts := newCache(mostCounts)
	for _, name := range []string{"gpt-4o", "gpt-4", "claude-sonnet-4", "llama-3-8b"} {
		k := newCounter(tokenize.For(name), counts)
		r := decoded(t, agentRequest(20, 4<<10))
		r.Sum(k.Sum)
		msgs := r.Conversation.Messages
		for range 2 {
			for i := range msgs {
				if got, want := compact.Cost(k, &msgs[i]), compact.CostOfPieces(k, &msgs[i]); got != want {
					t.Errorf("%s: message %d costs %d, its pieces %d", name, i, got, want)
				}
			}
		}
		edited := msgs[3]
		edited.Parts, edited.Edited = []compact.Part{{Text: compact.Plain("short")}}, true
		if got, want := compact.Cost(k, &edited), compact.CostOfPieces(k, &edited); got != want || got == compact.Cost(k, &msgs[3]) {
			t.Errorf("%s: an edited message costs %d, want %d", name, got, want)
		}
	}
}

// What changes in a message from turn to turn does not make its long texts new.
func TestALongTextIsRememberedBesideItsMessage(t *testing.T) {
	remembered := newCache(mostCounts)
	k, counted := newCounter(mustNamed(t, "o200k_base"), remembered), countedSince(remembered)
	for i, marker := range []string{"", `,"cache_control":{"type":"ephemeral"}`} {
		r := decoded(t, []byte(`{"messages":[{"role":"user","content":[{"type":"text","text":"`+strings.Repeat("long ", 2000)+`"`+marker+`}]}]}`))
		r.Sum(k.Sum)
		compact.CostAll(k, r.Conversation.Messages)
		if h, m := counted(); h != i || m != 2+i {
			t.Errorf("%d hits, %d misses", h, m)
		}
	}
}

// countedSince returns how often texts were found in a cache since it was called, and
// how often they were not.
func countedSince(c *cache) func() (hits, misses int) {
	before := c.counts.Stats()
	return func() (hits, misses int) {
		now := c.counts.Stats()
		return int(now.Hits - before.Hits), int(now.Misses - before.Misses)
	}
}

func mustNamed(t testing.TB, tokenizer string) *tokenize.Counter {
	t.Helper()
	c, err := tokenize.For("").Named(tokenizer)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// What is remembered, and what is counted in its escaped form, is what the
// tokenizer says of the text.
func TestCountsAreThoseOfTheTexts(t *testing.T) {
	texts := []string{
		"", "plain", strings.Repeat("plain and long ", 50), "\"quoted\"\n\ttabs\\", strings.Repeat("line one\nline \"two\"\n", 40),
		strings.Repeat("grüße 日本語 🙂\r\n", 30), strings.Repeat("\x00\x7f\u2028", 50), strings.Repeat("<a href=\"x\">&amp;</a>", 20),
	}
	for _, name := range tokenize.Names() {
		model := mustNamed(t, name)
		k := newCounter(model, newCache(mostCounts))
		for range 2 { // the second time from memory
			for _, text := range texts {
				for _, html := range []bool{true, false} { // two spellings of one text
					var b bytes.Buffer
					enc := json.NewEncoder(&b)
					enc.SetEscapeHTML(html)
					if err := enc.Encode(map[string]any{"messages": []any{map[string]any{"role": "user", "content": text}}}); err != nil {
						t.Fatal(err)
					}
					m := decoded(t, b.Bytes()).Conversation.Messages[0]
					if got, want := k.Part(&m, &m.Parts[0]), model.Text(text); got != want {
						t.Errorf("%s: %.30q costs %d, want %d", name, text, got, want)
					}
				}
			}
		}
	}
}

// TestResultsCostWhatATemplateMakesOfThem: Llama's writes them as strings of JSON, and
// nothing else; Hermes's, which is made of it, as they are.
func TestResultsCostWhatATemplateMakesOfThem(t *testing.T) {
	text := "{\"a\": \"b\"}\n\tnext\n"
	for model, want := range map[string]string{"llama-3.1-8b": `"{\"a\": \"b\"}\n\tnext\n"`, "hermes-3-llama-3.1-8b": text, "gpt-4o": text} {
		k, p := newCounter(tokenize.For(model), newCache(mostCounts)), compact.Part{Text: compact.Plain(text)}
		if got, want := k.Part(&compact.Message{Role: compact.Tool}, &p), k.model.Text(want); got != want {
			t.Errorf("%s: a result costs %d, want %d", model, got, want)
		}
		if got, want := k.Part(&compact.Message{Role: compact.User}, &p), k.model.Text(text); got != want {
			t.Errorf("%s: a user's text costs %d, want %d", model, got, want)
		}
	}
}

// The templates of Llama 3.1 and of models made from it leave out what an assistant says
// beside its calls.
func TestWhatATemplateLeavesOutIsFree(t *testing.T) {
	part := compact.Part{Text: compact.Plain("I look into the file first.")}
	calls := &compact.Message{Role: compact.Assistant, Parts: []compact.Part{part}, Calls: []compact.Call{{ID: "a", Name: "read"}}}
	says := &compact.Message{Role: compact.Assistant, Parts: []compact.Part{part}}
	for model, free := range map[string]bool{"llama-3.1-8b": true, "hermes-3-llama-3.1-8b": true, "qwen3-8b": false} {
		k, err := For(model, "")
		if err != nil {
			t.Fatal(err)
		}
		if n := k.Part(calls, &calls.Parts[0]); (n == 0) != free || k.Part(says, &says.Parts[0]) == 0 {
			t.Errorf("%s: %d tokens beside a call", model, n)
		}
	}
}

// TestNothingThatAModelReadsIsFree: wherever a text stands in a message, it is
// charged.
func TestNothingThatAModelReadsIsFree(t *testing.T) {
	text := strings.Repeat("The quick brown fox jumps over the lazy dog. ", 100)
	c, err := For("gpt-4o", "")
	if err != nil {
		t.Fatal(err)
	}
	f := func(message string, least int) {
		t.Helper()
		r := decoded(t, []byte(`{"messages":[`+strings.ReplaceAll(message, "LONG", text)+`]}`))
		if got := compact.Cost(c, &r.Conversation.Messages[0]); got < least || got > least+60 {
			t.Errorf("%s: %d tokens, want %d and a few", message, got, least)
		}
	}
	n := compact.CostText(c, text)
	f(`{"role":"assistant","content":null,"refusal":"LONG"}`, n)
	f(`{"role":"assistant","content":[{"type":"refusal","refusal":"LONG"}]}`, n)
	f(`{"role":"assistant","content":"a","reasoning":"LONG"}`, n)
	f(`{"role":"assistant","content":"a","thinking_blocks":[{"type":"thinking","thinking":"LONG","signature":"s"}]}`, n)
	f(`{"role":"assistant","content":[{"type":"thinking","thinking":"LONG"},{"type":"thinking","thinking":"LONG"}]}`, 2*n)
	f(`{"role":"user","content":[{"type":"document","source":{"type":"text","data":"LONG"}}]}`, n)
	f(`{"role":"user","content":[{"type":"tool_result","content":"LONG"}]}`, n)
	f(`{"role":"assistant","content":null,"audio":{"id":"audio_1"}}`, tokenize.For("gpt-4o").Audio("", ""))
	f(`{"role":"user","content":[{"type":"video_url","video_url":{"url":"https://x/v.mp4"}}]}`, tokenize.FileUnseen)
}

// Stages make texts that are not escaped and look as if they were.
func TestTextIsNotTakenForItsEscapedForm(t *testing.T) {
	model := tokenize.For("gpt-4o")
	k := newCounter(model, newCache(mostCounts))
	escaped := strings.Repeat(`\n\"`, 100)
	message := decoded(t, []byte(`{"messages":[{"role":"user","content":"`+escaped+`"}]}`)).Conversation.Messages[0]
	for _, part := range []compact.Part{message.Parts[0], {Text: compact.Plain(escaped)}} {
		if got, want := k.Part(&compact.Message{}, &part), model.Text(part.Text.String()); got != want {
			t.Errorf("%.20q costs %d, want %d", part.Text.String(), got, want)
		}
	}
}

// A user may quote the tools, or the format: as a text they cost something else.
func TestToolsAreNotTakenForAText(t *testing.T) {
	model := tokenize.For("gpt-4o")
	k := newCounter(model, newCache(mostCounts))
	raw := []byte(`[{"type":"function","function":{"name":"read","description":"Reads a file of the project, as a whole or from one line to another."}}]`)
	part := compact.Part{Text: compact.Plain(string(raw))}
	for range 2 {
		f := func(what string, got, want int) {
			t.Helper()
			if got != want {
				t.Errorf("as %s: %d, want %d", what, got, want)
			}
		}
		f("a text", k.Part(&compact.Message{}, &part), model.Text(string(raw)))
		f("tools", k.Fixed(compact.Beside{Tools: raw}), model.Priming()+model.Tools(raw))
		f("functions", k.Fixed(compact.Beside{Functions: raw}), model.Priming()+model.Tools(raw))
		f("a format", k.Fixed(compact.Beside{Format: raw}), model.Priming()+model.Format(raw))
	}
}

// A request that grew by a turn finds all but the new texts.
func TestHistoryIsCountedOnce(t *testing.T) {
	remembered := newCache(mostCounts)
	k := newCounter(tokenize.For("gpt-4o"), remembered)
	f := func(messages, hits, misses int) {
		t.Helper()
		r := decoded(t, agentRequest(messages, 1200))
		counted := countedSince(remembered)
		n := total(k, r)
		if h, m := counted(); h != hits || m != misses {
			t.Errorf("%d messages: %d hits, %d misses, want %d, %d", messages, h, m, hits, misses)
		}
		if again := total(k, r); again != n {
			t.Errorf("%d tokens, then %d", n, again)
		}
	}
	// Results, instructions and tools are long enough to be remembered; what
	// the user says, the calls and what is said with them are not.
	f(12, 0, 5+1+1)
	f(12, 5+1+1, 0)
	f(14, 5+1+1, 1)
	f(14, 6+1+1, 0)
}

// pdfOf is a PDF that shows so many pages, as base64.
func pdfOf(pages, size int) string {
	raw := "%PDF-1.4\n" + strings.Repeat("<< /Type /Page >>\n", pages)
	return base64.StdEncoding.EncodeToString([]byte(raw + strings.Repeat("z", max(0, size-len(raw)))))
}

// A PDF is searched for its pages once for each family: they charge a page in
// their own way. As a text, or under a name that makes it no PDF, it costs
// something else.
func TestPDFIsSearchedOnce(t *testing.T) {
	data := pdfOf(7, 4_000)
	remembered := newCache(mostCounts)
	f := func(model string, part compact.Part, want, hits, misses int) {
		t.Helper()
		counted := countedSince(remembered)
		if got := newCounter(tokenize.For(model), remembered).Part(&compact.Message{}, &part); got != want {
			t.Errorf("%s: %d tokens, want %d", model, got, want)
		}
		if h, m := counted(); h != hits || m != misses {
			t.Errorf("%s: %d hits, %d misses, want %d, %d", model, h, m, hits, misses)
		}
	}
	file := func(data, name string) compact.Part {
		return compact.Part{Kind: compact.KindFile, Text: compact.Plain(data), Detail: name}
	}
	openAI, mini, gemini := tokenize.For("gpt-4o"), tokenize.For("gpt-4o-mini"), tokenize.For("gemini-2.5-pro")
	url := "data:application/pdf;base64," + data
	f("gpt-4o", file(data, "a.pdf"), openAI.File(data, "a.pdf"), 0, 1)
	f("gpt-4o", file(data, "a.pdf"), openAI.File(data, "a.pdf"), 1, 0)
	f("gpt-4o", file(data, ""), openAI.File(data, "a.pdf"), 1, 0)
	f("gpt-4o-mini", file(data, "a.pdf"), mini.File(data, "a.pdf"), 0, 1) // the same tokenizer, other pages
	f("gemini-2.5-pro", file(data, "a.pdf"), 7*258, 0, 1)
	f("gemini-2.5-pro", file(url, ""), 7*258, 0, 1)
	f("gemini-2.5-pro", compact.Part{Text: compact.Plain(data)}, gemini.Text(data), 0, 1)

	// What is no PDF costs its length, for nothing.
	text := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("z", 4_000)))
	f("gpt-4o", file(text, "a.pdf"), openAI.File(text, "a.pdf"), 0, 1)
	f("gpt-4o", file(text, "a.txt"), openAI.File(text, "a.txt"), 0, 0)
	f("gpt-4o", file("https://example.com/"+strings.Repeat("x", 200)+".pdf", "a.pdf"), tokenize.FileUnseen, 0, 0)
	f("gpt-4o", file("", "a.pdf"), tokenize.FileUnseen, 0, 0)
}

func TestRequestsShareTheirCounter(t *testing.T) {
	k := newCounter(tokenize.For("gpt-4o"), newCache(mostCounts))
	r := decoded(t, agentRequest(100, 2000))
	want := total(k, r)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 5 {
				if got := total(k, r); got != want {
					t.Errorf("%d, want %d", got, want)
				}
			}
		})
	}
	wg.Wait()
}
