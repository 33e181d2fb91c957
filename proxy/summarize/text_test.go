package summarize

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"laconic/compact"
	"laconic/compact/compacttest"
	"laconic/compact/policy"
	"laconic/proxy/admission"
	"laconic/proxy/summarize/prompt"
	"laconic/store"
)

// agent is a conversation that grows, and a service that fills its slots with what
// a model answers.
type agent struct {
	t       *testing.T
	s       *Service
	begin   string // of the transcript
	budget  int
	answer  func(asked string) string // "": none; nil: stated
	mu      sync.Mutex
	prompts []string
}

const stated = "State: nothing was changed, all files were read so far."

func newAgent(t *testing.T, budget int) *agent { return agentOn(t, opened(t, store.Options{}), budget) }

func opened(t *testing.T, o store.Options) *store.Vault {
	t.Helper()
	vault, err := store.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(vault.Close)
	return vault
}

// agentOn is newAgent with a store.
func agentOn(t *testing.T, vault *store.Vault, budget int) *agent {
	a := &agent{t: t, begin: "user: read all files", budget: budget}
	a.s = New(&Options{
		Upstream: &url.URL{Scheme: "http", Host: "summarizer"}, Model: "small", Counter: compact.BytesPerToken(3.5), Wait: time.Minute,
	}, Environment{
		Memory: admission.NewGate(64<<20, 1<<20), Store: vault, Transport: roundTrip(a.answers),
		Ended: func(JobInfo) {}, Erased: func(ErasedInfo) {}, Failed: func(_ string, what any) { t.Error(what) },
	})
	t.Cleanup(a.s.Close)
	return a
}

func (a *agent) answers(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	var asked struct{ Messages []struct{ Content string } }
	if err := json.Unmarshal(body, &asked); err != nil {
		return nil, err
	}
	prompt := asked.Messages[1].Content
	a.mu.Lock()
	defer a.mu.Unlock()
	a.prompts = append(a.prompts, prompt)
	text := stated
	if a.answer != nil {
		text = a.answer(prompt)
	}
	content, _ := json.Marshal(text)
	return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader(
		`{"choices":[{"message":{"role":"assistant","content":` + string(content) + `},"finish_reason":"stop"}]}`))}, nil
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// planned returns the conversation of n steps, and its plan.
func (a *agent) planned(n int) (compact.Conversation, compact.Plan) {
	a.t.Helper()
	p, err := policy.New("adaptive", nil)
	if err != nil {
		a.t.Fatal(err)
	}
	in := compact.Conversation{Messages: compacttest.Steps(a.t, a.begin, n)}
	p.Summaries = true
	plan, _ := compact.Compact(in, p, a.s.o.Counter, compact.Limits{Budget: a.budget}.For(0))
	return in, plan
}

// stepWith returns the first step whose slot is as wanted.
func (a *agent) stepWith(want func(*compact.Slot) bool) int {
	a.t.Helper()
	for n := 1; n < 400; n++ {
		if _, plan := a.planned(n); plan.Slot != nil && want(plan.Slot) {
			return n
		}
	}
	a.t.Fatal("no step has such a slot")
	return 0
}

// texts returns the texts of the slot after n steps, and how they came about.
func (a *agent) texts(n int) ([]string, *Info, *compact.Slot) {
	a.t.Helper()
	in, plan := a.planned(n)
	texts, info := a.s.Text(a.t.Context(), a.asks(), in, &plan)
	return texts, info, plan.Slot
}

func (a *agent) asks() *Request {
	return &Request{Header: http.Header{}, Upstream: &url.URL{}, Policy: "adaptive", Counter: a.s.o.Counter, Wait: a.s.o.Wait}
}

// spansOf returns a condition: a slot of so many spans, which were all added.
func spansOf(n int) func(*compact.Slot) bool {
	return func(s *compact.Slot) bool { return len(s.Spans) == n && len(s.Spans[0].Earlier) == 0 }
}

func madeAnew(s *compact.Slot) bool { return len(s.Spans) == 1 && len(s.Spans[0].Earlier) > 2 }

