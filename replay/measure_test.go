package replay

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"laconic/replay/replaytest"
)

// rewriting is a policy that rewrites old results to a text.
func rewriting(text string) Policy {
	return Policy{Name: "test", Policy: replaytest.Rewriting(text), Claims: []string{"untouched", "paired", "never worse"}}
}

// ran runs a replay that nothing is wrong with.
func ran(t *testing.T, o Options) Result {
	t.Helper()
	res, err := Run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func replayed1(t *testing.T, p Policy, b Budget, file string) Row {
	t.Helper()
	res := ran(t, Options{Files: []string{file}, Policies: []Policy{p}, Budgets: []Budget{b}, Known: replaytest.Words})
	if len(res.Files) != 1 || len(res.Unread) > 0 || len(res.Failures) > 0 {
		t.Fatalf("files %v, unread %v, failures %v", res.Files, res.Unread, res.Failures)
	}
	return res.Total.Rows[0]
}

// TestNumbersOfAnErrand: every number, worked out by hand. The budget of 20
// starts an epoch above 19; the third request (21) is the only one.
func TestNumbersOfAnErrand(t *testing.T) {
	f := func(text string, want Numbers) {
		t.Helper()
		want.Conversations, want.Requests = 1, 4
		want.Over = 2                               // requests 3 and 4
		want.Facts, want.Hard, want.Calls = 1, 1, 1 // code_4711, whose message is rewritten
		want.HardRecalled, want.HardVerbatim, want.CallsWhole = want.Recalled, want.Verbatim, want.Recalled
		want.Full = 25 + 0.1*44 // 6+17+21+25 sent, of them 0+6+17+21 cached
		got := replayed1(t, rewriting(text), Budget{Tokens: 20}, replaytest.Write(t, "errand.jsonl", replaytest.Errand)).Numbers
		if got.Took <= 0 {
			t.Errorf("it took %v", got.Took)
		}
		got.Took = 0
		if d := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Numbers{}), cmpopts.EquateApprox(0, 1e-9)); d != "" {
			t.Errorf("%q: want -, got +\n%s", text, d)
		}
	}
	// Nothing of the result is left. Sent: 6, 17, 14, 18. Cached: 0; messages
	// 1-2: 6; messages 1-3: 9; all that was sent before: 14.
	f("gone", Numbers{
		Fits: 2, Epochs: 1, PrefixBreaks: 1,
		Sent: 55, Cached: 29, Bill: 26 + 2.9,
	})
	// The value is left, its surroundings are not. Sent: 6, 17, 15, 19.
	f("gone: code_4711", Numbers{
		Fits: 2, Epochs: 1, PrefixBreaks: 1, Kept: Kept{Recalled: 1},
		Sent: 57, Cached: 0 + 6 + 9 + 15, Bill: 27 + 3.0,
	})
	// The 12 characters on both sides are left, and the result still starts as
	// it did: its 6 tokens come from the cache. Sent: 6, 17, 19, 23; the last
	// one does not fit, and there is nothing more to rewrite.
	f("the secret is code_4711 and nothing", Numbers{
		Fits: 1, Epochs: 1, PrefixBreaks: 1, Kept: Kept{Recalled: 1, Verbatim: 1},
		Sent: 65, Cached: 0 + 6 + 15 + 19, Bill: 25 + 4.0,
	})
	// One character of the surroundings is missing.
	f("the secret is code_4711 and nothin", Numbers{
		Fits: 1, Epochs: 1, PrefixBreaks: 1, Kept: Kept{Recalled: 1},
		Sent: 65, Cached: 0 + 6 + 15 + 19, Bill: 25 + 4.0,
	})
}

// TestPricesDecideTheCost: the same tokens at the prices of a provider whose
// cache costs to fill.
func TestPricesDecideTheCost(t *testing.T) {
	f := func(p *Prices, want float64) {
		t.Helper()
		res := ran(t, Options{
			Files: []string{replaytest.Write(t, "errand.jsonl", replaytest.Errand)}, Policies: []Policy{rewriting("gone")},
			Budgets: []Budget{{Tokens: 20}}, Known: replaytest.Words, Prices: p,
		})
		if got := res.Total.Rows[0].Cost(); math.Abs(got-want) > 1e-9 {
			t.Errorf("%+v: cost %v, want %v", p, got, want)
		}
	}
	f(&Prices{Cached: 0.1, Write: 1.25}, (26*1.25+2.9)/(25*1.25+4.4))
	f(&Prices{Cached: 0, Write: 1}, 26.0/25)
	f(&Prices{Cached: 1, Write: 0}, 29.0/44)
	f(nil, (26+2.9)/(25+4.4))
}

// TestBrokenPromisesAreTold: a policy that writes another text at every
// request, so that the prompt cache misses without an epoch. That is told if
// the policy claims to be stable, and only then.
func TestBrokenPromisesAreTold(t *testing.T) {
	file := replaytest.Write(t, "errand.jsonl", replaytest.Errand)
	f := func(claims []string, want []string) {
		t.Helper()
		p := Policy{Name: "fickle", Policy: replaytest.Fickle(), Claims: claims}
		res := ran(t, Options{Files: []string{file}, Policies: []Policy{p}, Budgets: []Budget{{Tokens: 20}}, Known: replaytest.Words})
		var got []string
		for _, f := range res.Failures {
			got = append(got, fmt.Sprintf("%s %d", f.Promise, f.Times))
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("claims %v: want -, got +\n%s", claims, d)
		}
		if failed := res.Total.Rows[0].Failures > 0; failed != (len(want) > 0) {
			t.Errorf("claims %v: failed is %v", claims, failed)
		}
	}
	f([]string{"paired", "stable"}, []string{"stable 1"})
	f([]string{"untouched", "paired", "never worse"}, nil)
	f(nil, nil)
}

// LowRecall returns the fifth percentile of the recall of the conversations with
// facts: one of twenty has less. Between two conversations it is their mean, weighed
// by its distance.
func (n *Numbers) LowRecall() float64 {
	if len(n.recalls) == 0 {
		return 1
	}
	sorted := slices.Sorted(slices.Values(n.recalls))
	below, part := math.Modf(0.05 * float64(len(sorted)-1))
	i := int(below)
	return sorted[i] + part*(sorted[min(i+1, len(sorted)-1)]-sorted[i])
}

// TestLowRecallIsOfConversations: between two the percentile is in proportion.
func TestLowRecallIsOfConversations(t *testing.T) {
	var all Numbers
	if all.LowRecall() != 1 {
		t.Errorf("%v of nothing", all.LowRecall())
	}
	for i := range 21 {
		all.add(&Numbers{recalls: []float64{float64(i) / 20}})
	}
	if got := all.LowRecall(); math.Abs(got-0.05) > 1e-12 { // of 0, 0.05, 0.1 … 1
		t.Errorf("%v", got)
	}
}
