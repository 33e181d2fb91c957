package cli

import (
	"os"
	"strings"
	"sync"
	"testing"

	"laconic/config"
)

// writeFile writes a file, and returns its path.
func writeFile(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// parsed returns a configuration that is valid.
func parsed(t *testing.T, src string, variable func(string) (string, bool)) *config.Config {
	t.Helper()
	c, err := config.Parse("laconic.yaml", []byte(src), variable)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// lockedText is a text that several goroutines write and read.
type lockedText struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *lockedText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// Each flag has a variable. A flag that is given wins.
func TestEachFlagHasAVariable(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, value := range map[string]string{"LACONIC_JSON": "true", "LACONIC_LISTEN": "nowhere", "LACONIC_BUDGET": "many", "LACONIC_VERSION": "1.2"} {
		t.Setenv(name, value)
	}
	for line, want := range map[string]string{
		"replay x.jsonl":            `laconic: LACONIC_BUDGET: `,
		"check":                     "LACONIC_LISTEN",
		"check --listen elsewhere":  "--listen",
		"replay --budget 9 x.jsonl": `"files": []`,
	} {
		if code, out, said := run(t, strings.Fields(line)...); code == 0 || !strings.Contains(out+said, want) {
			t.Errorf("%s: exit %d, want %q in\n%s%s", line, code, want, out, said)
		}
	}
}
