package agent

import (
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A shell changes files in many ways, and commands that only look as if they did
// change none.
func TestChangesOfCommands(t *testing.T) {
	f := func(command, want string) {
		t.Helper()
		a := ActionOf("bash", `{"command":`+strconv.Quote(command)+`}`)
		var got []string
		for _, c := range a.Changes {
			if c.How == Removed {
				c.Path = "-" + c.Path
			}
			got = append(got, c.Path)
		}
		if slices.Sort(got); strings.Join(got, " ") != want {
			t.Errorf("%s\nchanges %q, want %q", command, got, want)
		}
	}
	f("sed -i 's/a/b/' lib/a.py", "lib/a.py")
	f("sed -i.bak -e 's/a > b/c/' lib/a.py lib/b.py", "lib/a.py lib/b.py")
	f("perl -pi -e 's/a/b/' lib/a.py", "lib/a.py")
	f("python3 - <<'EOF'\np='lib/a.py'\ns=open(p).read()\nopen(p,'w').write(s)\nEOF", "lib/a.py")
	f("python3 -c \"open('lib/a.py', 'w').write('x')\"", "lib/a.py")
	f("node - <<'EOF'\nrequire('fs').writeFileSync('web/a.js', 'x')\nEOF", "web/a.js")
	f("cat > lib/a.py <<'EOF'\nx=1\nEOF", "lib/a.py")
	f("cat <<'EOF' > lib/a.py\nx > y\nEOF\npython lib/a.py", "lib/a.py")
	f("tee lib/a.py <<'EOF'\nx\nEOF", "lib/a.py")
	f("echo hi | tee -a lib/a.txt", "lib/a.txt")
	f("echo hi >> lib/a.txt 2>&1", "lib/a.txt")
	f("mv lib/old.py lib/new.py", "lib/new.py lib/old.py")
	f("rm -f lib/a.py lib/b.py", "-lib/a.py -lib/b.py")
	f("cp a.py lib/b.py && touch lib/c.py", "a.py lib/b.py lib/c.py")
	f("git mv a.py b.py", "a.py b.py")
	f("git rm -q a.py", "-a.py")
	f("git checkout -- lib/a.py", "lib/a.py")
	f("git checkout HEAD~1 -- Makefile lib/a.py", "Makefile lib/a.py")
	f("git restore Makefile", ".")
	f("git checkout main", ".")
	f("git checkout README.md", "README.md")
	f("git reset -q --hard origin/main", ".")
	f(`Set-Content -Path src\b.cs -Value x -Encoding utf8`, EveryFile)
	f("git stash", ".")
	f("git switch main", ".")
	f("gofmt -w lib/a.go", EveryFile)
	f("prettier --write web/a.ts", EveryFile)
	f("patch -p1 <<'EOF'\n--- a/lib/a.py\n+++ b/lib/a.py\n@@ -1 +1 @@\n-a\n+b\nEOF", EveryFile)
	f("apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: lib/a.py\n@@\n-a\n+b\n*** Delete File: lib/b.py\n*** End Patch\nEOF", "-lib/b.py lib/a.py")
	f("cp build/app.yml conf/", "build/app.yml conf/")
	f("sed -Ei -e 's/a/b/' -e 's/c/d/' lib/a.py", "lib/a.py")
	f("git -c core.pager=cat --no-pager stash -u", ".")
	f("git switch -", ".")
	f("perl -pe 's/a/b/' -i lib/a.py", "lib/a.py")
	f("find lib -exec grep -q a {} \\; -exec sudo rm -f {} +", "{}")
	f("ls | xargs -I {} -P 4 gofmt -w {}", EveryFile)
	f("git checkout HEAD~1 lib/a.py", "lib/a.py")
	f("git checkout main lib/a.py lib", ".")
	f("git restore -s HEAD~1 lib/a.py", "lib/a.py")
	f("git stash -m wip", ".")
	f("git checkout -b fix origin/main", ".")
	f("git checkout -f", ".")
	f("git reset --keep HEAD~1", ".")
	f("patch -p1 < fix.diff", EveryFile)
	f("curl -s host/fix | git apply", EveryFile)
	f("rm $(git ls-files -o)", "*")
	f("sed -i 's/a/b/' `grep -rl limit lib`", "*")
	f("perl -0777pi -e 's/a/b/' lib/a.py", "lib/a.py")
	f("bash -c 'rm lib/a.py'", "-lib/a.py")
	f("make; sh -ec \"sed -i 's/a/b/' lib/a.py\"", "lib/a.py")
	f("timeout -k 5 30 /bin/rm lib/a.py", "-lib/a.py")
	f("cat > lib/a.py <<'EOF-1'\nx\nEOF-1\ntouch b.py", "b.py lib/a.py")
	f("cd $TMP_WORKTREE && git apply fix.diff", EveryFile)
	f("ls | xargs perl -pi -e 's/a/b/'", "{}")
	f("rm "+strings.Repeat("$f ", 4000)+"<<E\n"+strings.Repeat("word\n", 1<<17)+"E", strings.TrimSpace(strings.Repeat("* ", mostChanges))) // at once
	for _, none := range []string{
		"ls | xargs gofmt -l", "ls | xargs prettier --check", "ls | xargs perl -ne 'print'", "find . -name rm -print", "ls | xargs grep -l mv",
		"install -dm 755 lib/a lib/b", "docker exec db sh -c 'rm lib/a.py'", "patch --dry-run <<E\n--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-a\n+b\nE",
		`Remove-Item tmp\a.csv -WhatIf`, "grep -rl a lib | xargs sed -n 1p", "find lib -name a.py", "sed -n '1,5p' *.py", "python manage.py migrate", "git commit -am 'Fix > all'", "make > /dev/null 2>&1", "dir 2>nul", "gofmt -l lib/a.go", "git checkout -b fix/a.b", "git stash list", "git reset HEAD~1",
		"grep -n \"open('lib/a.py', 'w')\" lib/b.py", "grep -n 'a > b' lib/a.py", "sed -n '1,5p' lib/a.py", "cat lib/a.py | sort", "echo \"a > b\"", "test 3 -gt 2 && echo yes", "python3 -c \"print(open('lib/a.py').read())\"",
	} {
		f(none, "")
	}
}

// Only edits that happened are changes, and a refusal has its reason.
func TestEditsThatHappened(t *testing.T) {
	f := func(result string, want Verdict, says string) {
		t.Helper()
		a := ActionOf("edit", `{"filePath":"web/fail.ts","oldString":"x / 100","newString":"x"}`)
		r := ResultOf(result, a.Kind)
		o := a.OutcomeOf(r)
		if o.Verdict != want || !strings.Contains(o.Says, says) {
			t.Errorf("%q ends as %+v", result, o)
		}
		if happened := a.Happened(&a.Changes[0], o, r); happened != (want == Passed) {
			t.Errorf("%q happened: %v", result, happened)
		}
	}
	for _, made := range []string{
		"Edit applied successfully.", "The file web/fail.ts has been updated.", "The file web/fail.ts has been edited. Here's the result of running `cat -n` on a snippet:\n 1\tthrow new Error('not found')\n",
		"Successfully replaced 1 occurrence in web/fail.ts", "Wrote 18 bytes to web/fail.ts", "Success. Updated the following files:\nM web/fail.ts\n", "", "ok", `{"output":"Success. Updated the following files:\nM web/fail.ts\n","metadata":{"exit_code":0}}`,
		"File updated successfully. No errors found.", "ファイルを更新しました（成功）",
	} {
		f(made, Passed, "")
	}
	for _, not := range []string{
		"Found multiple matches for oldString. Provide more surrounding context to make the match unique.", "oldString not found in content; the file was modified since it was read, read it again before editing",
		"<tool_use_error>File has not been read yet. Read it first before writing to it.</tool_use_error>", "<tool_use_error>String to replace not found in file.\nString: x / 100</tool_use_error>",
		"ERROR:\nNo replacement was performed, old_str `x / 100` did not appear verbatim in web/fail.ts.", "Failed to find expected lines in web/fail.ts:\nx / 100", "Error: EACCES: permission denied, open 'web/fail.ts'",
		"Failed to edit, 0 occurrences found for old_string in web/fail.ts.", "old_string and new_string are identical. No changes to make.", "apply_patch verification failed: Failed to find context",
		"Could not find oldString in the file. It must match exactly, including whitespace, indentation, and line endings.", "No sufficiently similar match found at line: 10 (42% similar, needs 100%)",
		"Could not find the exact text in web/fail.ts. The old text must match exactly including all whitespace and newlines.", "Failed to edit, expected 1 occurrence but found 2.", "The SEARCH block:\nx / 100\n...does not match anything in the file.",
		"Edit applied but reverted automatically: the file does not compile.",
		"Your proposed edit has introduced new syntax error(s).\n\n[File: web/fail.ts (9 lines total)]\nx", "Fehler: Die Datei wurde nicht gefunden.",
	} {
		f(not, Failed, "")
	}
	f("The user rejected this edit. Do not change web/b.ts, it is generated.", Refused, "Do not change web/b.ts")
	f("The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). To tell you how to proceed, the user said:\nuse the other one", Refused, "use the other one")
	f("User denied this operation. Reason: keep it", Refused, "keep it")
	f("Tool call was declined by the user", Refused, "")
	run := ActionOf("bash", `{"command":"./ask"}`)
	for text, want := range map[string]Verdict{
		"The user doesn't want to proceed with this tool use. The tool use was rejected. The user said: wait": Refused, "User denied this operation. Reason: wait": Refused,
		"exec command rejected by user": Refused, "The user rejected this idea, and said: wait": Unknown, "the user rejected 3 cookies": Unknown,
		"exit code: 0\nThe user rejected this operation.": Passed,
	} {
		if r := ResultOf(text, Runs); run.OutcomeOf(r).Verdict != want {
			t.Errorf("%q ends as %+v", text, run.OutcomeOf(r))
		}
	}
}

// TestWhatOnlyAsks says which calls have no effect: what comes between two of them does not
// depend on them.
func TestWhatOnlyAsks(t *testing.T) {
	for call, acts := range map[string]bool{
		"bash git status && git log | head": false, "bash sudo kubectl -n a get pods | wc -l": false, "bash psql -c 'select 1'": false, "bash find . -name a.go | xargs cat": false,
		"bash git diff > a": true, "bash gh api repos/a/b -X POST": true, "bash psql -c 'insert into a select 1'": true, "bash ls | xargs ./run": true, "bash find . -exec ./run {} +": true, "bash git status; make": true, "bash cat > a <<E\nE": true,
		"get_order 5": false, "mcp__shop__listOrders 5": false, "check_price 5": false, "cancel_order 5": true,
	} {
		tool, argument, _ := strings.Cut(call, " ")
		key := map[bool]string{true: "command", false: "id"}[tool == "bash"]
		if a := ActionOf(tool, `{"`+key+`":`+strconv.Quote(argument)+`}`); a.MayAct() != acts {
			t.Errorf("%s: %v", call, !acts)
		}
	}
}
