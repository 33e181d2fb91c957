package proxy

import (
	"io"
	"net/http"
	"testing"

	"laconic/compact"
	"laconic/compact/compacttest"
	"laconic/compact/stage"
	"laconic/tokenize"
)

// TestOnlyAnAnswerProvesAnything: a comment is no answer to what an error
// follows, and neither is a stream that holds nothing.
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
		u := newUpstream(t, nil)
		u.Config.Handler = u.recording(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, ": PROCESSING\n\n")
			w.(http.Flusher).Flush()
			_, _ = io.WriteString(w, c.stream)
		})
		p := inFrontOf(t, u, windowed(100_000))
		p.chat(agentBody(100, 100))
		p.replies(1)
		if l := p.lessonOf("gpt-4o").read(p.Proxy); (l.Took > 0) != c.proof {
			t.Errorf("%s: prompts of %d answered", c.name, l.Took)
		}
	}
}

// TestAnUncountedAnswerForgetsAWrongLimit: most streams have no usage.
func TestAnUncountedAnswerForgetsAWrongLimit(t *testing.T) {
	l := Learnt{Window: 600, Input: 500}
	if l.disproved(1150, 1150, 1, false); l.Window == 0 || l.Input != 0 {
		t.Errorf("%+v", l)
	}
	if l.disproved(1300, 1300, 1, false); l.Window != 0 {
		t.Errorf("%+v", l)
	}
}

// TestASlotIsCountedAsItIs: what was refused had a text in it that costs less
// than the plan charges, and what was sent is what is compared.
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
		o.Calibrate = func(way, percent int) Calibration { return tokenize.NewCalibration(way, percent) }
	})
	p.chat(agentBody(300, 100))
	r := p.replies(1)[0]
	if r.Outcome != Retried || r.Retry.First < r.Retry.Prompt*6/5 {
		t.Fatalf("%s %+v", r.Outcome, r.Retry)
	}
	eventually(t, "the limit to be learnt", func() bool { return p.lessonOf("gpt-4o").read(p.Proxy).Window == 2000 })
	if l := p.lessonOf("gpt-4o").read(p.Proxy); l.percent() > 102 || l.percent() < 100 {
		t.Errorf("counts at %d %%", l.percent())
	}
}
