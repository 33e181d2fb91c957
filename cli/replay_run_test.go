package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"laconic/replay"
	"laconic/replay/replaytest"
)

// replaying runs a replay with two policies: one that keeps its promises, and
// one that does not.
func replaying(t *testing.T, r replayRun) (code int, stdout, stderr string) {
	t.Helper()
	if r.Policies == nil {
		r.Policies = []replay.Policy{{Name: "test", Policy: replaytest.Rewriting("gone")}}
	}
	if r.Budgets == nil {
		r.Budgets = []replay.Budget{{Tokens: 20}}
	}
	r.Known = replaytest.Words
	var out, errs bytes.Buffer
	code = r.run(context.Background(), &out, &errs)
	return code, out.String(), errs.String()
}

func fickle() []replay.Policy {
	return []replay.Policy{{Name: "fickle", Policy: replaytest.Fickle(), Claims: []string{"stable"}}}
}

// TestReplaySaysWhatIsWrong: one clear sentence each, and the exit code.
func TestReplaySaysWhatIsWrong(t *testing.T) {
	good := replaytest.Write(t, "errand.jsonl", replaytest.Errand)
	empty := replaytest.Write(t, "empty.jsonl", "")
	none := filepath.Join(t.TempDir(), "none.jsonl")
	f := func(r replayRun, code int, want string, files ...string) {
		t.Helper()
		r.Files = files
		got, out, errs := replaying(t, r)
		if got != code || errs != want {
			t.Errorf("exit %d, want %d\n%q\nwant\n%q", got, code, errs, want)
		}
		if code == exitInput && out != "" {
			t.Errorf("wrote a table:\n%s", out)
		}
	}
	f(replayRun{}, exitInput, "replay: "+none+": there is no such file\n", none)
	f(replayRun{}, exitInput, "replay: "+empty+": the file is empty: there is no conversation in it\n", empty)
	f(replayRun{Options: replay.Options{MinPeak: 26}}, exitInput,
		"replay: nothing was measured: 1 conversation left out for a peak that is too small, or without a request\n", good)
	f(replayRun{}, exitDone, "", good)
	f(replayRun{Options: replay.Options{Policies: fickle()}}, exitBroken,
		"replay: fickle under 20 broke the promise \"stable\" 1 time, first in errand, request of 8 messages: only 3 of the 6 messages sent before start the request, and no epoch did\n", good)
}

// TestReplayGoesOnBehindBrokenLines: each is named, the rest is replayed, and
// the exit code says so. A broken promise weighs more.
func TestReplayGoesOnBehindBrokenLines(t *testing.T) {
	o := replay.Options{Files: []string{replaytest.Write(t, "a.jsonl", "{oops\n"+replaytest.Errand+"[]\n")}}
	code, out, errs := replaying(t, replayRun{Options: o})
	want := "replay: " + o.Files[0] + ":1: this is not valid JSON\nreplay: " + o.Files[0] + ":3: this is JSON, but not an object with messages\n"
	if code != exitInput || errs != want || !strings.Contains(out, "1 conversation, 4 requests") {
		t.Errorf("exit %d\n%s\n%s", code, errs, out)
	}
	o.Policies = fickle()
	if code, _, _ := replaying(t, replayRun{Options: o}); code != exitBroken {
		t.Errorf("exit %d for a broken promise and broken lines", code)
	}
}

// TestPageStaysUntilThereIsANewOne: a replay that measured nothing leaves no
// empty file behind, and takes away no older page.
func TestPageStaysUntilThereIsANewOne(t *testing.T) {
	empty := replay.Options{Files: []string{replaytest.Write(t, "empty.jsonl", "")}}
	page := filepath.Join(t.TempDir(), "report.html")
	if code, _, _ := replaying(t, replayRun{Options: empty, page: page}); code != exitInput {
		t.Errorf("exit %d", code)
	}
	if _, err := os.Stat(page); !os.IsNotExist(err) {
		t.Errorf("a file was left: %v", err)
	}
	older := strings.Repeat("older ", 100_000)
	writeFile(t, page, older)
	replaying(t, replayRun{Options: empty, page: page})
	if got, _ := os.ReadFile(page); string(got) != older {
		t.Error("the older page is gone")
	}
	full := replay.Options{Files: []string{replaytest.Write(t, "errand.jsonl", replaytest.Errand)}}
	if code, _, errs := replaying(t, replayRun{Options: full, page: page}); code != exitDone {
		t.Error(errs)
	}
	if got, _ := os.ReadFile(page); !strings.HasSuffix(strings.TrimSpace(string(got)), "</html>") {
		t.Error("the new page is followed by the rest of the older one")
	}
}

// TestReplayReadsFoldersAndStandardInput.
func TestReplayReadsFoldersAndStandardInput(t *testing.T) {
	folder := filepath.Dir(replaytest.Write(t, "errand.jsonl", replaytest.Errand))
	t.Chdir(t.TempDir())
	for _, arg := range []string{"-", folder} {
		var out, errs bytes.Buffer
		if code := Run(t.Context(), []string{"replay", "--policy", "elide", "--budget", "20", arg}, strings.NewReader(replaytest.Errand), &out, &errs); code != exitDone || !strings.Contains(out.String(), "4 requests") {
			t.Errorf("%s: exit %d\n%s%s", arg, code, &out, &errs)
		}
	}
	var out, errs bytes.Buffer
	if code := Run(t.Context(), []string{"replay", "--policy", "elide", "--budget", "20", "--json", "-"}, strings.NewReader(replaytest.Errand+"{\n"), &out, &errs); code != exitInput ||
		!strings.Contains(out.String(), `"file": "standard input"`) || !strings.HasPrefix(errs.String(), "replay: standard input") {
		t.Errorf("exit %d\n%s%s", code, &out, &errs)
	}
	if code, _, said := run(t, "replay", "."); code != exitInput || !strings.Contains(said, "there is no .jsonl") {
		t.Errorf("an empty folder: exit %d, %s", code, said)
	}
}

// TestPageOfAConversation: the page has the texts of one conversation, and
// of no other. Nobody else may read it.
func TestPageOfAConversation(t *testing.T) {
	file := replaytest.Write(t, "two.jsonl", replaytest.Errand+strings.NewReplacer(`"errand"`, `"other"`, "secret", "mystery").Replace(replaytest.Errand))
	f := func(r replayRun, code int, want string, has, lacks string) {
		t.Helper()
		r.Files = []string{file}
		r.page = filepath.Join(t.TempDir(), "report.html")
		r.Show = &r.conversation
		if got, _, errs := replaying(t, r); got != code || errs != want {
			t.Errorf("exit %d, %q", got, errs)
		}
		page := must(os.ReadFile(r.page))
		if !strings.Contains(string(page), has) || strings.Contains(string(page), lacks) {
			t.Errorf("the page has no %q, or it has %q", has, lacks)
		}
		if s, err := os.Stat(r.page); err != nil || s.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v", s.Mode(), err)
		}
	}
	f(replayRun{}, exitDone, "", "the secret is", "mystery")
	f(replayRun{conversation: "other"}, exitDone, "", "the mystery is", "secret")
	f(replayRun{conversation: "othr"}, exitInput, "replay: no conversation that was measured is called \"othr\" (without --conversation the page has the one with the largest request)\n", "bill with a prompt cache", "secret")
}
