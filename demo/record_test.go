package demo

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var record = flag.Bool("record", false, "run the commands of story.txt for real and write what they print into it")

// TestRecord makes the recorded outputs of story.txt: it plays the story up to every command, puts the files on
// disk, runs the command there, and writes the lines it printed below it.
func TestRecord(t *testing.T) {
	if !*record {
		t.Skip("runs some thirty go commands and rewrites story.txt; ask for it with -record")
	}
	dir := t.TempDir()
	head, body, _ := strings.Cut(storyText, "\n===\n")
	w := openWorkspace(parceldArchive)
	put(t, w, dir)
	shell(t, dir, "git init -q && git add . && git -c user.name=demo -c user.email=demo@example.com commit -qm start")

	r := &storyReader{lines: withoutOutput(body), w: w}
	var out []string
	for r.at < len(r.lines) {
		start := r.at
		if err := recordBeat(t, r, dir, &out, start); err != nil {
			t.Fatal(err)
		}
	}
	text := head + "\n===\n" + strings.Join(out, "\n")
	if err := os.WriteFile("story.txt", []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// recordBeat copies the lines of one beat to out, with fresh output below its commands.
func recordBeat(t *testing.T, r *storyReader, dir string, out *[]string, start int) error {
	if !strings.HasPrefix(r.lines[start], "agent: ") {
		err := r.beat()
		*out = append(*out, r.lines[start:r.at]...)
		return err
	}
	_, first, _ := strings.Cut(r.lines[start], ": ")
	r.text(first)
	*out = append(*out, r.lines[start:r.at]...)
	for r.at < len(r.lines) && strings.HasPrefix(r.lines[r.at], ">") {
		from := r.at
		command, run := strings.CutPrefix(r.lines[from], "> run ")
		if _, err := r.call(); err != nil {
			return fmt.Errorf("%s: %w", r.lines[from], err)
		}
		*out = append(*out, r.lines[from:r.at]...)
		if run {
			put(t, r.w, dir)
			for line := range strings.Lines(shell(t, dir, command)) {
				*out = append(*out, strings.TrimRight("| "+strings.TrimRight(line, "\n"), " "))
			}
		}
	}
	return nil
}

// withoutOutput drops the recorded lines; lines of an edit that look like them stay.
func withoutOutput(body string) []string {
	var lines []string
	editing := false
	for _, line := range strings.Split(body, "\n") {
		editing = line == "<<<<<<<" || editing && line != ">>>>>>>"
		if editing || !strings.HasPrefix(line, "|") {
			lines = append(lines, line)
		}
	}
	return lines
}

func put(t *testing.T, w *workspace, dir string) {
	t.Helper()
	for name, text := range w.files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// shell returns what a command printed, as an agent's tool would show it.
func shell(t *testing.T, dir, command string) string {
	t.Helper()
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GIT_PAGER=cat")
	printed, err := cmd.CombinedOutput()
	text := strings.ReplaceAll(string(printed), dir, "/src/parceld")
	if err != nil {
		text += "[" + err.Error() + "]\n"
	}
	return text
}
