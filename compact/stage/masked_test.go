package stage

import "testing"

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
