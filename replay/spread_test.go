package replay

import (
	"context"
	"encoding/json"
	"testing"

	"laconic/compact/compacttest"
	"laconic/replay/replaytest"
)

// TestSpreadOf: quartiles of few numbers, and of none.
func TestSpreadOf(t *testing.T) {
	f := func(want Spread, values ...float64) {
		t.Helper()
		if got := spreadOf(values); got != want {
			t.Errorf("%v: %+v, want %+v", values, got, want)
		}
	}
	f(Spread{})
	f(Spread{1, 7, 7, 7, 7, 7}, 7)
	f(Spread{2, 2, 2.5, 3, 3.5, 4}, 4, 2)
	f(Spread{5, 1, 2, 3, 4, 9}, 4, 9, 1, 3, 2)
}

// TestSpreadIsOverFiles: one value for each file, whatever its size, and a file
// without facts has no recall.
func TestSpreadIsOverFiles(t *testing.T) {
	errand := replaytest.Write(t, "errand.jsonl", replaytest.Errand+replaytest.Errand)
	small := replaytest.Write(t, "small.jsonl", `{"messages":[{"role":"user","content":"hi"}]}`)
	run := func(files ...string) Result {
		t.Helper()
		res, err := Run(context.Background(), Options{
			Files: files, Policies: []Policy{rewriting("gone: code_4711"), rewriting("gone")}, Budgets: []Budget{{Tokens: 20}}, Counter: compacttest.Words{},
		})
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	res := run(errand, small)
	if len(res.Spreads) != 2 {
		t.Fatalf("%+v", res.Spreads)
	}
	for i, recall := range []float64{1, 0} {
		s, cost := res.Spreads[i], res.Files[0].Rows[i].Cost()
		if s.Recall != (Spread{1, recall, recall, recall, recall, recall}) || s.Cost.Files != 2 || s.Cost.Least != min(1, cost) || s.Cost.Most != max(1, cost) || s.Cost.Median != (1+cost)/2 {
			t.Errorf("policy %d: %+v", i, s)
		}
	}
	raw, err := json.Marshal([]Spread{{}, {1, 2, 2, 2, 2, 2}})
	if want := `[null,{"files":1,"least":2,"quarter":2,"median":2,"three_quarters":2,"most":2}]`; err != nil || string(raw) != want {
		t.Errorf("%s, %v, want %s", raw, err, want)
	}
	if one := run(errand); one.Spreads != nil {
		t.Errorf("one file has a spread: %+v", one.Spreads)
	}
}
