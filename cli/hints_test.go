package cli

import (
	"fmt"
	"strings"
	"testing"

	"laconic/config/configtest"
)

// A base URL without /v1 is legal, but seldom meant.
func TestAnUpstreamWithoutAPathIsHinted(t *testing.T) {
	f := func(src string, want ...string) {
		t.Helper()
		c := parsed(t, src, configtest.Variable)
		var checked strings.Builder
		if err := printConfig(&checked, c, nil, false); err != nil {
			t.Errorf("a hint made the exit code another: %v", err)
		}
		for _, text := range []string{checked.String(), fmt.Sprint(startFacts(c, c.Listen, "", hintLines(c)))} {
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

// OpenAI's variables are the clients' in the environment of the proxy, and that
// is said where they may be missed.
func TestVariablesOfClientsAreNotReadAndSaid(t *testing.T) {
	const elsewhere = "http://canary:11434/v1"
	f := func(src string, set map[string]string, want ...string) {
		t.Helper()
		c := parsed(t, src, func(name string) (string, bool) { v, ok := set[name]; return v, ok })
		var b strings.Builder
		_ = printConfig(&b, c, nil, false)
		if n := strings.Count(b.String(), "hint: "); n != len(want) || strings.Contains(b.String(), "canary") {
			t.Errorf("%d hints, want %d:\n%s", n, len(want), &b)
		}
		for _, w := range want {
			if !strings.Contains(b.String(), "hint: "+w) {
				t.Errorf("no %q in\n%s", w, &b)
			}
		}
	}
	const base = "OPENAI_BASE_URL is for clients and not read here: requests go to "
	f("", nil)
	f("", map[string]string{"OPENAI_BASE_URL": elsewhere}, base+"https://api.openai.com/v1 (elsewhere: --upstream)")
	f("", map[string]string{"OPENAI_BASE_URL": "http://127.0.0.1:7280/v1"})
	f("upstream: http://other.example/v1", map[string]string{"OPENAI_BASE_URL": elsewhere}, base+"http://other.example/v1")
	f("upstream: http://other.example/v1", map[string]string{"OPENAI_BASE_URL": "http://other.example/v1/"})
	f("upstream: http://other.example/v1", map[string]string{"OPENAI_BASE_URL": "http://127.0.0.1:7280/v1"})
}

// TestSealingNeedsARecord: check says under which policies a compaction passes.
func TestSealingNeedsARecord(t *testing.T) {
	for rows, want := range map[string]string{
		`[{match: "*", policy: summary}]`: "is answered",
		`[{match: a, policy: elide}, {match: b, policy: window}, {match: c, policy: elide}]`: "is answered, but passes where a ladder has no summarize: elide, window",
	} {
		c := parsed(t, "store: {secret: 0123456789abcdef0123456789abcdef}\nmodels: "+rows+"\n", configtest.Variable)
		if got := sealWords(c); !strings.HasSuffix(got, "refuses "+want) {
			t.Errorf("%s: %s", rows, got)
		}
	}
}
