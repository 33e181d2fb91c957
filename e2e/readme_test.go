package e2e

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"laconic/e2e/rig"
)

// TestREADMEShowsWhatTheDemoPrints compares the lines of the demo in the README
// with those that the command prints.
func TestREADMEShowsWhatTheDemoPrints(t *testing.T) {
	readme := rig.ReadFile(t, "../README.md")
	const head = "  #  the agent "
	_, shown, found := strings.Cut(string(readme), "```\n"+head)
	shown, _, ended := strings.Cut(head+shown, "```")
	if !found || !ended {
		t.Fatal("the README shows no demo")
	}
	out, err := exec.Command(rig.Command(t), "demo", "--fast").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(shown) {
		if !strings.Contains(string(out), line) {
			t.Errorf("the demo does not print %q", line)
		}
	}
}

// TestREADMEHasTheFiguresOfServers: both are renewed from one run.
func TestREADMEHasTheFiguresOfServers(t *testing.T) {
	readme := rig.ReadFile(t, "../README.md")
	servers := rig.ReadFile(t, "../docs/servers.md")
	said := regexp.MustCompile(`([\d,]+) tokens evaluated instead of ([\d,]+), and ([\d,]+) if`).FindSubmatch(readme)
	if said == nil {
		t.Fatal("the README does not say what llama-server evaluates")
	}
	for _, figure := range said[1:] {
		if !bytes.Contains(servers, figure) {
			t.Errorf("%s is not in docs/servers.md", figure)
		}
	}
}

// TestPagesNameHeadersThatThereAre: each header that a page names is a row of
// docs/headers.md. Those of the service have a page of their own.
func TestPagesNameHeadersThatThereAre(t *testing.T) {
	table := rig.ReadFile(t, "../docs/headers.md")
	pages, _ := filepath.Glob("../docs/*.md")
	more, _ := filepath.Glob("../docs/*/*.md")
	if len(pages) == 0 {
		t.Fatal("no page was found")
	}
	for _, page := range append(pages, more...) {
		text := rig.ReadFile(t, page)
		for _, name := range regexp.MustCompile(`(?i)x-laconic-[a-z-]*[a-z]`).FindAllString(string(text), -1) {
			row := "\n| `" + strings.ToLower(name) + "` |"
			if base := filepath.Base(page); base != "service.md" && base != "headers.md" && !bytes.Contains(table, []byte(row)) {
				t.Errorf("%s: %s", page, name)
			}
		}
	}
}
