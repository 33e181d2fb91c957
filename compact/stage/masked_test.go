package stage

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// TestMarkersShowNoSecret, and what they are for.
func TestMarkersShowNoSecret(t *testing.T) {
	for text, want := range map[string]string{
		"src/skeleton-loader.tsx":                  "src/skeleton-loader.tsx",
		"docs/skills-overview.md":                  "docs/skills-overview.md",
		"go test -run skip_unfinished_tests":       "go test -run skip_unfinished_tests",
		"curl http://localhost:8080/health":        "curl http://localhost:8080/health",
		"DB_PASS=hunter2hunter2":                   "DB_PASS=***",
		"OPENAI_API_KEY=sk-proj-abcdefghijklmnop1": "OPENAI_API_KEY=***",
		"postgres://app:hunter2hunter2@db/app":     "postgres://app:***@db/app",
		"--- PASS: TestReload (0.02s)":             "--- PASS: TestReload (0.02s)",
	} {
		if got := masked(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestNoSecretIsOverlooked: the look for words before the expressions changes
// nothing.
func TestNoSecretIsOverlooked(t *testing.T) {
	chance := rand.New(rand.NewPCG(1, 2))
	pieces := []string{
		"key", "Token", "SECRET", "_pass", "-Pass", "password", "passwrd", "passwd", "pwd", "Credential", "cookie", "ſalt", "toKen", "\u212aey",
		"bearer ", "BASIC ", "sk-", "Sk-", "pk_live_", "sk_test_", "ghp_", "ghx_", "github_pat_", "glpat-", "xoxb-", "AKIA", "aiza", "AIza", "eyJ",
		"-----BEGIN ", "-----begin ", "://", "user:", "@host", "=", ": ", "\"", "'", " ", "abcdefghijklmnop", "x", ".", "é", "漢", "\n",
	}
	hits := 0
	for range 50_000 {
		var b strings.Builder
		for range 1 + chance.IntN(8) {
			b.WriteString(pieces[chance.IntN(len(pieces))])
		}
		line := b.String()
		want := password.ReplaceAllString(secret.ReplaceAllString(line, "${1}***"), "${1}***@")
		if want != line {
			hits++
		}
		if got := masked(line); got != want {
			t.Fatalf("%q: %q, want %q", line, got, want)
		}
	}
	if hits < 1000 {
		t.Errorf("%d lines had a secret: this tests nothing", hits)
	}
}
