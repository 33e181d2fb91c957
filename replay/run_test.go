package replay

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"laconic/compact"
	"laconic/compact/compacttest"
	"laconic/compact/stage"
	"laconic/proxy/wire/wiretest"
	"laconic/replay/replaytest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestWorkersDoNotChangeTheResult: one worker and five give the same report
// on real conversations.
func TestWorkersDoNotChangeTheResult(t *testing.T) {
	files := wiretest.ConversationFiles(t)[:3]
	if testing.Short() { // the race detector makes it ten times as long
		files = files[:1]
	}
	run := func(workers int) string {
		t.Helper()
		res := ran(t, Options{
			Files: files, Policies: []Policy{{Name: "adaptive", Policy: &compact.Policy{Ladder: stage.Default()}}},
			Budgets: []Budget{{Share: 0.5}}, Known: func(string) (compact.Counter, compact.Limits) { return compacttest.Bytes{}, compact.Limits{} }, Workers: workers,
		})
		for _, f := range append(res.Files, res.Total) {
			for i := range f.Rows {
				f.Rows[i].Took = 0
			}
		}
		return string(must(json.Marshal(&res)))
	}
	if one, five := run(1), run(5); one != five {
		t.Error("another number of workers gives another result")
	}
}

// TestRunStopsWithItsContext: nothing goes on behind a caller who left.
func TestRunStopsWithItsContext(t *testing.T) {
	file := replaytest.Write(t, "many.jsonl", strings.Repeat(replaytest.Errand, 500))
	ctx, cancel := context.WithCancel(context.Background())
	var seen atomic.Int64
	res, err := Run(ctx, Options{
		Files: []string{file}, Policies: []Policy{rewriting("gone")}, Budgets: []Budget{{Tokens: 20}},
		Known: func(string) (compact.Counter, compact.Limits) {
			if seen.Add(1) == 3 {
				cancel()
			}
			return compacttest.Words{}, compact.Limits{}
		},
	})
	if err != context.Canceled {
		t.Errorf("error %v", err)
	}
	if n := res.Total.Rows[0].Conversations; n < 3 || n > 23 {
		t.Errorf("%d conversations were measured", n)
	}
}

// TestMemoryStaysFlat: a file of 60 conversations of a megabyte each is never
// in memory as a whole.
func TestMemoryStaysFlat(t *testing.T) {
	if testing.Short() {
		t.Skip("writes and reads 60 MB: not in short mode")
	}
	file := filepath.Join(t.TempDir(), "large.jsonl")
	f := must(os.Create(file))
	body := strings.Repeat("words that say nothing at all ", 1<<20/30)
	for i := range 60 {
		if _, err := fmt.Fprintf(f, `{"id":"c%d","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"%s"},{"role":"user","content":"more"}]}`+"\n", i, body); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	var most, seen atomic.Uint64
	ran(t, Options{
		Files: []string{file}, Policies: []Policy{rewriting("gone")}, Budgets: []Budget{{Share: 0.5}},
		Known: func(string) (compact.Counter, compact.Limits) {
			if seen.Add(1)%10 == 0 {
				runtime.GC()
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				most.Store(max(most.Load(), m.HeapAlloc))
			}
			return compacttest.Bytes{}, compact.Limits{}
		},
	})
	if n := most.Load(); n == 0 || n > 30<<20 {
		t.Errorf("%d MB were in use at once", n>>20)
	}
}

// TestPricesAreChecked: what is wrong with them is said.
func TestPricesAreChecked(t *testing.T) {
	for want, p := range map[string]Prices{
		"a price is a number from 0 on, not -1":                       {Cached: -1, Write: 1},
		"a price is a number from 0 on, not NaN":                      {Cached: 0.1, Write: math.NaN()},
		"a price is a number from 0 on, not +Inf":                     {Cached: math.Inf(1), Write: 1},
		"both prices are 0: then nothing can be compared by its cost": {},
	} {
		if _, err := Run(context.Background(), Options{Prices: &p}); err == nil || err.Error() != want {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestBudgetOfTheModel: each conversation is counted as its model counts, and has the budget that its model leaves
// for a prompt beside what answers usually take, however long an answer was asked
