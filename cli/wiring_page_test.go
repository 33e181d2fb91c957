package cli

import (
	"strings"
	"testing"

	"laconic/config"
	"laconic/config/configtest"
)

// What the page shows of the configuration is what holds, also where the file does not
// say it.
func TestThePageShowsWhatHolds(t *testing.T) {
	c, err := config.Parse("laconic.yaml", []byte("upstream: http://127.0.0.1:9/v1\nmodels:\n  - {match: \"gpt-5*\", window: 400000, budget: 24000}\n  - {match: short, policy: window}\n  - {match: \"*\"}\n"), configtest.Variable)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, s := range settingsShown(c) {
		if _, twice := got[s.Path]; twice {
			t.Errorf("%s is listed twice", s.Path)
		}
		got[s.Path] = s.Value + " from " + s.From
	}
	for path, want := range map[string]string{
		"overrides":       "on from ",
		"store.kind":      "memory from ",
		"models[0]":       "match gpt-5*, window 400000, budget 24000, policy adaptive, tokenizer by name, upstream http://127.0.0.1:9/v1, key the client's from laconic.yaml:3",
		"models[2]":       "match *, window by name, else 128000, budget window - reserve, policy adaptive, tokenizer by name, upstream http://127.0.0.1:9/v1, key the client's from laconic.yaml:5",
		"policies.window": "as window; repair answer, on overflow forward from ",
	} {
		if got[path] != want {
			t.Errorf("%s is %q, want %q", path, got[path], want)
		}
	}
	if !strings.Contains(got["policies.adaptive"], "trigger auto, land 0.4") {
		t.Errorf("adaptive: %s", got["policies.adaptive"])
	}
}
