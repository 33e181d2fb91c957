package main

import (
	"strings"
	"testing"
)

// A base URL without /v1 is legal, but seldom meant.
func TestAnUpstreamWithoutAPathIsHinted(t *testing.T) {
	f := func(src string, want ...string) {
		t.Helper()
		c, err := readConfig("laconic.yaml", []byte(src), variables, nil)
		if err != nil {
			t.Fatal(err)
		}
		var checked strings.Builder
		if code := tellConfig(&checked, c, nil, false); code != 0 {
			t.Errorf("a hint made the exit code %d", code)
		}
		for _, text := range []string{checked.String(), startLines(c, c.Listen, "")} {
			if n := strings.Count(text, "hint"); n != len(want) {
				t.Errorf("%d hints, want %d:\n%s", n, len(want), text)
			}
			for _, w := range want {
				if !strings.Contains(text, w) {
					t.Errorf("no %q in\n%s", w, text)
				}
			}
		}
	}
	f("")
	f("upstream: http://127.0.0.1:11434/v1")
	f("upstream: http://127.0.0.1:11434/api")
	f("upstream: http://127.0.0.1:11434", "chat requests go to http://127.0.0.1:11434/chat/completions; most servers have them below /v1 (upstream: http://127.0.0.1:11434/v1)")
	f("upstream: http://127.0.0.1:11434/?key=canary", "http://127.0.0.1:11434/v1?")
	f("upstream: http://a.example/\nmodels: [{match: x, upstream: \"http://b.example\", api_key: canary}, {match: y, upstream: \"http://b.example\", api_key: canary}]",
		"go to http://a.example/chat/completions;", "go to http://b.example/chat/completions;")
}

func TestAdminOffIsNoAddress(t *testing.T) {
	for _, over := range [][]Override{nil, {{Key: "admin", Value: "off", From: "--admin"}}} {
		src := "admin: off"
		if over != nil {
			src = ""
		}
		c, err := Parse("laconic.yaml", []byte(src), over...)
		if err != nil || c.Admin != "" {
			t.Errorf("admin %q, %v", c.Admin, err)
		}
	}
	_, err := Parse("laconic.yaml", []byte("admin: no"))
	if err == nil || !strings.Contains(err.Error(), "(such as 127.0.0.1:7281, or off)") {
		t.Errorf("%v", err)
	}
}

// What stands where a setting of another kind belongs is shown, unless it may be
// a secret.
func TestWhatIsOfTheWrongKindIsShown(t *testing.T) {
	f := func(src, want string) {
		t.Helper()
		c, err := readConfig("laconic.yaml", []byte(src), variables, nil)
		var b strings.Builder
		if tellConfig(&b, c, err, false); !strings.Contains(b.String(), want+"\n") {
			t.Errorf("%s\nis shown as\n%s", src, &b)
		}
	}
	f("listen: [a, b]", "1 | listen: [a, b]")
	f("limits: {body: [64]}", "1 | limits: {body: [64]}")
	f("policies: {adaptive: {pin: {tools: {a: b}}}}", "1 | policies: {adaptive: {pin: {tools: {a: b}}}}")
	f("upstream: {url: a, api_key: canary}", "1 | upstream: {url: a, api_key: ***}")
	f("upstream: {url: [a, b], my_token: [canary]}", "1 | upstream: {url: [a, b], my_token: [***]}")
	f("models: [{match: x, api_key: [canary]}]", "1 | models: [{match: x, api_key: [***]}]")
	f("listen: [sk-canary-canary]", "1 | listen: [***]")
}
