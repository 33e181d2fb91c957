package handover

import (
	"strings"
	"testing"

	"laconic/compact"
	"laconic/compact/compacttest"
	"laconic/compact/stage"
)

func said(role compact.Role, text string) compact.Message {
	return compact.Message{Role: role, Shape: compact.String, Parts: []compact.Part{{Text: compact.Plain(text)}}}
}

// list numbers messages as a client's list.
func list(msgs ...compact.Message) []compact.Message { return compacttest.Numbered(msgs) }

func adaptive() *compact.Policy { return &compact.Policy{Name: "adaptive", Ladder: stage.Default()} }

// TestEveryRowIsRecognized: the words of a row name its agent, where they stand at
// the start of the right message of a request without tools, and nowhere else.
func TestEveryRowIsRecognized(t *testing.T) {
	f := func(want Agent, noCalls bool, msgs ...compact.Message) {
		t.Helper()
		if got := Of(list(msgs...), noCalls, false); got != want {
			t.Errorf("%q: %q, want %q", msgs[len(msgs)-1].Parts[0].Text.String(), got, want)
		}
	}
	system, user, answer := said(compact.System, "You are an agent."), said(compact.User, "Mend the test."), said(compact.Assistant, "It is mended.")
	for _, p := range prompts {
		if p.source == "" || len(p.words) < 20 || strings.ContainsAny(p.words, "\"\\/<>&'\n") {
			t.Errorf("%q: %q from %q", p.agent, p.words, p.source)
		}
		text := "\n  " + p.words + " and so on, at length."
		if p.in == "instructions" {
			f(p.agent, true, said(compact.System, text), user, answer, user)
			f(p.agent, true, said(compact.Developer, text), user)
			f("", true, said(compact.System, text), user, answer)
			continue
		}
		f(p.agent, true, system, user, answer, said(compact.User, text))
		f(p.agent, true, said(compact.User, text))
		if p.in == "appended" {
			f(p.agent, false, system, user, answer, said(compact.User, text))
			behind := said(compact.User, "Mend it.")
			behind.Parts = append(behind.Parts, compact.Part{Text: compact.Plain(text)})
			f(p.agent, false, system, user, answer, behind)
			f(p.agent, false, system, user, answer, behind, said(compact.System, "<total_tokens>14999891 tokens left</total_tokens>"))
			behind.Parts = append(behind.Parts, compact.Part{Text: compact.Plain("What is that?")})
			f("", true, system, user, answer, behind)
		} else {
			f("", false, system, user, answer, said(compact.User, text))
		}
		f("", true, system, said(compact.User, text), answer, user)
		f("", true, system, user, answer, said(compact.User, "What does this do? "+text))
		f("", true, system, user, said(compact.Assistant, text))
	}
	f("", true, system, user)
}

// TestAHistoryInsideOneMessageIsLeftAlone: it is sent as it came, and reported as
// over if it is too long.
func TestAHistoryInsideOneMessageIsLeftAlone(t *testing.T) {
	in := compact.Conversation{Messages: list(
		said(compact.System, "You are a context summarization assistant. Be brief."),
		said(compact.User, "Summarize this:"), said(compact.User, strings.Repeat("word ", 500)), said(compact.User, "That was all."),
	)}
	for budget, want := range map[int]compact.Outcome{100: compact.Over, 1000: compact.Untouched} {
		b := compact.Limits{Budget: budget}.For(0)
		agent := Of(in.Messages, true, false)
		plan, r := agent.Compact(in, adaptive(), compacttest.Words{}, b)
		if agent != "pi" || r.Outcome != want || len(plan.Edits) > 0 || plan.Slot != nil {
			t.Errorf("%q, budget %d: %+v", agent, budget, r)
		}
	}
}

// TestResultsAreShortenedBeforeAnythingLeaves: a history that no epoch has seen,
// and that is too long together with its prompt, loses the middle of its oldest
// results and no message, and gets no record.
func TestResultsAreShortenedBeforeAnythingLeaves(t *testing.T) {
	msgs := []compact.Message{said(compact.System, "Be an agent."), said(compact.User, "Read the files.")}
	for range 8 {
		call := compact.Message{Role: compact.Assistant, Shape: compact.Null, Calls: []compact.Call{{ID: "c", Name: "read", Arguments: compact.Plain(`{}`)}}}
		result := said(compact.Tool, strings.Repeat("line of a file\n", 200))
		result.Answers = "c"
		msgs = append(msgs, call, result)
	}
	msgs = list(append(msgs, said(compact.Assistant, strings.Repeat("I found much. ", 100)), said(compact.User, "Provide a detailed summary of our conversation above."))...)
	in := compact.Conversation{Messages: msgs}
	cost := compact.CostAll(compacttest.Words{}, msgs)
	agent, b := Of(msgs, true, false), compact.Limits{Budget: cost - 50}.For(0)
	p := adaptive()
	p.Trigger = 1
	plan, r := agent.Compact(in, p, compacttest.Words{}, b)
	if agent != "crush" || r.Outcome != compact.Compacted || r.MessagesAfter != len(msgs) || plan.Slot != nil {
		t.Errorf("%q: %+v", agent, r)
	}
	if len(r.Stages) != 1 || r.Stages[0].Name != "trim_results" || plan.Edits[0].Origin != 3 || len(plan.Edits) > 2 {
		t.Errorf("%+v, %d edits", r.Stages, len(plan.Edits))
	}
}
