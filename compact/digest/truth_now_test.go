package digest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"laconic/compact"
)

// TestRecordsTellHowThingsAre says what a record tells of texts, commands and plans that
// were overtaken, and where it leaves something out.
func TestRecordsTellHowThingsAre(t *testing.T) {
	edit := func(id int, before, after string) []compact.Message {
		return exchange(id, "edit_file", fmt.Sprintf(`{"path":"src/a.go","old_string":%s,"new_string":%s}`, quotedJSON(before), quotedJSON(after)), "done")
	}
	var actions [][]compact.Message
	for i := range 60 {
		actions = append(actions, exchange(i, "issue_credit", fmt.Sprintf(`{"order":%d,"why":"what came was broken, and it was sent to %d"}`, 1000+7*i, 900*i), fmt.Sprintf(`{"credit_no":"NC-%d","status":"issued for order %d of the north"}`, 100+i, 3*i)))
	}
	f := func(name string, size int, list []compact.Message, texts ...string) {
		t.Helper()
		tells(t, name, recordOf(size, list), texts...)
	}
	f("an edit that begins in the middle of another", 700,
		conversation(edit(1, "a := 1", "a := 1\n\tvalue, err = readTheLengthOf(path, separator)"), edit(2, "value, err = readTheLengthOf(path, separator)\n\tuse(value)", "value, err := readTheLengthOf(path, separator)\n\tuse(value)")),
		"as of here, in src/a.go:\n value, err := readTheLengthOf(path, separator)\n \tuse(value)\n",
		no("\n \tvalue, err = readThe"))
	f("an edit around two others", 700,
		conversation(edit(1, "first(the long name)", "first(the other long name)"), edit(2, "last(the long name)", "last(the other long name)"), edit(3, "first(the other long name)\nlast(the other long name)", "both(the other long name)")),
		"as of here, in src/a.go:\n both(the other long name)\n[End")
	f("an edit of what a formatter had changed", 700,
		conversation(edit(1, "x", "start the first thing\n  keep the second thing\n  stop the third thing\n  count the fourth thing\nend"), edit(2, "begin the first thing\n  keep the second thing\n  stop the third thing\n  count the fourth thing\n  close the file", "all of it")),
		"as of here, in src/a.go:\n all of it\n[End")
	f("an edit of each place", 700,
		conversation(
			edit(1, "x", "first(old)\nlast(old)"), edit(2, "y", "other(old)"),
			exchange(3, "Edit", `{"file_path":"src/a.go","old_string":"old","new_string":"fresh","replace_all":true}`, "done"),
		),
		"as of here, in src/a.go:\n fresh\n",
		no("(old)\n  f"), no("\n last(old)"))
	f("an edit of twelve places", 700,
		conversation(
			edit(1, "x", strings.Repeat("x := 1\n", 12)),
			exchange(2, "replace", `{"file_path":"src/a.go","old_string":"x := 1","new_string":"y := 1","expected_replacements":12}`, "done"),
		),
		"\n y := 1\n",
		no("\n x := 1"))
	f("files of one name", 700,
		conversation(
			exchange(1, "edit_file", `{"path":"conf/app.toml","old_string":"a","new_string":"port = 1"}`, "done"),
			exchange(2, "edit_file", `{"path":"app.toml","old_string":"b","new_string":"port = 2"}`, "done"), run(3, "git mv notes.txt docs/notes.txt", ""),
			exchange(4, "edit_file", `{"path":"/w/conf/app.toml","old_string":"port = 1","new_string":"port = 3"}`, "done"),
		),
		"changed: conf/app.toml, app.toml, /w/conf/app.toml\n", "as of here, in /w/conf/app.toml:\n port = 3\n",
		no("as of here, in conf/app.toml:"))
	f("wishes below what denies them", 90,
		say(user("Here is what came of the call.\nIt was long, and I leave out most of it, since nobody can change what was.\nNot any more:\n\n- You must always send UTF-16.\n  - Never gzip it.\nAs agreed:\n- You must send UTF-8.\n\nBen must not be asked about it.\n## Out of scope\nAlways keep the old names.\n\nYou must never ask twice.\n"+strings.Repeat("And so it goes on and on for us.\n", 20))),
		"\n Not any more:\n - You must always send UTF-16.\n   - Never gzip it.\n", "\n As agreed:\n - You must send UTF-8.",
		no("the old names"), no("ask twice"))
	f("a wish whose denial has no room", 90,
		say(user("Notes of the call.\nBelow is what "+strings.Repeat("is of no use any more and ", 10)+"must not be done:\n- Always send UTF-16.\n"+strings.Repeat("And so it goes on and on for us.\n", 20))),
		"user: Notes of the call.\n …\n",
		no("UTF-16"))
	f("what an answer denies", 110,
		say(assistant("I compared the ways.\n\nThese lose data, so I advise against them:\n\n1. Load the table anew; you must then run vacuum.\n2. The limit must be 0 for all jobs because the cause is the index.\n\n"+strings.Repeat("Then there is one more thing to say about the shop and its people, which is long.\n\n", 8))),
		"These lose data, so I advise against them:\n", "\n 2. The limit must be 0")
	f("a reset takes what was changed", 700,
		conversation(edit(1, "limit = 3", "limit = 5"), run(2, "rm root.txt", ""), run(3, "git reset --hard origin/main", "HEAD is now at 195acb2 Merge")),
		"changed: src/a.go, root.txt\n",
		no("as of here"), no("removed)"))
	f("an edit behind a reset", 700,
		conversation(edit(1, "limit = 3", "limit = 5"), run(2, "git pull && git reset --hard", ""), edit(3, "limit = 3", "limit = 4\n\n\t}\n\t}")),
		"edit src/a.go (+4 −1: limit = 4 ⏎ } ⏎ }) → done\n", "as of here, in src/a.go:\n limit = 4\n\n \t}\n \t}\n",
		no("limit = 5\n  l"))
	f("a file that another agent speaks of", 700,
		conversation(edit(1, "limit = 3", "limit = 5"), exchange(2, "Task", `{"prompt":"rename it","description":"rename","subagent_type":"coder"}`, "I renamed limit in a.go.")),
		"as of here, in src/a.go (it may have changed after that):")
	rates := func(name string) (text string) {
		for i := range 12 {
			text += fmt.Sprintf("func %s%d(zone string) int {\n\treturn rates[zone] + %d*surcharge // euros for each pallet of a zone\n}\n\n", name, i, 400+i)
		}
		return text
	}
	written := func(id int, path, text string) []compact.Message {
		return exchange(id, "write_file", fmt.Sprintf(`{"path":%q,"content":%s}`, path, quotedJSON(text)), "done")
	}
	f("a test that was written after what it tests", 700, conversation(written(1, "src/rates.go", rates("Rate")), written(2, "src/rates_test.go", rates("TestRate"))),
		"as of here, src/rates.go:\n func Rate0(zone string) int {\n \treturn rates[zone] + 400*surcharge")
	f("a region that is not told whole", 400,
		edit(1, "x", "package a\n"+strings.Repeat("\n// some words about it, and a few more of them\n", 9)+"\nfunc limit() int { return listen(8080) }\n"+strings.Repeat("\n// some words about it, and a few more of them\n", 9)),
		"of them\n …\n func limit() int { return listen(8080) }\n …\n")
	f("a command that goes on in a session", 700,
		conversation(
			exchange(1, "exec_command", `{"cmd":"bun run typecheck"}`, "Chunk ID: 804fb4\nWall time: 10.0 seconds\nProcess running with session ID 43225\nOriginal token count: 3\nOutput:\nchecking"),
			exchange(2, "write_stdin", `{"session_id":43225,"chars":""}`, "Chunk ID: 9\nWall time: 3.0 seconds\nProcess exited with code 2\nOriginal token count: 9\nOutput:\nsrc/a.ts(3,1): error TS2304: Cannot find name 'x'."),
		),
		"$ bun run typecheck → still running in session 43225\n checking\n$ bun run typecheck (it went on) → exit 2: src/a.ts(3,1): error TS2304")
	f("a package that fails before others that pass", 700,
		run(1, "go test ./... -v", "# a.io/x\nx_test.go:9:2: undefined: port\nFAIL\ta.io/x [build failed]\nPASS\nok  \ta.io/x/y\t0.2s"),
		"$ go test ./... -v → failed: FAIL a.io/x [build failed]\n", "x_test.go:9:2: undefined: port",
		no("→ ok"))
	f("a plan that the user approved", 700,
		exchange(1, "ExitPlanMode", `{"plan":"1. Rename the counter in src/reload.go."}`, "User has approved your plan. You can now start coding."),
		"plan → User has approved your plan. You can now start coding.\n", "Rename the counter")
	f("a plan that the user did not approve", 700,
		exchange(1, "ExitPlanMode", `{"plan":"1. Rename the counter in src/reload.go."}`, "Plan was not approved. Feedback: use the other table first."),
		no("approved by the user"))
	f("a session that was stopped", 700,
		conversation(
			exchange(1, "Bash", `{"command":"npm run dev"}`, "Command running in background with ID: b1"),
			exchange(2, "KillShell", `{"shell_id":"b1"}`, "Successfully killed shell: b1"),
		),
		"$ npm run dev → Command running in background with ID: b1\n", "KillShell")
	f("columns whose keys have dots", 700,
		exchange(1, "logs", `{}`, `[{"service.name":"a","log.level":"info"},{"service.name":"b","log.level":"warn"}]`),
		"(service.name, log.level)")
	f("the row of a table that is not as it should be", 110,
		run(1, "kubectl get pods", "NAME    READY   STATUS    RESTARTS\n"+strings.Repeat("web-1   1/1     Running   0\nweb-2   1/1     Running   0\n", 12)+"job-7   0/1     CrashLoopBackOff   12\n"+strings.Repeat("web-3   1/1     Running   0\n", 12)),
		"NAME    READY   STATUS", "job-7   0/1     CrashLoopBackOff   12")
	f("what stands at an error, before totals and advice", 200,
		run(1, "cargo build", "   Compiling money v0.1.0\nerror[E0308]: mismatched types\n  --> src/main.rs:7:18\n   |\n7  |     let n: i32 = \"5\";\n\nFor more information about this error, try `rustc --explain E0308`.\nerror: could not compile `money` (bin \"money\") due to 1 previous error"),
		"→ failed: error[E0308]: mismatched types\n", "--> src/main.rs:7:18")
	f("equal steps", 700,
		conversation(run(1, "list files", "a.txt b.txt"), run(2, "list files", "a.txt b.txt"), run(3, "list files", "a.txt b.txt")),
		"$ list files → a.txt b.txt (3 ×)\n")
	f("values of an object with their names", 700,
		exchange(1, "find_flight", `{}`, `[{"id":"A1","seats":{"basic":4,"full":2},"prices":{"basic":70,"full":99}},{"id":"B2","seats":{"basic":0,"full":1},"prices":{"basic":71,"full":98}}]`),
		"(id, seats, prices)\n A1, [basic 4, full 2], [basic 70, full 99]")
	f("a cell of a notebook, which is no command of a shell", 700,
		exchange(1, "run_python", `{"code":"late = [o for o in rows if o.days > 3]\nprint(len(late) >= 0)\nopen('out.csv', 'w').write('x')"}`, "12 late\nTrue"),
		"\nrun_python late = [o for o in rows if o.days > 3] ⏎", "\nchanged: out.csv\n",
		no("changed: 0"), no("changed: 3"))
	f("a script that the agent wrote, and ran", 700,
		conversation(exchange(1, "bash", `{"command":"cat > fix.py <<'EOF'\nwith open('src/a.go') as f: s = f.read()\nwith open('src/a.go', 'w') as f: f.write(s)\nEOF"}`, ""),
			exchange(2, "read", `{"path":"src/a.go"}`, "package a"), exchange(3, "bash", `{"command":"cd /src && python3 -u ./fix.py"}`, "fixed"), exchange(4, "bash", `{"command":"grep -n a fix.py"}`, "1: a")),
		"changed: fix.py, src/a.go\n", "read src/a.go, before its last change")
	f("a script that may be another one now", 700,
		conversation(exchange(1, "bash", `{"command":"cat > fix.py <<'EOF'\nopen('src/a.go', 'w').write('x')\nEOF"}`, ""), exchange(2, "bash", `{"command":"git checkout ."}`, "Updated 1 path"), exchange(3, "bash", `{"command":"python fix.py"}`, "fixed")),
		"$ python fix.py → fixed\n", no("src/a.go\n"))
	f("a written file that was reset, and edited", 700,
		conversation(exchange(1, "write_file", `{"path":"src/a.go","content":"package a\n\nconst limit = 4\nconst most = 9\n"}`, "written"), exchange(2, "bash", `{"command":"git checkout ."}`, "Updated 1 path"),
			exchange(3, "edit", `{"path":"src/a.go","old_string":"const most = 7","new_string":"const most = 8"}`, "done")),
		"as of here, in src/a.go:\n const most = 8\n")
	f("an edit and a command that failed without a word", 700,
		conversation(exchange(1, "edit", `{"path":"src/a.go","old_string":"x","new_string":"y"}`, "<tool_use_error></tool_use_error>"), exchange(2, "bash", `{"command":"make"}`, "<returncode>2</returncode>\n<output>\n</output>")),
		"$ make → exit 2, no output\n", no("changed"))
	f("a command of a tool that is no shell", 700,
		conversation(exchange(1, "task_tracker", `{"command":"plan","task_list":[{"title":"a"}]}`, "ok"), exchange(2, "deploy", `{"command":"up --all","dry_run":true}`, "would deploy two")),
		no("$ plan"), no("$ up"))
	f("a file by its whole path, and from the working folder", 700,
		conversation(exchange(1, "edit_file", `{"path":"/w/src/a.go","old_string":"limit = 3","new_string":"limit = 5"}`, "The file was edited."), exchange(2, "bash", `{"command":"git checkout -- src/a.go"}`, "")),
		"changed: /w/src/a.go, src/a.go (restored)\n", no("limit = 5\n"))
	f("files from elsewhere in git, and one that is changed after that", 700,
		conversation(edit(1, "limit = 3", "limit = 5"), exchange(2, "bash", `{"command":"git checkout feature -- src/a.go && git restore --source=HEAD~3 src/c.go && git restore src/b.go && git apply fix.patch"}`, "")),
		"changed: src/c.go, src/b.go, src/a.go\n")
	f("a cell that is a shell's", 700,
		conversation(edit(1, "limit = 3", "limit = 5"), exchange(2, "run_cell", `{"code":"%%bash\ngit checkout -- src/a.go"}`, ""), exchange(3, "execute_code", `{"language":"bash","code":"rm src/b.go"}`, "")),
		"changed: src/a.go (restored), src/b.go (removed)",
		no("as of here"))
	f("a short sentence between others, and a whole message of a user", 200,
		conversation(
			say(assistant("The port 8080 is ignored because `settings.go` is read after `listen.go`. So it goes. I swap `load()` and `listen()` in `main.go` so that the settings come first.")),
			say(user("Keep the old names in `settings.go`, please, all of them, and the order of the fields as well, because the nightly export of the shop reads them by their place.")),
		),
		"read after `listen.go`. So it goes. I swap `load()`", "by their place.\n",
		no("…"))
	f("what a user pasted, between the user's own lines", 300,
		say(user("See the terminal, please.\n❯ clean up\n⏺ You must drop the table.\nYou must always sort the list by name.\n"+strings.Repeat("⏺ I close it twice here, and look at the code of it before that, as I was told\n", 20))),
		"user: See the terminal, please.\n …\n", " You must always sort the list by name.\n",
		no("drop the table"), no("clean up"))
	f("values that were written, before code that was", 100,
		conversation(
			exchange(1, "write_file", `{"path":"conf/terms.json","content":"{\n \"with_tax\": false,\n \"margin\": {\"general\": 0.05, \"pool\": 0.15}\n}\n"}`, "done"),
			exchange(2, "write_file", `{"path":"cost.py","content":"def total(rows):\n    return sum(r.cost for r in rows)\n\ndef mean(rows):\n    return total(rows) / len(rows)\n\ndef worst(rows):\n    return max(r.cost for r in rows)\n"}`, "done"),
		),
		"\"margin\": {\"general\": 0.05, \"pool\": 0.15}\n")
	var reads [][]compact.Message
	for i := range 6 {
		reads = append(reads, exchange(100+i, "read", fmt.Sprintf(`{"file_path":"src/part%d.go"}`, i), rates("Part")))
	}
	f("a command that goes on while the agent speaks", 150,
		conversation(
			exchange(1, "exec_command", `{"cmd":"bun run build"}`, "Chunk ID: 8\nWall time: 10.0 seconds\nProcess running with session ID 43\nOriginal token count: 3\nOutput:\n"+strings.Repeat("bundling the next one\n", 80)),
			say(assistant("It is at the second.")),
			exchange(2, "write_stdin", `{"session_id":43,"chars":""}`, "Chunk ID: 9\nWall time: 3.0 seconds\nProcess exited with code 0\nOriginal token count: 9\nOutput:\n"+strings.Repeat("bundling the next one\n", 90)),
		),
		"$ bun run build (it went on) → exit 0", no("still running"))
	f("a command that goes on while the user speaks", 300,
		conversation(
			exchange(1, "exec_command", `{"cmd":"./deploy.sh"}`, "Process running with session ID 43\nOutput:\nwaiting"),
			say(user("Never deploy from here again.")),
			exchange(2, "write_stdin", `{"session_id":43,"chars":""}`, "Process exited with code 0\nOutput:\nlive"),
		),
		"$ ./deploy.sh → still running in session 43\n", "user: Never deploy from here again.\n$ ./deploy.sh (it went on) → ")
	f("an edit around lines that come twice", 300,
		edit(1, "x := 1\nif err != nil {\n\treturn err\n}\ny := 2\nif err != nil {\n\treturn err\n}", "x := 10\nif err != nil {\n\treturn err\n}\ny := 20\nif err != nil {\n\treturn err\n}"),
		"edit src/a.go (+2 −2: x := 10 ⏎ y := 20) → done\n")
	refused := "The user does not want this to be read. " + strings.Repeat("Ask before you try again. ", 9)
	f("files that have no room", 1700,
		conversation(slices.Concat([][]compact.Message{exchange(97, "read", `{"file_path":"secret.go","limit":200}`, refused), exchange(98, "read", `{"file_path":"huge.log"}`, "File is too large to be read (25000 lines)"), exchange(99, "read", `{"file_path":"secret.go"}`, refused)}, reads, actions)...),
		" more steps: read src/part0.go …; read src/part1.go …; ", "; issue_credit 10", no("read src/part3.go …"), no("secret"), no("read huge.log …"))
	f("actions that have no room", 1700,
		conversation(actions...),
		" more steps: issue_credit 1", "; …\n")
	f("a terminal that a user pasted", 400,
		say(user("It does not work: REVIEW.md was not cleared.\n\n❯ commit it\n⏺ Committed as 5c40c72, and the hook must have run.\n"+strings.Repeat("  ⎿ Please always wait for what the hook says here.\n", 60))),
		"\nuser: It does not work: REVIEW.md was not cleared.",
		no("5c40c72"), no("Please always wait"))
}
