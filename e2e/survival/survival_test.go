// Package survival measures what a long session leaves to the model. A scripted agent
// makes forty calls in a made-up workspace, in front of an upstream that is as strict
// as OpenAI and counts as nobody knows. Each request that the upstream accepts is
// read as the model would read it: is the newest result there, and what is left
// of the facts that the agent needs at the end?
//
//   - TestSurvival: the agent is a loop of this package. A few sessions with the
//     other tests, all of them by `make survival`.
//   - TestClients: the agents are those that people use, from npm, by `make e2e`.
//   - TestClaudeOnLlamaCpp: Claude Code in front of a real llama-server.
//   - TestRunClients: the same agents find the proxy that laconic run starts.
//   - TestLoopEnds: an agent that calls again whatever it cannot see the result of
//     comes to its end.
//   - TestBoundThinkingSurvives: so does one whose thinking is bound to what came
//     before it.
package survival

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// cell is one line of the table: a window, whether the proxy was told of it, and
// the form of the results.
type cell struct {
	window int
	told   bool
	form   form
}

func (c cell) String() string {
	told := "untold"
	if c.told {
		told = "told"
	}
	return fmt.Sprintf("%d %s %s", c.window, told, c.form)
}

// The seeds that are printed are not those that the product was made with.
var (
	developmentSeeds = seedsFrom(4, 2)
	printedSeeds     = seedsFrom(101, 10)
)

func seedsFrom(first, n uint64) []uint64 {
	all := make([]uint64, n)
	for i := range all {
		all[i] = first + uint64(i)
	}
	return all
}

// judged is the window that runs by default.
const judged = 16_000

// least is what a column keeps at least, in percent, by window: the mean of all
// forms, told and untold. The goal is 90 for each in 8,000, and 95 in 16,000.
var least = map[int][columns]float64{
	8_000: {
		newestWhole: 98, portThere: 98, testThere: 98, firstThere: 98, ruleThere: 92, letterThere: 89,
		causeThere: 95, reasonThere: 95, trailThere: 97, undoneTold: 99, couldReport: 98,
	},
	judged: {
		newestWhole: 99, portThere: 98, testThere: 98, firstThere: 98, ruleThere: 99, letterThere: 95,
		causeThere: 95, reasonThere: 98, trailThere: 95, undoneTold: 98, couldReport: 97,
	},
}

// asksFor is what an agent asks for of an answer in a window, in tokens; its
// answers are short all the same. 0: it does not say.
func asksFor(window int) int {
	if window == 40_000 {
		return 32_000
	}
	return 0
}

// TestSurvival: what forty calls leave to the model, in a window that the proxy
// was told of or not. LACONIC_SURVIVAL names the windows in which every printed
// seed runs, such as 16000, or all of them (`make survival`); else two seeds of
// development run in the window that is judged. The race detector has nothing to
// see in another process.
func TestSurvival(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes some seconds")
	}
	windows, seeds := []int{judged}, developmentSeeds
	asked := os.Getenv("LACONIC_SURVIVAL")
	if asked != "" {
		windows, seeds = windowsOf(t, asked), printedSeeds
	}
	rows := survive(t, cellsOf(windows), seeds)
	var printed []*row
	for _, c := range cellsOf(windows) {
		printed = append(printed, rows[c])
	}
	means := meansOf(windows, rows)
	text := table("window", append(printed, means...))
	t.Logf("mean of %d seeds, from the first fold on:\n%s", len(seeds), text)
	if asked == "all" {
		publish(t, "survival", text)
	}
	for _, window := range windows {
		both := &row{name: fmt.Sprint(window)}
		for _, f := range forms {
			told, untold := rows[cell{window, true, f}], rows[cell{window, false, f}]
			if window >= judged {
				told.isThere(t, 1)
				untold.isThere(t, 0.95)
			}
			if window == judged {
				told.atLeast(t, untold)
			}
			both.join(told)
			both.join(untold)
		}
		both.keeps(t, least[window])
	}
}

func windowsOf(t *testing.T, asked string) (windows []int) {
	if asked == "all" {
		return []int{8_000, judged, 32_000, 40_000}
	}
	for _, word := range strings.Split(asked, ",") {
		n, err := strconv.Atoi(word)
		if err != nil {
			t.Fatalf("LACONIC_SURVIVAL: %v", err)
		}
		windows = append(windows, n)
	}
	return windows
}

func cellsOf(windows []int) []cell {
	var cells []cell
	for _, window := range windows {
		for _, told := range []bool{true, false} {
			for _, f := range forms {
				cells = append(cells, cell{window, told, f})
			}
		}
	}
	return cells
}

