package proxy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"laconic/compact"
	"laconic/compact/compacttest"
	"laconic/compact/stage"
	"laconic/e2e/rig"
	"laconic/proxy/learn"
	"laconic/proxy/summarize"
)

// wordsIn counts a request as the proxy's test counter does, roughly: what
// matters is that more text counts more.
func wordsIn(body []byte) int {
	var v struct {
		Messages []struct {
			Content any
			Calls   []any `json:"tool_calls"`
		}
	}
	if json.Unmarshal(body, &v) != nil {
		return -1
	}
	n := 0
	for _, m := range v.Messages {
		n += 1 + len(strings.Fields(fmt.Sprint(m.Content))) + 2*len(m.Calls)
	}
	return n
}

// newLimited is an upstream that refuses prompts of more than limit words, with what it
// counted.
func newLimited(t testing.TB, limit int, refuse func(w http.ResponseWriter, words, limit int)) *upstream {
	return answering(t, func(w http.ResponseWriter, body []byte) bool {
		n := wordsIn(body)
		if n > limit {
			refuse(w, n, limit)
		}
		return n > limit
	})
}

// says refuses in the words of llama.cpp.
func says(w http.ResponseWriter, words, limit int) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Upstream", "refused")
	w.WriteHeader(400)
	_, _ = fmt.Fprintf(w, `{"error":{"code":400,"message":"request (%d tokens) exceeds the available context size (%d tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":%d,"n_ctx":%d}}`, words, limit, words, limit)
}

// windowed sets a window instead of a budget.
func windowed(window int) func(*Options) {
	return func(o *Options) { o.Default.Limits = compact.Limits{Window: window} }
}

func TestARefusedRequestIsFoldedAgainAndAnswered(t *testing.T) {
	u := newLimited(t, 2000, says)
	p := inFrontOf(t, u, windowed(100_000))
	body := agentBody(30, 100) // some 3,100 words
	res := p.chat(body)
	if res.StatusCode != 200 || string(res.body) != plainAnswer || res.Header.Get("X-Laconic-Outcome") != "retried" {
		t.Fatalf("%d %s %v", res.StatusCode, res.body, res.Header)
	}
	u.saw(t, 2)
	r := p.replies(1)[0]
	second := u.requests()[1].Body
	if res := p.chat(body); res.StatusCode != 200 || res.Header.Get("X-Laconic-Outcome") != "compacted" {
		t.Errorf("%d %v", res.StatusCode, res.Header)
	}
	// The next turn is answered after one hit, and begins as this one did.
	next := strings.Replace(body, `],"temp`, `,{"role":"assistant","content":"done"},{"role":"user","content":"and now"}],"temp`, 1)
	if res := p.chat(next); res.StatusCode != 200 || res.Header.Get("X-Laconic-Outcome") != "compacted" {
		t.Errorf("%d %v", res.StatusCode, res.Header)
	}
	all := u.requests()
	if len(all) != 4 || !bytes.Equal(all[2].Body, second) {
		t.Errorf("%d hits, and the same request was sent as\n%s\nand\n%s", len(all), second, all[2].Body)
	}
	stem, _, _ := bytes.Cut(second, []byte(`],"temp`))
	if !bytes.HasPrefix(all[3].Body, stem) {
		t.Errorf("the next turn does not begin as the one before:\n%s\n%s", stem, all[3].Body)
	}
	if i := r.Retry; i == nil || !i.Sent || !i.Answered || i.Status != 200 || i.Limit != 2000 || i.Prompt < 3000 || i.Second >= i.First || i.Reason != "overflow" || i.Kind != "prompt" {
		t.Errorf("%+v", r.Retry)
	}
	if r.Outcome != Retried || r.Rewrite.Outcome != Retried || r.Rewrite.Facts.Window.Value != 2000 {
		t.Errorf("%+v", r)
	}
	for _, r := range p.replies(3)[1:] {
		if r.Retry != nil || r.Rewrite.Facts.Window.Value != 2000 {
			t.Errorf("%+v", r.Rewrite.Facts)
		}
	}
}

