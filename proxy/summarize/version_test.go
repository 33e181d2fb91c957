package summarize

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"laconic/store"
	"laconic/store/storetest"
)

// versioned asks for summaries as one version of the program does, each time in a
// new process.
type versioned struct {
	t      *testing.T
	format format
	open   func() (v *store.Vault, end func())
	asked  int
}

// text returns the summaries in the slot of a conversation of n steps and how they
// came about, and what the model was asked: it writes the version that asks it.
func (v *versioned) text(n int) (text, outcome, asked string) {
	v.t.Helper()
	vault, end := v.open()
	defer end()
	a := agentOn(v.t, vault, 8000)
	defer a.s.Close()
	a.s.format = v.format
	a.answer = func(prompt string) string {
		asked += prompt
		v.asked++
		return fmt.Sprintf("State: answer %d, under the format %v, about the files that were read.", v.asked, v.format)
	}
	texts, info, _ := a.texts(n)
	return strings.Join(texts, ""), info.Outcome, asked
}

// TestASummaryOfAnotherVersionIsAMiss: a store that an older program has written, or
// that two versions share, gives none the text of another, neither for its slot nor
// as the summary so far.
func TestASummaryOfAnotherVersionIsAMiss(t *testing.T) {
	a := newAgent(t, 8000)
	few, many := a.stepWith(spansOf(1)), a.stepWith(madeAnew)
	for _, kind := range []store.Kind{store.InMemory, store.InFile, store.InRedis} {
		t.Run(string(kind), func(t *testing.T) {
			v := &versioned{t: t, format: written, open: vaults(t, kind)}
			early, outcome, _ := v.text(few)
			if outcome != Made {
				t.Fatalf("the first: %s", outcome)
			}
			if again, outcome, _ := v.text(few); outcome != Hit || again != early {
				t.Errorf("in a new process: %s\n%s", outcome, again)
			}
			if _, outcome, asked := v.text(many); outcome != Made || !strings.Contains(asked, "answer 1,") {
				t.Errorf("%s: the summary so far is not used, which proves nothing below:\n%s", outcome, asked)
			}
			for _, other := range []format{
				{"summary 0", written.fold, written.prompt}, {written.key, "0", written.prompt}, {written.key, written.fold, "0"},
			} {
				v.format = other
				for _, n := range []int{many, few} {
					text, outcome, asked := v.text(n)
					if outcome != Made || !strings.Contains(text, fmt.Sprint(other)) || strings.Contains(asked, fmt.Sprint(written)) {
						t.Errorf("%v, %d steps: %s\n%s\n%s", other, n, outcome, text, asked)
					}
				}
			}
			v.format = written
			if again, outcome, _ := v.text(few); outcome != Hit || again != early {
				t.Errorf("beside the others: %s\n%s", outcome, again)
			}
		})
	}
}

// vaults returns what opens a store of a kind as a new process does; the one in
// memory is the same for all.
func vaults(t *testing.T, kind store.Kind) func() (*store.Vault, func()) {
	t.Helper()
	o := store.Options{Kind: kind, Path: filepath.Join(t.TempDir(), "laconic.db"), Secret: []byte("a secret of this test")}
	if kind == store.InRedis {
		o.URL = storetest.StartRedis(t).URL()
	}
	if kind == store.InMemory {
		v := opened(t, o)
		return func() (*store.Vault, func()) { return v, func() {} }
	}
	return func() (*store.Vault, func()) {
		v := opened(t, o)
		return v, v.Close
	}
}
