package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"laconic/e2e/rig"
)

// TestREADMEShowsWhatTheDemoPrints compares the lines of the demo in the README
// with those that the command prints.
func TestREADMEShowsWhatTheDemoPrints(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
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
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	servers, err := os.ReadFile("../docs/servers.md")
	if err != nil {
		t.Fatal(err)
	}
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