// meansOf is a line for each window, told and not, over all forms.
func meansOf(windows []int, rows map[cell]*row) []*row {
	var means []*row
	for _, window := range windows {
		for _, told := range []bool{true, false} {
			mean := &row{name: "mean " + strings.TrimSuffix(cell{window, told, ""}.String(), " ")}
			for _, f := range forms {
				mean.join(rows[cell{window, told, f}])
			}
			means = append(means, mean)
		}
	}
	return means
}

// isThere checks that the newest result is there, whole in a share of the requests.
func (r *row) isThere(t *testing.T, share float64) {
	t.Helper()
	if r.mean(newestWhole) < share || r.mean(newestGone) > 0 || r.sums[refusedSeen] > 0 {
		t.Errorf("%s: the newest result is whole in %.1f %%, gone in %.1f %%, and the client saw %.0f refusals",
			r.name, 100*r.mean(newestWhole), 100*r.mean(newestGone), r.sums[refusedSeen])
	}
}

// keeps checks the columns.
func (r *row) keeps(t *testing.T, least [columns]float64) {
	t.Helper()
	for column, percent := range least {
		if percent > 0 && (r.count[column] == 0 || 100*r.mean(column) < percent-1e-9) {
			t.Errorf("%s: %s %.1f %%, want at least %g %%", r.name, heads[column], 100*r.mean(column), percent)
		}
	}
}

// atLeast checks that telling the proxy the window is no worse than telling it
// nothing.
func (told *row) atLeast(t *testing.T, untold *row) {
	t.Helper()
	if told.mean(newestWhole) < untold.mean(newestWhole) || told.sums[refusedSeen] > untold.sums[refusedSeen] {
		t.Errorf("%s: newest whole %.1f %%, %.0f refusals seen; untold %.1f %%, %.0f", told.name,
			100*told.mean(newestWhole), told.sums[refusedSeen], 100*untold.mean(newestWhole), untold.sums[refusedSeen])
	}
	for column := portThere; column < couldReport; column++ {
		if told.mean(column) < untold.mean(column)-0.05 { // the epochs differ, and so does what has room at each
			t.Errorf("%s: %s %.1f %%, untold %.1f %%", told.name, heads[column], 100*told.mean(column), 100*untold.mean(column))
		}
	}
}

// survive runs a session for each cell and seed, through one laconic. Each has a
// model and a credential of its own, so that none learns from another.
func survive(t *testing.T, cells []cell, seeds []uint64) map[cell]*row {
	var mu sync.Mutex
	upstreams := map[string]*session{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		s := upstreams[r.Header.Get("Authorization")]
		mu.Unlock()
		if s == nil || r.Method != http.MethodPost {
			http.NotFound(w, r)
			return
		}
		s.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	p := startLaconic(t, server.URL+"/v1", toldWindows(cells))

	rows := map[cell]*row{}
	for _, c := range cells {
		rows[c] = &row{name: c.String()}
	}
	var wait sync.WaitGroup
	busy := make(chan struct{}, runtime.GOMAXPROCS(0)+1)
	for _, seed := range seeds {
		k := tokenizers[seed%uint64(len(tokenizers))]
		w := newWorkspace(seed, k.text)
		results := w.perform(t)
		for _, c := range cells {
			model := fmt.Sprintf("house-%s-%d", strings.ReplaceAll(c.String(), " ", "-"), seed)
			s := newSession(w, c.window, k, false)
			mu.Lock()
			upstreams["Bearer sk-"+model] = s
			mu.Unlock()
			a := &agent{url: p.URL, model: model, form: c.form, style: seed, answer: asksFor(c.window), perform: inOrder(results), tell: s.sending}
			a.says("system", instructions)
			a.says("user", firstPrompt)
			busy <- struct{}{}
			wait.Go(func() {
				defer func() { <-busy }()
				text, status, err := a.session(len(script) + 1)
				if err != nil || status == http.StatusOK && text != sessionIsOver {
					t.Errorf("%s, seed %d: it ended with %q: %v", c, seed, text, err)
				} else if status != http.StatusOK {
					s.sawRefusal()
				}
				mu.Lock()
				defer mu.Unlock()
				rows[c].add(s)
				delete(upstreams, "Bearer sk-"+model)
			})
		}
	}
	wait.Wait()
	return rows
}

// inOrder hands results out one after the other, to whatever call.
func inOrder(results []string) func(call) string {
	next := 0
	return func(call) string {
		next++
		return results[next-1]
	}
}

// toldWindows is the configuration that tells the windows of the models whose
// cells are told.
func toldWindows(cells []cell) string {
	var b strings.Builder
	b.WriteString("models:\n")
	known := map[int]bool{}
	for _, c := range cells {
		if c.told && !known[c.window] {
			known[c.window] = true
			fmt.Fprintf(&b, "  - match: \"house-%d-told-*\"\n    window: %d\n", c.window, c.window)
		}
	}
	b.WriteString("  - match: \"*\"\n")
	return b.String()
}