// about is an answer that names the first step of what was asked.
func about(asked string) string {
	_, first, _ := strings.Cut(asked, "\nstep ")
	first, _, _ = strings.Cut(first, "\n")
	return "State: all files from the one of step " + first + " on were read, and nothing was changed."
}

// TestOnlyItsOwnTextChanges when the summary of a span arrives: the others stay
// what they were, and so does the rest of the conversation.
func TestOnlyItsOwnTextChanges(t *testing.T) {
	a := newAgent(t, 8000)
	n := a.stepWith(spansOf(3))
	_, plan := a.planned(n)
	var given []string // the steps whose span gets a summary
	a.answer = func(asked string) string {
		for _, step := range given {
			if strings.Contains(asked, "\nstep "+step+"\n") {
				return about(asked)
			}
		}
		return ""
	}
	was, info, slot := a.texts(n)
	if info.Digests != 3 || strings.Join(was, "") != "" {
		t.Fatalf("%+v %q", info, was)
	}
	a.s.attempts.InvalidateAll()
	for _, span := range []int{2, 0, 1} {
		given = append(given, fmt.Sprint((slot.Spans[span].From-1)/2))
		now, info, _ := a.texts(n)
		a.s.attempts.InvalidateAll()
		for i := range now {
			if (now[i] != was[i]) != (i == span) {
				t.Errorf("span %d has a summary, and the text of span %d was %q and is %q", span, i, was[i], now[i])
			}
		}
		if info.Digests != 3-len(given) {
			t.Errorf("%+v", info)
		}
		before, after := plan.Apply(was...), plan.Apply(now...)
		for i := range after {
			if (i == slot.At) == after[i].Equal(&before[i]) {
				t.Errorf("span %d has a summary, and message %d is another: %v", span, i, i != slot.At)
			}
		}
		was = now
	}
}

// TestASpanOfAllIsMadeOfSummaries: of those of the spans that it replaces, of the
// messages of one that has none, and of what came since.
func TestASpanOfAllIsMadeOfSummaries(t *testing.T) {
	a := newAgent(t, 8000)
	few, n := a.stepWith(spansOf(3)), a.stepWith(madeAnew)
	_, before := a.planned(few)
	spans := before.Slot.Spans
	firstStep := func(span int) int { return (spans[span].From - 1) / 2 }
	f := func(name string, without ...int) {
		t.Helper()
		a.begin = "user: read all files, " + name
		a.answer = func(asked string) string {
			for _, span := range without {
				if strings.Contains(asked, fmt.Sprintf("\nstep %d\n", firstStep(span))) {
					return ""
				}
			}
			return about(asked)
		}
		if _, info, _ := a.texts(few); info.Digests != len(without) {
			t.Fatalf("%s: %+v", name, info)
		}
		a.s.attempts.InvalidateAll()
		a.prompts, a.answer = nil, func(string) string { return "Task: all files are read, one after the other. Nothing is open." }
		texts, info, slot := a.texts(n)
		if info.Outcome != Made || len(a.prompts) != 1 || !strings.Contains(texts[0], "Nothing is open.") {
			t.Fatalf("%s: %+v, %d prompts, %q", name, info, len(a.prompts), texts)
		}
		asked := a.prompts[0]
		at := 0
		for span := range spans {
			steps := fmt.Sprintf("\nstep %d\n", firstStep(span))
			want, other := "all files from the one of step "+fmt.Sprint(firstStep(span))+" on", steps
			if slices.Contains(without, span) {
				want, other = other, want
			}
			i := strings.Index(asked[at:], want)
			if i < 0 || strings.Contains(asked, other) {
				t.Fatalf("%s: span %d: %q is not there behind the span before, or %q is", name, span, want, other)
			}
			at += i
		}
		if since := fmt.Sprintf("\nstep %d\n", (slot.Spans[0].To-1)/2-1); !strings.Contains(asked[at:], since) {
			t.Errorf("%s: what came since is missing", name)
		}
		if strings.Contains(asked, "<summary>") == slices.Contains(without, 0) {
			t.Errorf("%s: the oldest summary is not the one that is updated", name)
		}
	}
	f("all have one")
	f("the third has none", 2)
	f("the oldest has none", 0)
	f("none has one", 0, 1, 2)
}

