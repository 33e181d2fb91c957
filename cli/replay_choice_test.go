package cli

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"laconic/config"
	"laconic/counting"
	"laconic/replay"
	"laconic/replay/replaytest"
)

// twoModels is a configuration with a policy of its own, which the models of one
// row have.
const twoModels = `
models:
  - {match: "small*", window: 4096, policy: mine}
  - {match: "*", budget: 8000, tokenizer: bytes/3.5}
policies:
  mine: {land: 0.4, ladder: [dedupe, elide_results]}
  bare: {ladder: []}
`

// chosenBy returns the options that flags and a configuration choose, in a folder
// with no other file.
func chosenBy(t *testing.T, c replayRun, configuration string) replay.Options {
	t.Helper()
	t.Chdir(t.TempDir())
	if configuration != "" {
		c.config = writeFile(t, filepath.Join(t.TempDir(), "mine.yaml"), configuration)
	}
	var said bytes.Buffer
	cmd := &cobra.Command{}
	cmd.SetErr(&said)
	if err := c.choose(cmd); err != nil {
		t.Fatal(err, said.String())
	}
	return c.Options
}

// TestReplayComparesThePoliciesOfTheConfiguration: those that the proxy would
// use come first, and each claims what the policy claims of which it is a form.
func TestReplayComparesThePoliciesOfTheConfiguration(t *testing.T) {
	f := func(c replayRun, configuration string, want ...string) {
		t.Helper()
		var got []string
		for _, p := range chosenBy(t, c, configuration).Policies {
			got = append(got, p.Name)
			claimed := len(p.Claims)
			switch p.Name {
			case "adaptive", "mine", "bare":
				claimed -= 8
			default:
				claimed -= 3
			}
			if p.Policy == nil || p.Policy.Name != p.Name || claimed != 0 {
				t.Errorf("%s claims %v", p.Name, p.Claims)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("policies %q, want %q", got, want)
		}
	}
	f(replayRun{}, "", "adaptive", "elide", "turns", "window", "summary", "layered")
	f(replayRun{}, twoModels, "mine", "adaptive", "bare", "elide", "turns", "window", "summary", "layered")
	f(replayRun{Options: replay.Options{Model: "large"}}, twoModels, "adaptive", "bare", "mine", "elide", "turns", "window", "summary", "layered")
	f(replayRun{policies: "bare, mine,bare"}, twoModels, "bare", "mine")
}

// TestReplayBudgetsAreTheModelsOwn: where a file or a model was named, and no
// budget.
func TestReplayBudgetsAreTheModelsOwn(t *testing.T) {
	f := func(c replayRun, configuration string, want ...replay.Budget) {
		t.Helper()
		if got := chosenBy(t, c, configuration).Budgets; !slices.Equal(got, want) {
			t.Errorf("%+v: budgets %v, want %v", c, got, want)
		}
	}
	shares := []replay.Budget{{Share: 0.5}, {Share: 0.25}}
	f(replayRun{}, "", shares...)
	f(replayRun{Options: replay.Options{Model: "gpt-4o"}}, "", replay.Budget{Model: true})
	f(replayRun{}, twoModels, replay.Budget{Model: true})
	f(replayRun{budgets: []int{700}, shares: []string{"0.3"}}, twoModels, replay.Budget{Tokens: 700}, replay.Budget{Share: 0.3})
}

// TestReplayChoosesAsServeDoes: window, budget and tokenizer of a model are those
// of the route that its requests would take.
func TestReplayChoosesAsServeDoes(t *testing.T) {
	c := parsed(t, twoModels, func(string) (string, bool) { return "", false })
	p := proxyOptions(c)
	o := chosenBy(t, replayRun{}, twoModels)
	named := chosenBy(t, replayRun{tokenizer: "cl100k_base"}, twoModels)
	for model, budget := range map[string]int{"small-1": 4096 - 1024, "gpt-4o": 8000, "": 8000} {
		route := p.RouteFor(model)
		counter, limits := o.Known(model)
		if limits != route.Limits || limits.For(0).Tokens != budget {
			t.Errorf("%q: limits %+v, want %+v with a budget of %d", model, limits, route.Limits, budget)
		}
		if got, want := counter.(*counting.Counter), route.Counter.(*counting.Counter); got.Tokenizer().Name() != want.Tokenizer().Name() {
			t.Errorf("%q is counted by %s, not %s", model, got.Tokenizer().Name(), want.Tokenizer().Name())
		}
		counter, _ = named.Known(model)
		if got := counter.(*counting.Counter).Tokenizer().Name(); got != "cl100k_base" {
			t.Errorf("%q is counted by %s, in spite of --tokenizer", model, got)
		}
	}
}

// TestReplayReadsTheConfigurationAsServeDoes: the file of the folder, and all of
// its problems. They are no broken promise, so the exit code is 2.
func TestReplayReadsTheConfigurationAsServeDoes(t *testing.T) {
	file := replaytest.Write(t, "errand.jsonl", replaytest.Errand)
	t.Chdir(t.TempDir())
	f := func(configuration string, code int, want string) {
		t.Helper()
		writeFile(t, config.FileName, configuration)
		got, out, said := run(t, "replay", "--policy", "mine", file)
		if got != code || !strings.Contains(out+said, want) {
			t.Errorf("exit code %d, want %d\n%s%s\nwant %s", got, code, out, said, want)
		}
	}
	f("models: [{match: '*', budget: 70, policy: mine}]\npolicies: {mine: {}}", exitDone, "model's own  mine")
	f("modls: []\n", exitInput, "did you mean models")
}
