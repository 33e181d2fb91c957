package history_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"laconic/compact"
	"laconic/compact/compacttest"
	"laconic/compact/history"
	"laconic/compact/policy"
	"laconic/compact/stage"
)

// TestHistoryKeepsThePinOfItsRecord: a record is a message like any other once
// somebody pinned it.
func TestHistoryKeepsThePinOfItsRecord(t *testing.T) {
	p, err := policy.New("summary", nil)
	if err != nil {
		t.Fatal(err)
	}
	h := history.New(history.Options{
		Policy: p, Budget: compact.Limits{Budget: 3000}.For(0),
		Summarize: func(_ context.Context, span []compact.Message) (string, error) {
			return fmt.Sprintf("%d messages were read, and nothing of note stood in them.", len(span)), nil
		},
	})
	h.Append(compacttest.Messages(t, "user: read all files")...)
	pinned := ""
	for i := range 120 {
		h.Append(compacttest.Step(t, i)...)
		if _, err := h.CompactIfNeeded(t.Context()); err != nil {
			t.Fatal(err)
		}
		if first := h.Messages()[0]; pinned == "" && strings.Contains(asText(first), "Previous conversation summary:") {
			h.PinAt(0)
			pinned = asText(first)
		}
	}
	if pinned == "" || !h.IsPinned(0) || asText(h.Messages()[0]) != pinned {
		t.Errorf("pinned was %q; the history is\n%s", pinned, compacttest.Format(h.Messages()))
	}
	if n := strings.Count(compacttest.Format(h.Messages()), "Previous conversation summary:"); n != 2 {
		t.Errorf("%d summaries, want the pinned one and the newest", n)
	}
}

// TestHistoryHoldsOneRecord: what stands for earlier messages leaves for what
// replaces it, wherever it stands.
func TestHistoryHoldsOneRecord(t *testing.T) {
	for _, start := range []string{"user: task", "system: s\nuser: task", "assistant: hello\nuser: task", "assistant: hello", "system: s"} {
		for _, place := range []compact.Placement{compact.PlaceAuto, compact.PlaceSystem} {
			p := &compact.Policy{Ladder: stage.Default(), Placement: place}
			h := history.New(history.Options{Policy: p, Budget: compact.Limits{Budget: 3000}.For(0)})
			h.Append(compacttest.Messages(t, start)...)
			for i := range 60 {
				h.Append(compacttest.Step(t, i)...)
				if i%10 == 5 {
					h.Append(compacttest.Messages(t, "user: go on")...)
				}
				if _, err := h.CompactIfNeeded(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			sent := compacttest.Format(h.Messages())
			if n := strings.Count(sent, "[Record of"); n != 1 || h.EstimatedTokens() > 3000 {
				t.Errorf("%q, %s: %d records, %d tokens\n%.2000s", start, place, n, h.EstimatedTokens(), sent)
			}
		}
	}
}

// TestHistoryNeverLosesAPin: random histories, pins, budgets and policies, a
// compaction after every message.
func TestHistoryNeverLosesAPin(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 7))
		n := policy.Catalogue[r.IntN(len(policy.Catalogue))]
		p, err := n.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		o := history.Options{Policy: p, Budget: compact.Limits{Budget: 300 + r.IntN(1500), MaxMessages: 8 + r.IntN(60)}.For(0), Fixed: r.IntN(2) * 50}
		if r.IntN(2) == 0 {
			o.Summarize = func(_ context.Context, span []compact.Message) (string, error) {
				return fmt.Sprintf("%d messages were read, and nothing of note stood in them.", len(span)), nil
			}
		}
		h := history.New(o)
		pins := map[string]int{}
		for i := range 60 {
			for _, m := range randomRound(t, r, i) {
				h.Append(m)
				if r.IntN(12) == 0 {
					h.PinLast()
				}
				if r.IntN(20) == 0 {
					h.PinAt(r.IntN(len(h.Messages())))
				}
				if r.IntN(30) == 0 {
					h.UnpinAt(r.IntN(len(h.Messages())))
				}
				clear(pins)
				for k, pinned := range h.Pinned() {
					if pinned {
						pins[wordsOf(h.Messages()[k])]++
					}
				}
				if _, err := h.CompactIfNeeded(t.Context()); err != nil && !errors.Is(err, history.ErrNotEnough) {
					t.Fatal(err)
				}
				for k, pinned := range h.Pinned() {
					if pinned {
						pins[wordsOf(h.Messages()[k])]--
					}
				}
				for text, left := range pins {
					if left != 0 {
						t.Fatalf("seed %d, %s, round %d: a pin is lost or changed (%d): %.2000s\n%.3000s", seed, n.Name, i, left, text, compacttest.Format(h.Messages()))
					}
				}
			}
		}
		if _, err := history.ExchangesStrict(h.Messages()); err != nil || strings.Contains(compacttest.Format(h.Messages()), compact.NoResult) {
			t.Fatalf("seed %d, %s: %v\n%s", seed, n.Name, err, compacttest.Format(h.Messages()))
		}
	}
}

// wordsOf is a message without the record that may stand behind its own words.
func wordsOf(m compact.Message) string {
	if n := len(m.Parts) - 1; n > 0 && strings.HasPrefix(m.Parts[n].Text.String(), "\n\n[") {
		m.Parts, m.Shape = m.Parts[:n], compact.String
	}
	return asText(m)
}

func randomRound(t *testing.T, r *rand.Rand, i int) []compact.Message {
	t.Helper()
	text := fmt.Sprintf("number %d ", i) + strings.Repeat("word ", r.IntN(60))
	switch r.IntN(6) {
	case 0:
		return compacttest.Messages(t, "user: "+text)
	case 1:
		return compacttest.Messages(t, "assistant: "+text)
	case 2:
		if i == 0 || r.IntN(8) == 0 {
			return compacttest.Messages(t, "system: "+text[:min(len(text), 40)])
		}
	}
	round := fmt.Sprintf("assistant: | call a%d read {\"path\":\"%d\"} | call b%d read {}\n", i, i, i)
	results := []string{fmt.Sprintf("tool a%d: %s\n", i, text), fmt.Sprintf("tool b%d: %s\n", i, text)}
	if r.IntN(2) == 0 {
		slices.Reverse(results)
	}
	return compacttest.Messages(t, round+strings.Join(results, ""))
}
