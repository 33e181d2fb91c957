package proxy

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// scripted is an upstream that refuses as say does, and answers with its count
// where say writes nothing.
func scripted(t *testing.T, say func(w http.ResponseWriter, hit, words int) bool) *upstream {
	u := newUpstream(t, nil)
	u.Config.Handler = u.recording(func(w http.ResponseWriter, _ *http.Request) {
		all := u.requests()
		words := wordsIn(all[len(all)-1].Body)
		if !say(w, len(all), words) {
			_, _ = fmt.Fprintf(w, `{"id":"x","choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":2}}`, words)
		}
	})
	return u
}

func refuses(w http.ResponseWriter, format string, args ...any) bool {
	w.WriteHeader(400)
	_, _ = fmt.Fprintf(w, `{"error":{"message":"`+format+`"}}`, args...)
	return true
}

const numberless = "Input is too long for requested model."

// What was answered outweighs a refusal that tells nothing.
func TestProofOutweighsARefusalWithoutNumbers(t *testing.T) {
	u := scripted(t, func(w http.ResponseWriter, hit, _ int) bool { return hit == 2 && refuses(w, numberless) })
	p := inFrontOf(t, u, windowed(100_000))
	large, small := agentBody(100, 300), agentBody(10, 200)
	for i, want := range []struct {
		body, outcome string
		hits          int
	}{{large, "untouched", 1}, {small, "retried", 3}, {small, "untouched", 4}, {large, "untouched", 5}} {
		res := p.chat(want.body)
		p.replies(i + 1)
		if o := res.Header.Get("X-Laconic-Outcome"); res.StatusCode != 200 || o != want.outcome || len(u.requests()) != want.hits {
			t.Errorf("turn %d: %d %s after %d hits", i+1, res.StatusCode, o, len(u.requests()))
		}
	}
	if f := p.replies(4)[3].Rewrite.Facts; f.Input.Value != 0 {
		t.Errorf("%+v", f)
	}
}

// A guess is remembered when a prompt of its length was answered, and not when
// that was refused too; each refused one makes the next try shorter.
func TestAGuessIsRememberedWhenItProved(t *testing.T) {
	u := scripted(t, func(w http.ResponseWriter, _, words int) bool { return words > 1600 && refuses(w, numberless) })
	p := inFrontOf(t, u, windowed(100_000), func(o *Options) { o.Default.Policy.Land = 0.9 })
	var outcomes []string
	for turn := 1; turn <= 6; turn++ {
		res := p.chat(agentBody(40, 100))
		outcomes = append(outcomes, res.Header.Get("X-Laconic-Outcome"))
		f := p.replies(turn)[turn-1].Rewrite.Facts
		if res.StatusCode == 400 && f.Input.Value != 0 {
			t.Errorf("turn %d: %+v", turn, f)
		}
	}
	if got := strings.Join(outcomes[2:], " "); got != "retried compacted compacted compacted" {
		t.Errorf("%v", outcomes)
	}
	if outcomes[0] == "retried" {
		t.Errorf("%v: the first guess was short enough, so this shows nothing", outcomes)
	}
}

// A model that was loaded anew with a smaller window tells so at every turn.
func TestASmallerWindowIsBelievedWhenToldTwice(t *testing.T) {
	u := scripted(t, func(w http.ResponseWriter, hit, words int) bool {
		return hit > 1 && words > 4096 && refuses(w, "This model's maximum context length is 4096 tokens. However, your messages resulted in %d tokens.", words)
	})
	p := inFrontOf(t, u, windowed(100_000))
	for turn, hits := range []int{1, 3, 5, 6, 7} {
		if res := p.chat(agentBody(60, 100)); res.StatusCode != 200 || len(u.requests()) != hits {
			t.Errorf("turn %d: %d after %d hits, want %d", turn+1, res.StatusCode, len(u.requests()), hits)
		}
		p.replies(turn + 1)
	}
}