// After these statuses nothing is sent again, whatever the body says. A quota that one
// request exceeds is known to the next.
func TestSomeStatusesAreNeverTriedAgain(t *testing.T) {
	const quota = `{"error":{"message":"Request too large for gpt-4o in organization org-x on tokens per min (TPM): Limit 2000, Requested 3300. The input or output tokens must be reduced in order to run successfully.","type":"tokens","param":null,"code":"rate_limit_exceeded"}}`
	u := newLimited(t, 2000, func(w http.ResponseWriter, _, _ int) { w.WriteHeader(429); _, _ = io.WriteString(w, quota) })
	p := inFrontOf(t, u, windowed(100_000))
	for hits, status := range []int{429, 200} {
		if res := p.chat(agentBody(30, 100)); res.StatusCode != status || len(u.requests()) != hits+1 {
			t.Errorf("a quota: %d after %d hits", res.StatusCode, len(u.requests()))
		}
	}
	for _, status := range []int{401, 402, 403, 404, 408, 409, 429, 502, 503, 504, 529} {
		for _, over := range []bool{false, true} {
			u := newUpstream(t, func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(status)
				_, _ = io.WriteString(w, `{"error":{"message":"prompt is too long: 3300 tokens > 2000 maximum","code":"context_length_exceeded"}}`)
			})
			p := inFrontOf(t, u, windowed(map[bool]int{false: 100_000, true: 3000}[over]))
			res := p.chat(agentBody(30, 100))
			if res.StatusCode != status || len(u.requests()) != 1 {
				t.Errorf("%d: %d after %d hits", status, res.StatusCode, len(u.requests()))
			}
			if r := p.replies(1)[0]; status != 429 && r.Retry != nil {
				t.Errorf("%d: %+v", status, r.Retry)
			}
		}
	}
}

// Kimi says 401 to a prompt that is beyond the window of an account.
func TestAWindowOfAnAccountIsLearnt(t *testing.T) {
	u := newLimited(t, 2000, func(w http.ResponseWriter, _, _ int) {
		w.WriteHeader(401)
		_, _ = io.WriteString(w, `{"error":{"type":"authentication_error","message":"k3-256k supports only 2K context."}}`)
	})
	p := inFrontOf(t, u, windowed(100_000))
	if res := p.chat(agentBody(30, 100)); res.StatusCode != 200 || len(u.requests()) != 2 || p.factsOf("gpt-4o").Window.Value != 2000 {
		t.Errorf("%d after %d hits, learnt %+v", res.StatusCode, len(u.requests()), p.factsOf("gpt-4o"))
	}
}

// Words that nobody knows, but which speak of length, are worth one shorter try of a
// prompt that may be too long. The second in a row is believed. Nothing is kept of a try
// that was refused.
func TestWordsThatNobodyKnowsAreTriedOnceShorter(t *testing.T) {
	f := func(name string, limit, rounds, hits, kept int, words string) {
		t.Run(name, func(t *testing.T) {
			u := newLimited(t, limit, func(w http.ResponseWriter, n, limit int) {
				w.WriteHeader(400)
				_, _ = io.WriteString(w, strings.NewReplacer("WORDS", fmt.Sprint(n), "LIMIT", fmt.Sprint(limit)).Replace(words))
			})
			p := inFrontOf(t, u, windowed(100_000))
			res := p.chat(agentBody(rounds, 100))
			if len(u.requests()) != hits || (res.StatusCode == 200) != (kept > 0) {
				t.Errorf("%d after %d hits", res.StatusCode, len(u.requests()))
			}
			if got := p.factsOf("gpt-4o"); got.Refuses() {
				t.Errorf("learnt from one %+v", got)
			}
			p.replies(1)
			said := res.Header.Get(headerOutcome)
			if refused := said == string(Refused); refused != (hits == 2 && kept == 0) || p.State().Outcomes[0].Outcome != said {
				t.Errorf("%s, %+v", said, p.State().Outcomes)
			}
			for _, all := range []int{2 * hits, 2*hits + 1} {
				res := p.chat(agentBody(rounds, 100))
				p.replies(1)
				if got := p.factsOf("gpt-4o"); got.Input.Value != kept || got.Window.Value != 0 {
					t.Errorf("learnt %+v", got)
				}
				if kept > 0 && (res.StatusCode != 200 || len(u.requests()) != all) {
					t.Errorf("the next turn: %d after %d hits", res.StatusCode, len(u.requests()))
				}
			}
		})
	}
	const numbers = `{"error":{"message":"WORDS tokens? This box reads LIMIT."}}`
	const none = `{"error":{"message":"The prompt does not fit."}}`
	f("with numbers", 3000, 60, 2, 2647, numbers)
	f("without", 5000, 60, 2, 4329, none)
	f("of a short prompt", 2000, 30, 1, 0, numbers)
	f("by its numbers alone", 2000, 60, 2, 1765, `{"error":{"message":"That is not possible (WORDS, LIMIT)."}}`)
	f("not of length", 2000, 60, 1, 0, `{"error":{"message":"That is not possible (LIMIT, 1024)."}}`)
	f("refused again", 0, 60, 2, 0, none)
}

