package cli

import (
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
		"overrides":                    "on from ",
		"models[0].window":             "400000 from laconic.yaml:3",
		"models[2].window":             "by name, else 128000 from ",
		"models[2].budget":             "window - reserve from ",
		"models[2].policy":             "adaptive from ",
		"policies.adaptive.trigger":    "0.95 of the budget where counts are exact, else 0.85 from ",
		"policies.adaptive.land":       "0.4 from ",
		"policies.window.options.keep": "4 from ",
	} {
		if got[path] != want {
			t.Errorf("%s is %q, want %q", path, got[path], want)
		}
	}
	if got["policies.adaptive.ladder"] == "" {
		t.Error("no ladder is listed")
	}
}
