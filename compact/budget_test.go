package compact_test

import (
	"fmt"
	"testing"

	"laconic/compact"
	"laconic/compact/compacttest"
)

// TestBudgetOfTokensAlone: a number of tokens is a budget, with defaults for the
// rest.
func TestBudgetOfTokensAlone(t *testing.T) {
	in := compact.Conversation{Messages: list(t, "system: s\nuser: read all files"), Fixed: 40}
	for i := range 40 {
		in.Messages = append(in.Messages, step(t, i)...)
	}
	for i := range in.Messages {
		in.Messages[i].Origin = i
	}
	for _, tokens := range []int{-1, 0, 1, 100, 3000, 1 << 20} {
		want, wantReport := compact.Compact(in, adaptive(), compacttest.Bytes{}, compact.Budget{Tokens: tokens, Placing: tokens, Step: max(1, tokens/16), Messages: compact.DefaultMaxMessages})
		b := compact.Budget{Tokens: tokens}
		got, report := compact.Compact(in, adaptive(), compacttest.Bytes{}, b)
		if fmt.Sprint(report) != fmt.Sprint(wantReport) || compacttest.Format(got.Apply(in, "")) != compacttest.Format(want.Apply(in, "")) {
			t.Errorf("%d tokens: %+v, want %+v", tokens, report, wantReport)
		}
		if tokens > 0 {
			for _, err := range compact.Broken(in, adaptive(), compacttest.Bytes{}, b, &got, report) {
				t.Errorf("%d tokens: %v", tokens, err)
			}
		}
	}
}
