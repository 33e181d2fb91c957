package config

import "testing"

// TestSettingsAreAllListed, also those that are not set.
func TestSettingsAreAllListed(t *testing.T) {
	c, err := Parse("laconic.yaml", []byte("upstream: http://127.0.0.1:9/v1\ncapture: {size: 64MiB}\n"), func(string) (string, bool) { return "", false })
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]Setting{}
	for _, s := range c.Settings() {
		got[s.Path] = s
	}
	for path, want := range map[string]Setting{
		"upstream":     {Path: "upstream", Value: "http://127.0.0.1:9/v1", From: "laconic.yaml:1"},
		"capture.size": {Path: "capture.size", Value: "64MiB", From: "laconic.yaml:2"},
		"limits.drain": {Path: "limits.drain"},
	} {
		if got[path] != want {
			t.Errorf("got %+v, want %+v", got[path], want)
		}
	}
}
