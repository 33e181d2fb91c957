package answer

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"laconic/proxy/wire"
)

type noTimer struct{}

func (noTimer) Start() {}
func (noTimer) Stop()  {}

// TestAnErrorThatComesByteByByteCostsLittle: it is handed on once it was looked
// at often enough, and arrives as it was.
func TestAnErrorThatComesByteByByteCostsLittle(t *testing.T) {
	body := `{"error":{"message":"` + strings.Repeat("a", 300_000) + `"}}`
	b := strings.NewReader(body)
	res := &http.Response{StatusCode: 200, ContentLength: -1, Body: io.NopCloser(iotest.OneByteReader(b))}
	Peek(res, wire.Chat, noTimer{})
	if read := len(body) - b.Len(); read > 10_000 {
		t.Errorf("%d bytes were looked at", read)
	}
	if got, err := io.ReadAll(res.Body); string(got) != body || err != nil {
		t.Errorf("%d bytes of %d, %v", len(got), len(body), err)
	}
}

// TestALongOpeningThatComesInPieces: events that echo the request come in pieces as
// small as those of TLS, and the refusal behind them is seen.
func TestALongOpeningThatComesInPieces(t *testing.T) {
	event := func(kind, more string) string {
		return "event: " + kind + "\ndata: {\"type\":\"" + kind + "\",\"response\":{\"tools\":\"" + strings.Repeat("a", 150_000) + "\"" + more + "}}\n\n"
	}
	const refused = `,"error":{"code":"context_length_exceeded","message":"Your input exceeds the context window of this model."}`
	body := event("response.created", "") + event("response.in_progress", "") + event("response.failed", refused)
	in := &pieces{strings.NewReader(body)}
	res := &http.Response{StatusCode: 200, ContentLength: -1, Body: io.NopCloser(in)}
	if refusal := Peek(res, wire.Responses, noTimer{}); !strings.Contains(string(refusal), refused) {
		t.Errorf("it is not seen: %d bytes of %d were read", len(body)-in.Len(), len(body))
	}
	if got, err := io.ReadAll(res.Body); string(got) != body || err != nil {
		t.Errorf("%d bytes of %d, %v", len(got), len(body), err)
	}
}

// pieces is read by 1,400 bytes at most.
type pieces struct{ *strings.Reader }

func (p *pieces) Read(b []byte) (int, error) { return p.Reader.Read(b[:min(len(b), 1400)]) }

const plainAnswer = `{"id":"x","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}],` +
	`"usage":{"prompt_tokens":11,"completion_tokens":2,"total_tokens":13,"prompt_tokens_details":{"cached_tokens":7}}}`

func TestUsageIsReadFromTheEndOfAnAnswer(t *testing.T) {
	f := func(answer string, want *wire.Usage) {
		t.Helper()
		for _, step := range []int{1, 7, 100, 1 << 20} {
			end := Body{}
			for b := []byte(answer); len(b) > 0; b = b[min(step, len(b)):] {
				end.remember(b[:min(step, len(b))])
			}
			got := wire.Chat.End(wire.Answer{Tail: end.tail, Stream: true}).Usage
			if (got == nil) != (want == nil) || got != nil && *got != *want {
				t.Errorf("%.60q in steps of %d: %+v, want %+v", answer, step, got, want)
			}
		}
	}
	f(plainAnswer, &wire.Usage{Prompt: 11, Completion: 2, Cached: 7, CacheStated: true})
	f(strings.Repeat(" ", 10_000)+plainAnswer+strings.Repeat(" ", 1000), &wire.Usage{Prompt: 11, Completion: 2, Cached: 7, CacheStated: true})
	f(`{"usage" : {"prompt_tokens":5,"completion_tokens":6,"prompt_cache_hit_tokens":4}}`, &wire.Usage{Prompt: 5, Completion: 6, Cached: 4, CacheStated: true})
	f("data: {\"usage\":null}\n\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":5}}\n\ndata: [DONE]\n\n", &wire.Usage{Prompt: 5, Completion: 0, Cached: 0})
	f("data: {\"usage\":{\"prompt_tokens\":5}}\n\ndata: {\"usage\":{\"prompt_tokens\":6}}\n\ndata: {\"usage\":null}\n\n", &wire.Usage{Prompt: 6, Completion: 0, Cached: 0})
	f(`{"choices":[{"usage":{"prompt_tokens":3,"cached_tokens":1}}]}`, &wire.Usage{Prompt: 3, Completion: 0, Cached: 0})
	f(`{"choices":[{"message":{"content":"\"usage\":{\"prompt_tokens\":9}"}}]}`, nil)
	f(`{"a":"usage","b":{"prompt_tokens":9}}`, nil)
	f(`{"usage":{"prompt_tokens":"x"}}`, nil)
	f(`{"usage":{"prompt_tok`, nil)
	f(`{"usage":{}}`, nil)
	const timed = "data: {\"choices\":[],\"timings\":{%s\"prompt_n\":11,\"prompt_ms\":8.751,\"predicted_n\":3}}\n\ndata: [DONE]\n\n"
	f(fmt.Sprintf(timed, `"cache_n":20,`), &wire.Usage{Prompt: 31, Completion: 3, Cached: 20, CacheStated: true}) // llama.cpp, to a client that asks for no usage
	f(fmt.Sprintf(timed, ""), nil)                                                                                // before it said what it had in its cache
	f("data: {\"usage\":{\"prompt_tokens\":30},\"timings\":{\"cache_n\":20,\"prompt_n\":11}}\n\n", &wire.Usage{Prompt: 30})
	f("", nil)
	f(strings.Repeat(`"usage":`, 1000), nil)
	for _, c := range []struct {
		text string
		want bool
	}{{"data: [DONE]\n\n", true}, {"data:[DONE]", true}, {"data: {}\n\ndata: [DONE]\r\n\r\n", true}, {"data: {\"x\":\"[DONE]\"}\n\n", false}, {"", false}, {"[DONE]", false}} {
		if wire.Chat.End(wire.Answer{Tail: []byte(c.text), Stream: true}).Done != c.want {
			t.Errorf("%q: done %v", c.text, !c.want)
		}
	}
}

