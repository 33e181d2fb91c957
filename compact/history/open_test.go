package history_test

import (
	"strings"
	"testing"

	"laconic/compact"
	"laconic/compact/compacttest"
	"laconic/compact/history"
	"laconic/compact/policy"
)

// TestHistoryWaitsForResults: what stands open in the last round is not
// answered in place of the tools that are still at work.
func TestHistoryWaitsForResults(t *testing.T) {
	f := func(pieces ...string) {
		t.Helper()
		h := historyOf(t, "adaptive", 3000)
		for _, piece := range pieces {
			h.Append(compacttest.Messages(t, piece)...)
			if r, err := h.CompactIfNeeded(t.Context()); r != nil || err != nil {
				t.Errorf("%q: behind %q: %+v, %v", pieces, piece, r, err)
			}
		}
		if got, want := compacttest.Format(h.Messages()), compacttest.Format(compacttest.Messages(t, strings.Join(pieces, "\n"))); got != want {
			t.Errorf("the history is\n%s, want\n%s", got, want)
		}
	}
	f("user: u\nassistant: | call a f {}", "tool a: the real result")
	f("user: u\nassistant: | call a f {} | call b f {}", "tool a: one", "tool b: two")
	f("user: u\nassistant: | call a f {} | call b f {}", "tool b: two", "tool a: one")
	f("user: u\nassistant: | call a f {}\ntool a: 1\nassistant: | call a f {}", "tool a: 2", "assistant: | call a f {}", "tool a: 3")
	f("user: u\nassistant: | legacy f {}", "function f: the real result")
	f("assistant: | call a f {}", "tool a: the real result")
}

// TestHistoryAnswersWhatNobodyWill: a message behind the round says that its
// tools are not at work any more.
func TestHistoryAnswersWhatNobodyWill(t *testing.T) {
	for _, next := range []string{"user: stop", "assistant: I go on", "assistant: | call b f {}\ntool b: two\nassistant: done"} {
		h := historyOf(t, "adaptive", 3000)
		h.Append(compacttest.Messages(t, "user: u\nassistant: | call a f {}\n"+next)...)
		r, err := h.CompactIfNeeded(t.Context())
		if err != nil || r == nil || r.Outcome != compact.Repaired {
			t.Fatalf("%s: %+v, %v", next, r, err)
		}
		if text := h.Messages()[2].Parts; len(text) != 1 || text[0].Text.String() != compact.NoResult {
			t.Errorf("%s: %s", next, compacttest.Format(h.Messages()))
		}
	}
}

// TestHistoryCompactsBeforeAnOpenRound: what stands before the open round may
// leave all the same.
func TestHistoryCompactsBeforeAnOpenRound(t *testing.T) {
	for _, n := range policy.Catalogue {
		h := historyOf(t, n.Name, 2000)
		h.Append(compacttest.Messages(t, "system: s\nuser: read all files")...)
		for i := range 20 {
			h.Append(compacttest.Step(t, i)...)
			h.Append(compacttest.Messages(t, "user: go on")...)
		}
		h.Append(compacttest.Messages(t, "assistant: | call x f {} | call y f {}\ntool y: "+strings.Repeat("word ", 50))...)
		h.PinLast()
		before := h.EstimatedTokens()
		r, err := h.CompactIfNeeded(t.Context())
		if err != nil || r == nil {
			t.Fatalf("%s: %+v, %v", n.Name, r, err)
		}
		msgs := h.Messages()
		if r.Before != before || r.After != h.EstimatedTokens() || r.After >= before || r.MessagesAfter != len(msgs) || r.Fixed != 0 || r.Budget != 2000 {
			t.Errorf("%s: %d → %d tokens, reported %+v", n.Name, before, h.EstimatedTokens(), r)
		}
		if r.Outcome == compact.Over != (r.After > 2000) {
			t.Errorf("%s: %+v", n.Name, r)
		}
		last := msgs[len(msgs)-2:]
		if len(last[0].Calls) != 2 || last[1].Answers != "y" || !h.IsPinned(len(msgs)-1) {
			t.Errorf("%s: the open round is\n%s", n.Name, compacttest.Format(last))
		}
		h.Append(compacttest.Messages(t, "tool x: the real result")...)
		if r, err = h.CompactIfNeeded(t.Context()); err != nil {
			t.Fatalf("%s: %+v, %v", n.Name, r, err)
		}
		if _, err := history.ExchangesStrict(h.Messages()); err != nil || !strings.Contains(compacttest.Format(h.Messages()), "the real result") {
			t.Errorf("%s: %v\n%s", n.Name, err, compacttest.Format(h.Messages()))
		}
	}
}
