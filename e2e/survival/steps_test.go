package survival

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// step is one call of the script. $NAME stands for what a workspace has there.
type step struct {
	do   verb
	path string // that is read, written or edited
	text string // a command, what is written, or what an edit puts in place of old
	old  string
	say  string // what the model says with the call
	fate fate
}

// fate is what becomes of a step.
type fate string

const (
	done    fate = ""
	fails   fate = "fails"   // the tool finds no text to replace
	refused fate = "refused" // the user says no
)

type verb string

const (
	read  verb = "read"
	run   verb = "run"
	write verb = "write"
	edit  verb = "edit"
)

// script is the session: forty calls, in order.
var script = []step{
	{do: run, text: "cat TASK.md; ls", say: "I begin with the task."},
	{do: read, path: "$SETTINGS", say: "The settings next."},
	{do: run, text: "sh run_tests.sh | tee logs/tests.log", say: "Now the tests: one should fail."},
	{do: read, path: "$S00", say: "The failing test belongs to this file."},
	{do: read, path: "$S01"},
	{do: run, text: "grep -rn $WORD src", say: "Who else asks the $WORD?"},
	{do: read, path: "$LETTER", say: "The customer wrote a letter about it."},
	{do: run, text: "$SEQ0", say: "These are the ids that came late."},
	{do: edit, path: "$S01", old: "$CONST01", text: "$CONST01\n\n$NOTE", say: "The ceiling is missing here; I add it."},
	{do: run, text: "echo '1. $S01:41 the ceiling is not applied' >> NOTES.md", say: "That is the first finding."},
	{do: read, path: "$S03"},
	{do: edit, path: "$S03", old: "$CONST03", text: "$CONST03\n\n$NOTE", say: "The ceiling is missing here, too.", fate: refused},
	{do: read, path: "$S04", say: "The $WORD waits, so this file is next."},
	{do: read, path: "$S05", say: "$CAUSE"},
	{do: edit, path: "$S04", old: "$CONST04", text: "$CONST04\n\n$NOTE", say: "The counter starts at one, not at nought."},
	{do: run, text: "echo '2. $S04:88 the counter is not reset' >> NOTES.md"},
	{do: read, path: "$S06", say: "This one takes what the others leave."},
	{do: edit, path: "$S06", old: "$CONST06 // as before", text: "$CONST06\n\n$NOTE", say: "A ceiling for this one as well.", fate: fails},
	{do: read, path: "$S07", say: "Nothing there. The next one."},
	{do: write, path: "$NEW0", text: "$TEXT0", say: "I write the limits down while I know them."},
	{do: run, text: "cat logs/worker-1.log", say: "The second worker had the same night."},
	{do: read, path: "$S08"},
	{do: run, text: "grep -rn ceiling src | cut -c 1-160 | head -n 60", say: "Where is the ceiling named at all?"},
	{do: read, path: "$S09", say: "One of them is here."},
	{do: edit, path: "$S08", old: "$CONST08", text: "$CONST08\n\n$NOTE", say: "The same cure as before."},
	{do: run, text: "echo '3. $S08:120 a wait is repeated' >> NOTES.md"},
	{do: read, path: "$S10"},
	{do: run, text: "sh run_tests.sh", say: "Once more the tests."},
	{do: read, path: "$S11", say: "And this file is the last but four."},
	{do: run, text: "ls -R . && cat logs/worker-2.log", say: "What is there beside the sources?"},
	{do: read, path: "$S12"},
	{do: write, path: "$NEW1", text: "$TEXT1", say: "How to roll it out."},
	{do: read, path: "$S13", say: "I have not seen this one."},
	{do: run, text: "$SEQ3"},
	{do: edit, path: "$S12", old: "$CONST12", text: "$CONST12\n\n$NOTE", say: "The last place without a ceiling."},
	{do: read, path: "$S14"},
	{do: run, text: "grep -rn Attempts src | cut -c 1-160 | head -n 40", say: "Do all of them count attempts?"},
	{do: read, path: "$S15", say: "One file is left."},
	{do: run, text: "echo '4. $S12:17 the wait is never capped' >> NOTES.md"},
	{do: run, text: "cat NOTES.md", say: "All findings once more, for the report."},
}

// note is what an edit adds: a comment as long as a real change.
var note = "/* " + strings.Repeat("A wait is at most as long as its ceiling, whatever the answer asks for; what is left of it goes to the next round.\n", 6) + "*/"

const firstPrompt = "Work on ticket OPS-4127 in this folder: read TASK.md, follow its rules to the letter, and report what it asks for at the end."

// sessionIsOver is how the answer begins that ends a session.
const sessionIsOver = "All done: SESSION-IS-OVER."

// steps is the script in this workspace.
func (w *workspace) steps() []step {
	all := make([]step, len(script))
	for i, s := range script {
		f := func(text string) string { return strings.ReplaceAll(w.holder.Replace(text), "$NOTE", note) }
		all[i] = step{do: s.do, path: f(s.path), text: f(s.text), old: f(s.old), say: f(s.say), fate: s.fate}
	}
	return all
}

// lay writes the files of the workspace into a folder.
func (w *workspace) lay(t testing.TB, dir string) {
	t.Helper()
	for name, text := range w.files {
		writeFile(t, filepath.Join(dir, name), text)
	}
}

// perform takes all steps in a folder of their own and returns what each of
// them tells the agent.
func (w *workspace) perform(t testing.TB) []string {
	t.Helper()
	dir := t.TempDir()
	w.lay(t, dir)
	var results []string
	for i, s := range w.steps() {
		var text string
		var err error
		switch s.fate {
		case fails:
			text = "old_string was not found in " + s.path + "."
		case refused:
			text = "The user does not want to proceed with this call. The user said: " + w.reason
		default:
			text, err = s.perform(dir)
		}
		if err != nil {
			t.Fatalf("step %d: %v", i+1, err)
		}
		results = append(results, text)
	}
	return results
}

// perform takes a step; what a command prints is its result, whatever its exit
// code.
func (s step) perform(dir string) (string, error) {
	path := filepath.Join(dir, s.path)
	switch s.do {
	case read:
		text, err := os.ReadFile(path)
		return string(text), err
	case run:
		cmd := exec.Command("sh", "-c", s.text)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "LC_ALL=C")
		text, err := cmd.CombinedOutput()
		if cmd.ProcessState == nil {
			return "", err
		}
		if len(text) == 0 {
			return fmt.Sprintf("(no output, exit code %d)", cmd.ProcessState.ExitCode()), nil
		}
		return string(text), nil
	case write:
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return "", err
		}
		return fmt.Sprintf("Wrote %d bytes to %s.", len(s.text), s.path), os.WriteFile(path, []byte(s.text), 0o666)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	if strings.Count(string(text), s.old) != 1 {
		return "", fmt.Errorf("%q is not once in %s", s.old, s.path)
	}
	return fmt.Sprintf("Replaced 1 passage in %s.", s.path), os.WriteFile(path, []byte(strings.Replace(string(text), s.old, s.text, 1)), 0o666)
}

// trail is what the steps before this one wrote or edited, in order, or what they
// wanted to.
func trail(steps []step, done bool) []string {
	var paths []string
	for _, s := range steps {
		if (s.do == write || s.do == edit) && done == (s.fate == "") {
			paths = append(paths, s.path)
		}
	}
	return paths
}