// TestTheHeadAndTheEndOfAnAnswerAreKept: two kilobytes of each, however it comes.
func TestTheHeadAndTheEndOfAnAnswerAreKept(t *testing.T) {
	long := strings.Repeat("0123456789abcdef", 1000)
	for _, text := range []string{"", "short", long[:kept], long} {
		for _, one := range []bool{false, true} {
			var from io.Reader = strings.NewReader(text)
			if one {
				from = iotest.OneByteReader(from)
			}
			b := New(&http.Response{Body: io.NopCloser(from), Header: http.Header{"Content-Type": {"text/event-stream"}}}, noTimer{}, true)
			if _, err := io.Copy(io.Discard, b); err != nil {
				t.Fatal(err)
			}
			a, keeps := b.End()
			tail := string(a.Tail)
			if string(a.Head) != text[:min(len(text), kept)] || !strings.HasSuffix(text, tail) || len(tail) < min(len(text), kept) ||
				!keeps || !a.Stream || a.Whole != (len(tail) == len(text)) {
				t.Errorf("of %d bytes %d and %d are kept: %v %v", len(text), len(a.Head), len(tail), a.Stream, a.Whole)
			}
		}
	}
}

// TestAnswersThatAFullWindowEnded: answers under 200 that a full window ended, as their
// upstreams write them, and answers that look like one.
func TestAnswersThatAFullWindowEnded(t *testing.T) {
	const delta = `data: {"id":"x","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"half a sen"},"finish_reason":null}]}` + "\n\n"
	for _, c := range []struct{ name, want, body string }{
		{"z.ai", wire.AtWindow, `{"id":"x","choices":[{"index":0,"message":{"role":"assistant","content":"half a sen"},"finish_reason":"model_context_window_exceeded"}],"usage":{"prompt_tokens":199000,"completion_tokens":1000}}`},
		{"z.ai, stream", wire.AtWindow, delta + `data: {"id":"x","choices":[{"index":0,"delta":{},"finish_reason":"model_context_window_exceeded"}],"usage":{"prompt_tokens":199000,"completion_tokens":1000}}` + "\n\ndata: [DONE]\n\n"},
		{"mimo", wire.BeforeOutput, `{"id":"x","choices":[{"finish_reason":"length","index":0,"message":{"role":"assistant","content":""}}],"usage":{"prompt_tokens":262143,"completion_tokens":0,"total_tokens":262143}}`},
		{"mimo, stream", wire.BeforeOutput, `data: {"id":"x","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}` + "\n\n" +
			`data: {"id":"x","choices":[{"index":0,"delta":{},"finish_reason":"length"}]}` + "\n\n" +
			`data: {"id":"x","choices":[],"usage":{"prompt_tokens":262143,"completion_tokens":0}}` + "\n\ndata: [DONE]\n\n"},
		{"lm studio, stream", wire.Empty, "data: [DONE]\n\n"},
		{"lm studio, stream with usage", wire.Empty, `data: {"id":"x","object":"chat.completion.chunk","choices":[]}` + "\n\ndata: [DONE]\n\n"},

		{"an answer", "", plainAnswer},
		{"a long one", "", `{"choices":[{"message":{"content":"x"},"finish_reason":"length"}],"usage":{"prompt_tokens":5,"completion_tokens":10}}`},
		{"a long one, usage unknown", "", `{"choices":[{"message":{"content":"x"},"finish_reason":"length"}]}`},
		{"a stream", "", delta + "data: [DONE]\n\n"},
		{"a long stream", "", strings.Repeat(delta, 100) + "data: {\"choices\":[]}\n\n" + strings.Repeat(": alive\n\n", 1000) + "data: [DONE]\n\n"},
		{"a stream without [DONE]", wire.WithoutDone, delta},
		{"the same with a comment behind it", wire.WithoutDone, delta + ": bye\n"},
		{"the same, longer than what is looked at", wire.WithoutDone, strings.Repeat(delta, 100)},
		{"an event without its empty line", wire.HalfEvent, delta + `data: {"choices":[]}` + "\n"},
		{"the same, CRLF", wire.HalfEvent, strings.ReplaceAll(delta, "\n", "\r\n") + `data: {"choices":[]}` + "\r\n"},
		{"half a line", wire.HalfEvent, delta + `data: {"id":"x","object":"chat.com`},
		{"half a long line", wire.HalfEvent, delta + `data: {"id":"` + strings.Repeat("x", 3000)},
		{"[DONE] without its empty line", "", delta + "data: [DONE]"},
		{"a quotation", "", `{"choices":[{"finish_reason":"stop","message":{"content":"\"finish_reason\":\"model_context_window_exceeded\""}}]}`},
	} {
		kind := map[bool]string{true: "text/event-stream"}[strings.HasPrefix(c.body, "data:")]
		b := New(&http.Response{Body: io.NopCloser(strings.NewReader(c.body)), Header: http.Header{"Content-Type": {kind}}}, noTimer{}, true)
		if _, err := io.Copy(io.Discard, b); err != nil {
			t.Fatal(err)
		}
		a, _ := b.End()
		if end := wire.Chat.End(a); end.Flaw != c.want {
			t.Errorf("%s: %q, want %q", c.name, end.Flaw, c.want)
		}
	}
}