// A limit below what must stay: the upstream's own refusal, and with a policy
// that rejects an honest one of ours, with the numbers, at no hit.
func TestALimitBelowTheTools(t *testing.T) {
	tools := `"tools":[{"type":"function","function":{"name":"read","description":"` + strings.Repeat("word ", 2500) + `"}}],`
	body := strings.Replace(agentBody(10, 100), `{"model"`, `{`+tools+`"model"`, 1)
	u := newUpstream(t, func(w http.ResponseWriter, _ *http.Request) { says(w, 3600, 2000) })
	p := inFrontOf(t, u, windowed(100_000))
	for hits := 1; hits <= 2; hits++ {
		res := p.chat(body)
		if res.StatusCode != 400 || !bytes.Contains(res.body, []byte("3600")) || len(u.requests()) != hits {
			t.Errorf("%d %s after %d hits", res.StatusCode, res.body, len(u.requests()))
		}
		if sent := u.requests()[hits-1].Body; string(sent) != body {
			t.Errorf("hit %d: what cannot fit was shortened from %d to %d bytes", hits, len(body), len(sent))
		}
		if r := p.replies(hits)[hits-1].Retry; r.Why != "over" || r.Sent {
			t.Errorf("%+v", r)
		}
	}
	if r := p.replies(2)[1]; r.Outcome != Over || r.Rewrite.Facts.Window.Value != 2000 || r.Rewrite.Facts.Demands.Value != 0 {
		t.Errorf("%+v", r.Rewrite)
	}
	u = newUpstream(t, func(w http.ResponseWriter, _ *http.Request) { says(w, 3600, 2000) })
	p = inFrontOf(t, u, windowed(100_000), func(o *Options) { o.Default.Policy.Reject = true })
	p.chat(body)
	res := p.chat(body)
	if res.code(t) != "context_length_exceeded" || len(u.requests()) != 1 || !strings.Contains(res.errorOf(t).Message, "in the functions") {
		t.Errorf("%d %s after %d hits", res.StatusCode, res.body, len(u.requests()))
	}
}

// Facts of one credential are not used for another.
func TestFactsBelongToACredential(t *testing.T) {
	u := newLimited(t, 2000, says)
	p := inFrontOf(t, u, windowed(100_000))
	for i, key := range []string{"a", "a", "b"} {
		p.chat(agentBody(30, 100), "Authorization", "Bearer "+key).want(t, 200)
		u.saw(t, []int{2, 3, 5}[i])
	}
	other := strings.Replace(agentBody(30, 100), "gpt-4o", "gpt-5", 1)
	if p.chat(other, "Authorization", "Bearer a"); len(u.requests()) != 7 {
		t.Errorf("another model: %d hits", len(u.requests()))
	}
}

// A guess by the model's name is corrected upwards, too, and a configured window is not.
func TestAGuessOfTheWindowIsCorrectedUpwards(t *testing.T) {
	for configured, budget := range map[bool]string{false: "9000", true: "1500"} {
		p := inFrontOf(t, newUpstream(t, nil), windowed(2000), func(o *Options) {
			o.Facts, o.Default.Configured = pin(learn.Facts{Window: learn.Fact[int]{Value: 12_000}}), configured
		})
		if got := p.chat(chatBody).Header.Get("X-Laconic-Budget"); got != budget {
			t.Errorf("configured %v: a budget of %s, want %s", configured, got, budget)
		}
	}
}

// scripted is an upstream that refuses as say does, and answers with its count
// where say writes nothing.
func scripted(t *testing.T, say func(w http.ResponseWriter, words int) bool) *upstream {
	return answering(t, func(w http.ResponseWriter, body []byte) bool {
		if words := wordsIn(body); !say(w, words) {
			_, _ = fmt.Fprintf(w, `{"id":"x","choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":2}}`, words)
		}
		return true
	})
}