// TestATextFitsItsSpan, however long the summary is that was stored for it, in the
// first user message and in a message of its own.
func TestATextFitsItsSpan(t *testing.T) {
	texts, own := 0, 0
	for _, begin := range []string{"user: read all files", "system: read all files"} {
		for _, budget := range []int{2000, 4000, 8000, 16_000} {
			a := newAgent(t, budget)
			a.begin = begin
			last := ""
			for n := 10; n < 100; n += 3 {
				in, plan := a.planned(n)
				if plan.Slot == nil {
					continue
				}
				r := a.asks()
				for i := range plan.Slot.Spans {
					g := a.s.gap(r, in, plan.Slot, i)
					if err := a.s.store.Put(t.Context(), g.key, strings.Repeat("word ", plan.Slot.Spans[i].Size)); err != nil {
						t.Fatal(err)
					}
				}
				got, info := a.s.Text(t.Context(), r, in, &plan)
				if strings.Join(got, "") == last {
					continue
				}
				last = strings.Join(got, "")
				sizes := len(got) - 1 // a token where two meet
				for i, text := range got {
					sizes += plan.Slot.Spans[i].Size
					if cost := compact.CostText(a.s.o.Counter, text); cost > plan.Slot.Spans[i].Size {
						t.Errorf("budget %d, step %d, span %d: %d tokens in a span of %d", budget, n, i, cost, plan.Slot.Spans[i].Size)
					}
					if text != "" {
						texts++
					}
				}
				charged := plan.Slot.Size
				if sizes != charged {
					t.Errorf("budget %d, step %d: spans of %d tokens in a slot of %d", budget, n, sizes, charged)
				}
				without, with := compact.CostAll(a.s.o.Counter, in.Messages[:1]), 0
				for _, m := range plan.Apply(got...)[:2] {
					if m.Origin <= 0 {
						with += compact.Cost(a.s.o.Counter, &m)
					}
				}
				if plan.Slot.At < 0 {
					own++
					charged += a.s.o.Counter.Envelope(&compact.Message{Role: compact.User, Shape: compact.String, Origin: compact.Added})
				}
				if with-without > charged {
					t.Errorf("budget %d, step %d: the slot costs %d tokens and is charged %d: %+v", budget, n, with-without, charged, info)
				}
			}
		}
	}
	if texts < 20 || own < 5 {
		t.Errorf("%d summaries, %d slots of their own: this tests nothing", texts, own)
	}
}

// TestADigestThatThinkingIsBoundToStays until the next epoch, span by span: what
// was a summary stays one too, and at the epoch a summary that is there is taken.
func TestADigestThatThinkingIsBoundToStays(t *testing.T) {
	a := newAgent(t, 8000)
	few, more := a.stepWith(spansOf(2)), a.stepWith(spansOf(3))
	fill := func(n int, bound bool) (string, *Info) {
		in, plan := a.planned(n)
		r := a.asks()
		r.Bound = bound
		texts, info := a.s.Text(t.Context(), r, in, &plan)
		kinds := ""
		for _, text := range texts {
			kinds += map[bool]string{true: "D", false: "S"}[text == ""]
		}
		return kinds, info
	}
	f := func(name string, n int, bound bool, want, reason string) {
		t.Helper()
		if got, info := fill(n, bound); got != want || info.Reason != reason {
			t.Errorf("%s: %s %q, want %s %q", name, got, info.Reason, want, reason)
		}
	}
	first := "\nstep 0\n"
	a.answer = func(asked string) string {
		if strings.Contains(asked, first) {
			return ""
		}
		return about(asked)
	}
	f("before there is thinking", few, false, "DS", string(prompt.Empty))
	a.s.attempts.InvalidateAll()
	a.answer = about
	f("thinking came", few+1, true, "DS", "bound")
	f("and still", few+2, true, "DS", "bound")
	f("another conversation's request takes it", few, false, "SS", "")
	f("an epoch", more, true, "SSS", "")
}
