package plan

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"laconic/compact"
	"laconic/compact/compacttest"
	"laconic/compact/stage"
	"laconic/counting"
	"laconic/proxy/learn"
	"laconic/proxy/wire"
)

// conversation is the body of an agent that reads n files of so many words.
func conversation(t *testing.T, n, words int) *wire.Request {
	t.Helper()
	var b strings.Builder
	b.WriteString(`{"model":"m","messages":[{"role":"system","content":"be brief"},{"role":"user","content":"read the files"}`)
	for i := range n {
		_, _ = fmt.Fprintf(&b, `,{"role":"assistant","content":null,"tool_calls":[{"id":"c%d","type":"function","function":{"name":"read","arguments":"{\"path\": \"f\"}"}}]}`, i)
		_, _ = fmt.Fprintf(&b, `,{"role":"tool","tool_call_id":"c%d","content":"%d%s"}`, i, i, strings.Repeat(" word", words))
		if i%7 == 6 {
			b.WriteString(`,{"role":"assistant","content":"done so far"},{"role":"user","content":"go on"}`)
		}
	}
	req, err := wire.Chat.Decode([]byte(b.String() + "]}"))
	if err != nil {
		t.Fatal(err)
	}
	return req
}

func testPolicy(t *testing.T) *compact.Policy {
	t.Helper()
	p := &compact.Policy{Name: "adaptive"}
	for _, name := range []string{"elide_results", "summarize", "drop_oldest"} {
		s, err := stage.New(name, nil)
		if err != nil {
			t.Fatal(err)
		}
		p.Ladder = append(p.Ladder, s)
	}
	return p
}

// TestAPlanUnderALimitOfBytes keeps its promises.
func TestAPlanUnderALimitOfBytes(t *testing.T) {
	policy := testPolicy(t)
	policy.Counter = compacttest.Words{}
	epochs := 0
	for _, limit := range []int{3000, 9000, 20_000} {
		b := compact.Limits{Window: 4000}.For(0)
		w := byteWeighted{Counter: compacttest.Words{}, tokens: b.Tokens, bytes: limit}
		with := *mediaFirst(policy)
		with.Counter = w
		runs, broken := compacttest.Sweep(conversation(t, 40, 60).Conversation, &with, w, belowTrigger(policy, b))
		for _, err := range broken {
			t.Error(err)
		}
		for i := range runs {
			epochs += len(runs[i].Plan.Epochs)
		}
	}
	if epochs < 50 {
		t.Errorf("only %d epochs", epochs)
	}
}

// TestPlanningEndsWhereNobodyWaits, at the next epoch, and what it made so far is not
// remembered as how the conversation is folded.
func TestPlanningEndsWhereNobodyWaits(t *testing.T) {
	memory := learn.New(learn.Options{Failed: func(v any) { panic(v) }})
	defer memory.Close()
	after := 0 // so many epochs nobody waits; 0: somebody does to the end
	plan := func() *Plan {
		epochs := 0
		known := memory.Model(memory.Key("m"), &url.URL{Host: "upstream"}, "m", learn.Key{})
		terms := &Terms{
			Policy: testPolicy(t), Limits: compact.Limits{Window: 1000}, Counter: compacttest.Words{},
			Learnt: memory, Known: known, Counts: known,
			SetRecords: func(*Plan, *compact.Policy) {},
			Left:       func() bool { epochs++; return after > 0 && epochs > after },
		}
		req := conversation(t, 100, 60)
		terms.For(req, compact.Published{}, false, 0)
		return terms.PlanOrRepair(req)
	}
	after = 2
	if p := plan(); len(p.Epochs) != 2 || p.held {
		t.Errorf("%d epochs where nobody waits after two, held %v", len(p.Epochs), p.held)
	}
	after = 0
	p := plan()
	if len(p.Epochs) < 5 || p.held {
		t.Errorf("%d epochs, held %v", len(p.Epochs), p.held)
	}
	if after = 1; p.Slot.Digest() != "" {
		t.Error("a record that nobody waits for")
	}
	after = 0
	if p := plan(); !p.held {
		t.Error("the fold is not remembered")
	}
}

// TestTheModelThatRunsIsCounted, whatever it is called, but where somebody chose the
// tokenizer.
func TestTheModelThatRunsIsCounted(t *testing.T) {
	memory := learn.New(learn.Options{Failed: func(v any) { panic(v) }})
	defer memory.Close()
	noCalls := false
	f := func(model string, runs compact.Runs, chosen bool, want string) {
		t.Helper()
		known := memory.Model(memory.Key(model), &url.URL{Host: "upstream"}, model, learn.Key{})
		counter, err := counting.For(model, "")
		if err != nil {
			t.Fatal(err)
		}
		terms := &Terms{Policy: testPolicy(t), Counter: counter, Chosen: chosen, Known: known, Counts: known}
		req := conversation(t, 1, 10)
		terms.For(req, compact.Published{NoTools: true, NoCalls: noCalls, Runs: runs}, true, 0)
		if way := terms.Facts.Count.Value.Way; way != want || chosen && terms.Counter != counter {
			t.Errorf("%s, which runs %+v: %q, want %q", model, runs, way, want)
		}
	}
	f("my-model", compact.Runs{}, false, "o200k*1.1+digits without tools")
	f("my-model", compact.Runs{Name: "/models/model.gguf", Vocabulary: 151_936}, false, "cl100k*1.02+digits without tools")
	f("gpt-4", compact.Runs{Name: "/models/Qwen3-8B.gguf"}, false, "cl100k*1.02+digits without tools")
	f("qwen3-8b", compact.Runs{Name: "/models/Qwen3-8B.gguf", Vocabulary: 151_936}, false, "without tools")
	f("gpt-4", compact.Runs{Vocabulary: 201_088}, false, "o200k_harmony")
	f("gpt-4", compact.Runs{Vocabulary: 151_936}, true, "")
	noCalls = true
	f("my-model", compact.Runs{}, false, "o200k*1.1+digits without tools and calls")
	f("gpt-4", compact.Runs{Vocabulary: 201_088}, false, "o200k_harmony")
	f("gpt-4", compact.Runs{}, true, "")
}
