package proxy

import (
	"io"
	"net/http"
	"testing"

	"laconic/compact"
	"laconic/compact/compacttest"
	"laconic/compact/stage"
	"laconic/tokenize"

	"laconic/proxy/learn"
	"laconic/proxy/summarize"
)

// TestOnlyAnAnswerProvesAnything: a comment is no answer to what an error
// follows, and neither is a stream that holds nothing. What was answered disproves
// a limit below it.
func TestOnlyAnAnswerProvesAnything(t *testing.T) {
	for _, c := range []struct {
		name, stream string
		proof        bool
	}{
		{"an error behind a comment", `data: {"error":{"message":"Input is too long for requested model.","code":400}}` + "\n\ndata: [DONE]\n\n", false},
		{"nothing", "data: [DONE]\n\n", false},
		{"an answer", `data: {"choices":[{"delta":{"content":"\"error\":{"}}]}` + "\n\ndata: [DONE]\n\n", true},
		{"half an answer", `data: {"choices":[{"delta":{"content":"x"}}]}` + "\n\n", true},
	} {
		refusing := false
		u := newUpstream(t, nil)
		u.Config.Handler = u.recording(func(w http.ResponseWriter, _ *http.Request) {
			if refusing {
				says(w, 10_300, 2000)
				return
			}
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, ": PROCESSING\n\n")
			w.(http.Flusher).Flush()
			_, _ = io.WriteString(w, c.stream)
		})
		p := inFrontOf(t, u, windowed(100_000))
		p.chat(agentBody(100, 100))
		p.replies(1)
		refusing = true
		p.chat(agentBody(100, 100))
		if learnt := p.factsOf("gpt-4o").Window.Value; (learnt == 0) != c.proof {
			t.Errorf("%s: a limit of %d is believed", c.name, learnt)
		}
	}
}

// TestASlotIsCountedAsItIs: what was refused had a digest in it that costs less
// than the plan charges for a summary, and what was sent is what is compared.
func TestASlotIsCountedAsItIs(t *testing.T) {
	u := scripted(t, func(w http.ResponseWriter, _, words int) bool {
		return words > 2000 && refuses(w, "This model's maximum context length is 2000 tokens. However, your messages resulted in %d tokens.", words)
	})
	p := inFrontOf(t, u, windowed(12_000), func(o *Options) {
		digest, err := stage.New("summarize", nil)
		if err != nil {
			t.Fatal(err)
		}
		o.Default.Policy = &compact.Policy{Name: "adaptive", Ladder: []compact.Stage{digest, drop{}}}
		o.Default.Counter = compacttest.Words{}
		o.Summarizer = &summarize.Options{
			Upstream: newUpstream(t, tells("")).base(t, "/v1"), Model: "small", Counter: compacttest.Words{}, Store: memoryStore(t),
		}
		o.Calibrate = func(plain, way, percent int) learn.Calibration { return tokenize.NewCalibration(plain, way, percent) }
	})
	p.chat(agentBody(300, 100))
	r := p.replies(1)[0]
	if r.Outcome != Retried || r.Retry.First < r.Retry.Prompt*21/20 {
		t.Fatalf("%s %+v", r.Outcome, r.Retry)
	}
	eventually(t, "the limit to be learnt", func() bool { return p.factsOf("gpt-4o").Window.Value == 2000 })
	if l := p.factsOf("gpt-4o"); l.Percent() > 102 || l.Percent() < 100 {
		t.Errorf("counts at %d %%", l.Percent())
	}
}