func refuses(w http.ResponseWriter, format string, args ...any) bool {
	w.WriteHeader(400)
	_, _ = fmt.Fprintf(w, `{"error":{"message":"`+format+`"}}`, args...)
	return true
}

// The size that a refusal tells is the measure of what is sent in its place, in
// both directions: else what fits is withheld, or folded too much.
func TestTheRetryIsSizedByTheToldPrompt(t *testing.T) {
	const window = 3000
	u := answering(t, func(w http.ResponseWriter, body []byte) bool {
		real := wordsIn(body) * 80 / 100
		return real > window && refuses(w, "This model's maximum context length is %d tokens. However, your messages resulted in %d tokens.", window, real)
	})
	p := inFrontOf(t, u, calibrating)
	// The text of the only user message stays: 3,200 words, of which the
	// upstream counts 2,560.
	body := strings.Replace(agentBody(10, 100), "read the files", strings.Repeat("word ", 3200), 1)
	if res := p.chat(body); res.StatusCode != 200 || len(u.requests()) != 2 {
		t.Fatalf("%d after %d hits: %+v", res.StatusCode, len(u.requests()), p.replies(1)[0].Retry)
	}
	if f := p.replies(1)[0].Rewrite.Facts; f.Count.Value.Percent != 80 || f.Window.Value != window {
		t.Errorf("%+v", f)
	}
}

// TestOnlyAnAnswerProvesAnything: a comment before an error is no answer, and neither
// is a stream that holds nothing. An answered prompt disproves a limit below it.
func TestOnlyAnAnswerProvesAnything(t *testing.T) {
	f := func(name, stream string, proof bool) {
		t.Helper()
		refusing := false
		u := newUpstream(t, func(w http.ResponseWriter, _ *http.Request) {
			if refusing {
				says(w, 10_300, 2000)
				return
			}
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, ": PROCESSING\n\n")
			w.(http.Flusher).Flush()
			_, _ = io.WriteString(w, stream)
		})
		p := inFrontOf(t, u, windowed(100_000))
		p.chat(agentBody(100, 100))
		p.replies(1)
		refusing = true
		p.chat(agentBody(100, 100))
		if learnt := p.factsOf("gpt-4o").Window.Value; (learnt == 0) != proof {
			t.Errorf("%s: a limit of %d is believed", name, learnt)
		}
	}
	f("an error behind a comment", `data: {"error":{"message":"Input is too long for requested model.","code":400}}`+"\n\ndata: [DONE]\n\n", false)
	f("nothing", "data: [DONE]\n\n", false)
	f("an answer", `data: {"choices":[{"delta":{"content":"\"error\":{"}}]}`+"\n\ndata: [DONE]\n\n", true)
	f("half an answer", `data: {"choices":[{"delta":{"content":"x"}}]}`+"\n\n", true)
}

// TestASlotIsCountedAsItIs: what was refused had a digest in it that costs less
// than the plan charges for a summary, and what was sent is what is compared.
func TestASlotIsCountedAsItIs(t *testing.T) {
	u := scripted(t, func(w http.ResponseWriter, words int) bool {
		return words > 2000 && refuses(w, "This model's maximum context length is 2000 tokens. However, your messages resulted in %d tokens.", words)
	})
	p := inFrontOf(t, u, calibrating, windowed(12_000), func(o *Options) {
		o.Default.Policy = &compact.Policy{Name: "adaptive", Ladder: []compact.Stage{must(stage.New("summarize", nil)), drop{}}}
		o.Summarizer = &summarize.Options{
			Upstream: newUpstream(t, tells("")).base(t, "/v1"), Model: "small", Counter: compacttest.Words{},
		}
		o.Store = memoryStore(t)
	})
	p.chat(agentBody(300, 100))
	r := p.replies(1)[0]
	if r.Outcome != Retried || r.Retry.First < r.Retry.Prompt*21/20 {
		t.Fatalf("%s %+v", r.Outcome, r.Retry)
	}
	rig.Eventually(t, "the limit to be learnt", func() bool { return p.factsOf("gpt-4o").Window.Value == 2000 })
	if l := p.factsOf("gpt-4o"); l.Percent() > 102 || l.Percent() < 100 {
		t.Errorf("counts at %d %%", l.Percent())
	}
}
