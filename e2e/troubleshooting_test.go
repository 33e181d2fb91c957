package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"laconic/e2e/rig"
)

// What the page of troubleshooting quotes of the proxy stands in its source: each
// sentence and code of a table, and each setting.
func TestTroubleshootingQuotesTheProxy(t *testing.T) {
	page := rig.ReadFile(t, "../docs/troubleshooting.md")
	var source strings.Builder
	for _, root := range []string{"../proxy", "../config.example.yaml"} {
		err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() || strings.HasSuffix(path, "_test.go") || !strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, ".yaml") {
				return err
			}
			text, err := os.ReadFile(path)
			source.Write(text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	_, own, _ := strings.Cut(string(page), "## From Laconic")
	own, _, _ = strings.Cut(own, "\n## ")
	quoted := 0
	for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(own, -1) {
		said := m[1][strings.LastIndexByte(m[1], '.')+1:] // a setting by its last name, unless it is a sentence
		if strings.ContainsRune(m[1], ' ') {
			said = m[1]
		}
		if said, _, _ = strings.Cut(said, ": "); said != "" && !strings.HasPrefix(said, "/") && !strings.Contains(source.String(), said) {
			t.Errorf("the proxy does not say %q", m[1])
		}
		quoted++
	}
	if quoted < 40 {
		t.Errorf("the page quotes %d things", quoted)
	}
}