// An upstream that refuses everything, by a smaller number each time, is not
// followed down.
func TestALimitThatShrinksIsNotFollowed(t *testing.T) {
	u := scripted(t, func(w http.ResponseWriter, _, words int) bool {
		return refuses(w, "This model's maximum context length is %d tokens. However, your messages resulted in %d tokens.", words-100, words)
	})
	p := inFrontOf(t, u, windowed(100_000))
	for turn := 1; turn <= 6; turn++ {
		if res := p.chat(agentBody(100, 100)); res.StatusCode != 400 {
			t.Errorf("%d", res.StatusCode)
		}
		f := p.replies(turn)[turn-1].Rewrite.Facts
		if n := f.Window.Value; turn == 2 && n < 9000 || n != 0 && n < 9000 {
			t.Errorf("turn %d: %+v", turn, f)
		}
	}
}

// A limit of the number of tokens a minute is no length of a prompt.
func TestAQuotaIsNoGuess(t *testing.T) {
	limit, status := 100_000, 429
	u := newUpstream(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = fmt.Fprintf(w, `{"error":{"message":"Request too large for gpt-x on tokens per min (TPM): Limit %d, Requested 3342.","code":"rate_limit_exceeded"}}`, limit)
	})
	p := inFrontOf(t, u, windowed(100_000))
	turn := 0
	for _, limit = range []int{0, 30, 3342, 100_000} {
		for _, status = range []int{429, 413} {
			turn++
			if res := p.chat(agentBody(30, 100)); res.StatusCode != status || len(u.requests()) != turn {
				t.Errorf("limit %d: %d after %d hits", limit, res.StatusCode, len(u.requests()))
			}
			if f := p.factsOf("gpt-4o"); isLearnt(f) || f.Refuses() {
				t.Errorf("limit %d: %+v", limit, f)
			}
		}
	}
}

// The size that a refusal tells is the measure of what is sent in its place, in
// both directions: else what fits is withheld, or folded too much.
func TestTheRetryIsSizedByTheToldPrompt(t *testing.T) {
	const window = 3000
	u := scripted(t, func(w http.ResponseWriter, _, words int) bool {
		real := words * 80 / 100
		if real <= window {
			_, _ = io.WriteString(w, plainAnswer)
			return true
		}
		return refuses(w, "This model's maximum context length is %d tokens. However, your messages resulted in %d tokens.", window, real)
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

// A counter that is further off than a factor corrects: the told sizes still
// say how much shorter a prompt has to be.
func TestACounterThatIsFarOff(t *testing.T) {
	u := scripted(t, func(w http.ResponseWriter, _, words int) bool {
		return words*3 > 5000 && refuses(w, "This model's maximum context length is 5000 tokens. However, your messages resulted in %d tokens.", words*3)
	})
	p := inFrontOf(t, u, calibrating, func(o *Options) { o.Default.Policy.Land = 0.95 })
	for turn, hits := range []int{2, 3, 4} {
		if res := p.chat(agentBody(30, 100)); res.StatusCode != 200 || len(u.requests()) != hits {
			t.Errorf("turn %d: %d after %d hits", turn+1, res.StatusCode, len(u.requests()))
		}
		p.replies(turn + 1)
	}
}

// A plan that is smaller than what was refused is sent also where it is above
// what the upstream said, as the next turn would be; not by a policy that
// refuses such requests.
func TestTheBestThatCanBeMadeIsSent(t *testing.T) {
	for _, reject := range []bool{false, true} {
		u := scripted(t, func(w http.ResponseWriter, _, words int) bool {
			return words > 3700 && refuses(w, "The number of tokens in the prompt exceeds the model's maximum context length of 3000.")
		})
		p := inFrontOf(t, u, windowed(100_000), func(o *Options) { o.Default.Policy.Reject = reject })
		body := strings.Replace(agentBody(10, 100), "read the files", strings.Repeat("word ", 3200), 1)
		res := p.chat(body)
		if want := map[bool]int{false: 200, true: 400}[reject]; res.StatusCode != want {
			t.Errorf("reject %v: %d, %+v", reject, res.StatusCode, p.replies(1)[0].Retry)
		}
	}
}
