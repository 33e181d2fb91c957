package compacttest

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"laconic/compact"
)

// Stories calls tell for each section NAME/WHAT of a file, and compares what it returns
// with the text of the section, or makes it that where update is set. whats are all that a
// section may be.
func Stories(t *testing.T, file string, update bool, whats []string, tell func(name, what, text string) (got string)) {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for i := range archive.Files {
		f := &archive.Files[i]
		name, what, _ := strings.Cut(f.Name, "/")
		if !slices.Contains(whats, what) {
			t.Errorf("%s: unknown section", f.Name)
		}
		want := string(f.Data)
		got := tell(name, what, want)
		if f.Data = []byte(got); !update && strings.TrimSpace(got) != strings.TrimSpace(want) {
			t.Errorf("%s\ngot:\n%swant:\n%s", f.Name, got, want)
		}
	}
	if update {
		if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// Under reads the first line of a story into a policy whose epochs begin at the budget, and
// into limits: words, each with its value.
func Under(t *testing.T, head string, p *compact.Policy) (limits compact.Limits) {
	t.Helper()
	p.Trigger, p.KeepRecent = 1, compact.KeepRecent{Share: 1e-9, Exchanges: 1}
	words := strings.Fields(head)
	for i := 0; i+1 < len(words); i += 2 {
		var pin int
		to := map[string]any{
			"budget": &limits.Budget, "messages": &limits.MaxMessages, "land": &p.Land, "recent": &p.KeepRecent.Exchanges,
			"warm": &p.Warm, "placement": &p.Placement, "pin": &pin,
		}[words[i]]
		if _, err := fmt.Sscan(words[i+1], to); err != nil {
			t.Fatalf("%s: %s: %s: %v", p.Name, head, words[i], err)
		}
		switch words[i] {
		case "warm":
			p.Summaries = true
		case "pin":
			p.Pins.Messages = append(p.Pins.Messages, pin)
		}
	}
	return limits
}
