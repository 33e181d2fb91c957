package digest

import (
	"fmt"
	"strings"
	"testing"

	"laconic/compact"
	"laconic/compact/compacttest"
)

// TestAResultThatComesAgainIsToldOnce, where it is the newest, and a step that comes again at
// once is one with its number.
func TestAResultThatComesAgainIsToldOnce(t *testing.T) {
	var lists [][]compact.Message
	for i := range 3 {
		lists = append(lists, exchange(2*i, "run", `{"command":"git status --short"}`, " M proxy/wire/chat.go\n M proxy/wire/text.go\n M proxy/retry.go"),
			exchange(2*i+1, "run", `{"command":"make lint"}`, "lint: 4 files"))
	}
	text := recordOf(4000, append(lists, exchange(9, "run", `{"command":"make lint"}`, "lint: 4 files"))...)
	if at := strings.Index(text, "proxy/wire/text.go"); strings.Count(text, "proxy/wire/text.go") != 1 || strings.LastIndex(text, "$ git status") > at || !strings.Contains(text, "$ make lint → lint: 4 files (2 ×)\n") {
		t.Error(text)
	}
}

// TestATrialThatChangedNothing: lines are told once, so a step says that its output had
// no others.
func TestATrialThatChangedNothing(t *testing.T) {
	out := func(n int) (text string) {
		for i := range 6 {
			text += fmt.Sprintf("case %d of the round trip: %d bytes came back\n", i, 60+i*n)
		}
		return text
	}
	edit := func(id int) []compact.Message {
		return exchange(id, "edit", fmt.Sprintf(`{"path":"a.go","old":"limit = %d","new":"limit = %d"}`, id, id+2), "done")
	}
	tells(t, "the same output", recordOf(900, conversation(run(1, "./trial", out(1)), edit(2), run(4, "./trial", out(1)), edit(5), run(7, "./trial", out(3)), run(8, "./other", out(3)))),
		"$ ./trial → (the same output as before)\n case 0 of", "75 bytes", no("$ ./other → (the same"))
	tells(t, "another output between them", recordOf(2000, conversation(run(1, "./trial", out(1)), edit(2), run(4, "./trial", out(3)), edit(5), run(7, "./trial", out(1)))), no("the same output"))
	compile := func(id int, files, says string) []compact.Message {
		return exchange(id, "compile", fmt.Sprintf(`{"files":%q}`, files), says+":\n⚠ Line "+strings.Repeat("8: it is cut here ", 40))
	}
	tells(t, "what a tool counts", recordOf(130, conversation(compile(1, "a.sv", "0 error(s), 2 warning(s)"), edit(2), compile(4, "a.sv b.sv", "2 error(s), 2 warning(s)"), compile(5, "a.sv", "0 error(s), 2 warning(s)"))),
		"compile files: a.sv → 0 error(s), 2 warning(s) …\n", "compile files: a.sv b.sv → 2 error(s), 2 warning(s) …\n", "compile files: a.sv → (the same output as before)\n")
	not := "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). STOP what you are doing and wait for the user to tell you how to proceed."
	tells(t, "a refusal is no run", recordOf(900, conversation(run(1, "make deploy", not), edit(2), run(4, "make deploy", not))),
		"$ make deploy → refused by the user\nchanged", no("output as before"))
}

// TestTheFirstLineOfAnOutputIsMissed: a reader takes the first line that is shown for
// the first that was printed, unless a gap says otherwise.
func TestTheFirstLineOfAnOutputIsMissed(t *testing.T) {
	log := ""
	for i := range 60 {
		log += fmt.Sprintf("%07d something else about nothing in particular\n", i)
	}
	log += "2222222 fix ParseWindow for ErrNoWindow\n"
	text := recordOf(90, []compact.Message{user("Why does ParseWindow return ErrNoWindow?")}, exchange(1, "run", `{"command":"./audit --all"}`, log))
	if at := strings.Index(text, "ParseWindow for"); at < 0 || strings.Contains(text, "0000000") || !strings.Contains(text[:at], "\n …\n") {
		t.Errorf("no gap before the first line:\n%s", text)
	}
}

// TestARefusalIsNamedInASmallPart, where no step has room of its own.
func TestARefusalIsNamedInASmallPart(t *testing.T) {
	words := "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). To tell you how to proceed, the user said:\nlet us talk first"
	said := assistant("First, I need to add the import, because state.go does not know the package of the checkpoint yet, and the two conversions need it as well. Then the three fields follow, and their tags.")
	lists := [][]compact.Message{{said}, exchange(1, "edit", `{"path":"/Users/someone/workspace/cli/cmd/entire/cli/session/state.go","old_string":"a","new_string":"a\nb\nimport entire.io/cli/cmd/entire/cli/checkpoint\nand more of it, so that this is long\nc"}`, words)}
	for size := 40; size < 300; size += 3 {
		if text := recordOf(size, lists...); text != "" && strings.Contains(text, "more step") && !strings.Contains(text, "refused by the user") {
			t.Errorf("in %d tokens:\n%s", size, text)
		}
	}
}

// TestAStepThatLeavesLate: a step that stays with the message of a user leaves after steps that came
// later. What they made of files and tasks holds, and its line says that it was before them.
func TestAStepThatLeavesLate(t *testing.T) {
	edit := func(id int, path, old, fresh string) []compact.Message {
		return exchange(id, "edit", fmt.Sprintf(`{"path":%q,"old_string":%q,"new_string":%q}`, path, old, fresh), "done")
	}
	for name, c := range map[string]struct {
		stays, after []compact.Message
		want, no     string
	}{
		"an edit":        {edit(1, "a.go", "most = 1", "most = 2"), edit(2, "a.go", "most = 2", "least = 3"), "\n(earlier) edit a.go (+1 −1: most = 2) → done\n", "as of here"},
		"before a reset": {edit(1, "a.go", "most = 1", "most = 2"), run(2, "git reset --hard", ""), "\nchanged: a.go\n", "as of here"},
		"before its end": {edit(1, "lib/a.go", "most = 1", "most = 2"), run(2, "rm -r lib", ""), "\nchanged: lib/a.go\n", "as of here"},
		"after a pull":   {run(1, "git pull", ""), edit(2, "lib/a.go", "most = 1", "most = 2"), "\n(earlier) $ git pull → no output\n", "changed:"},
		"after a folder": {run(1, "rm -r lib", ""), edit(2, "p/lib/a.go", "most = 1", "most = 2"), "\n(earlier) $ rm -r lib → no output\n", "p/lib"},
		"a removal":      {run(1, "rm lib/a.go", ""), run(2, "git checkout lib/a.go", ""), "\n(earlier) $ rm lib/a.go → no output\n", "changed:"},
		"a test":         {run(1, "make test", "12 passed"), run(2, "make test", "FAILED a_test.go"), "\n(earlier) $ make test → 12 passed\n", "changed:"},
	} {
		all := conversation([]compact.Message{user("Go on.")}, c.stays, []compact.Message{user("No, otherwise.")}, c.after, run(3, "ls", "a.go"))
		r := NewRecord(compacttest.Bytes{})
		r.Add(all[4:6:6], append(all[:4:4], all[6:]...), 700, false)
		tells(t, name, r.Add(append(all[1:4:4], all[6:]...), all[:1], 700, false), c.want, no(c.no))
		again := r.Add(nil, all[:1], 700, true)
		if strings.Contains(again, "(earlier)") || strings.Index(again, "No, otherwise.") > strings.Index(again, "$ ls") {
			t.Errorf("%s: made anew it is in another order:\n%s", name, again)
		}
	}
}

// TestAResultThatLeavesAfterItsCall: the step is told with it once more, and it is the same step.
func TestAResultThatLeavesAfterItsCall(t *testing.T) {
	all := conversation([]compact.Message{user("Go on.")}, run(1, "make", "exit code: 2"))
	r := NewRecord(compacttest.Bytes{})
	tells(t, "its call", r.Add(all[1:2], append(all[:1:1], all[2]), 700, false), "\n$ make\n")
	tells(t, "its result", r.Add(all[2:], all[:1], 700, false), "\n(earlier) $ make → exit 2: exit code: 2\n")
}

// TestUsersAreHeardInSmallParts: the words of a user come before the names of steps that
// have no room.
func TestUsersAreHeardInSmallParts(t *testing.T) {
	const words = "No, web2 only after 23:00. Make a copy of /etc/nginx from web2 first."
	for _, then := range [][]compact.Message{{}, {assistant("The copy lies on backup1: /srv/backup/web2-nginx-20260304.tgz (14722 bytes).")}} {
		list := []compact.Message{user("Go on."), assistant("I ask each host."), user(words)}
		for n, result := range []string{"rejected: the period of February is closed", "error: an entry that is booked is never cancelled, reverse it"} {
			list = append(list, exchange(n+1, "reverse_entry", `{"id":"E-2301","date":"2026-02-28","reason":"the wrong account"}`, `{"status":"error","message":"`+result+`"}`)...)
		}
		for size := 66; size < 240; size += 3 {
			r := NewRecord(compacttest.Bytes{})
			r.Add(exchange(9, "ls", `{}`, "a.go"), nil, 300, false)
			if part := r.Add(append(list, then...), nil, size, false); !strings.Contains(part, "\nuser: "+words+"\n") {
				t.Errorf("in %d tokens:\n%s", size, part)
			}
		}
	}
}

// TestAnEditThatStaysIsNotTold: the model reads its call, although its result was shortened.
func TestAnEditThatStaysIsNotTold(t *testing.T) {
	edit := exchange(1, "edit", `{"path":"a.go","old_string":"limit = 3","new_string":"limit = 4"}`, "The file a.go has been updated. Here it is:\n"+strings.Repeat("x = 1\n", 40))
	all := conversation([]compact.Message{user("Raise the limit.")}, edit, exchange(2, "run", `{"command":"go vet ./..."}`, "a.go:3: limit is not used"))
	kept := append(all[:2:2], all[2])
	kept[2].Parts = []compact.Part{{Text: compact.Plain("The file a.go has been updated. …")}}
	got := NewRecord(compacttest.Bytes{}).Add(all[2:], kept, 400, false)
	tells(t, "an edit that stays", got, "$ go vet ./...", "changed: a.go", no("edit a.go"))
}

// TestAConflictIsTold: of a file with a merge's conflict the sides of it.
func TestAConflictIsTold(t *testing.T) {
	code := ""
	for i := range 30 {
		code += fmt.Sprintf("func open%d(path string) (*Store, error) {\n\tstore, err := OpenStore(path, %d)\n\tif err != nil {\n\t\treturn nil, err\n\t}\n\treturn store, nil\n}\n\n", i, i)
	}
	both := code[:len(code)/2] + "\n<<<<<<< HEAD\n\tn := 1\n=======\n\tn := 2\n>>>>>>> parent\n\n" + code[len(code)/2:]
	got := recordOf(300, say(user("Which store does OpenStore open? Mend the merge.")), exchange(1, "read_file", `{"path":"store.go"}`, both))
	tells(t, "a conflict", got, " <<<<<<< HEAD\n", "n := 2\n >>>>>>> parent")
}

// TestWhatHasNoRoomIsCounted: steps by their number and that of those that failed, and that
// something was attached.
func TestWhatHasNoRoomIsCounted(t *testing.T) {
	var list []compact.Message
	for i := range 60 {
		list = append(list, run(i, fmt.Sprintf("make part-%02d", i), []string{"built", "error: no rule for it, and " + strings.Repeat("more of that ", 10)}[i%2])...)
	}
	text := recordOf(300, say(user("Build all of the parts.\n```\n"+strings.Repeat("12:00:01 INFO a line of the log\n", 9)+"```")), list)
	tells(t, "a small part", text, "user: Build all of the parts.\n", "read what the user attached (", " more steps (", " failed)")
}

// TestAttachmentsLeaveRoom: however often a client sends its state, a small part says what it can.
func TestAttachmentsLeaveRoom(t *testing.T) {
	list := []compact.Message{user("Build all of the parts, web2 last.")}
	for i := range 100 {
		state := compact.Message{Role: compact.System, Parts: []compact.Part{{Text: compact.Plain(fmt.Sprintf("The current time is 00:%02d. Open files: a.go, b.go and %d others.", i%60, i))}}}
		list = conversation(list, []compact.Message{state, user(fmt.Sprintf("```\nan attached log of run %d\nof last night\n```", i))}, exchange(i, "read", fmt.Sprintf(`{"path":"src/f%d.go"}`, i), "package f"))
	}
	for _, size := range []int{60, 200, 400, 1000, 4000} {
		text := recordOf(size, list)
		if checkPart(t, text, size, compacttest.Bytes{}); !strings.Contains(text, "web2 last") {
			t.Errorf("in %d tokens:\n%s", size, text)
		}
	}
}

// TestRulesForALaterPartAreEarlier: rules that had no room are told in the next part, as of the same read.
func TestRulesForALaterPartAreEarlier(t *testing.T) {
	rules := ""
	for i := range 40 {
		rules += fmt.Sprintf("- You must call step%d before limit%d, and never after part%d was merged.\n", i, i, i)
	}
	list := conversation(say(user("Do the steps by the rules.")), exchange(1, "read_file", `{"path":"TASK.md"}`, rules), exchange(2, "grep", `{"pattern":"limit"}`, "a.go"))
	r := NewRecord(compacttest.Bytes{})
	tells(t, "the first part", r.Add(list[1:3], list[:1], 300, false), "\nread TASK.md (")
	tells(t, "the second", r.Add(list[3:], list[:1], 400, false), "\n(more of an earlier step) read TASK.md (", no("\nread TASK.md"))
}

// TestAShortenedResultIsToldWhenItLeaves: what a small part told of a result that was shortened
// is not all that is told of it once the rest leaves.
func TestAShortenedResultIsToldWhenItLeaves(t *testing.T) {
	code := ""
	for i := range 400 {
		code += fmt.Sprintf("func open%d(path string) (*Store, error) {\n\treturn OpenStore(path, limit%d)\n}\n\n", i, i)
	}
	list := conversation(say(user("Where does OpenStore get limit7, limit8 and limit9?")), exchange(1, "read_file", `{"path":"store.go"}`, code))
	shortened := list[2]
	shortened.Parts = []compact.Part{{Text: compact.Plain("func open0(path string) (*Store, error) {\n[shortened]")}}
	r := NewRecord(compacttest.Bytes{})
	tells(t, "while the rest stays", r.Add(list[2:], []compact.Message{list[0], list[1], shortened}, 60, true), "read store.go", no("limit8)"))
	tells(t, "once it left", r.Add(list[1:2], list[:1], 400, false), "\n(more of an earlier step) read store.go (", "limit7)", "limit8)", "limit9)")
	r.Add(exchange(2, "run", `{"command":"make"}`, "exit code: 0"), list[:1], 400, false)
	if len(r.carried) > 0 {
		t.Error("it is carried for good")
	}
}

// TestARegionIsToldOnceNobodyElseShowsIt: the model read it elsewhere when the first part was written.
func TestARegionIsToldOnceNobodyElseShowsIt(t *testing.T) {
	list := conversation(exchange(1, "edit_file", `{"path":"a.js","old_string":"x","new_string":"const assetPrefix = '/logs/'"}`, "done"), run(2, "git show", strings.Repeat("+parcelLimit of vanLimit\n", 60)+"+const assetPrefix = '/logs/'\n"+strings.Repeat("+parcelLimit in vanLimit\n", 60)), run(3, "make", "ok"), say(user("Where are parcelLimit and vanLimit?")))
	r := NewRecord(compacttest.Bytes{})
	tells(t, "while another step shows it", r.Add(list[:2], list[2:], 400, false), "changed: a.js", no("as of here"))
	tells(t, "once that left", r.Add(list[2:4], list[4:], 400, false), "as of here, in a.js:\n const assetPrefix = '/logs/'\n", no("changed:"))
	r = NewRecord(compacttest.Bytes{})
	tells(t, "what a trial shows", r.Add(run(1, "python run.py", "Shown:\nwidth  float16 of old\nheight float64 of new\n"), say(user("width  float16 of old\nheight float64 of new")), 400, false), " height float64 of new\n")
}

// TestTrueOfWhatCameLater has what was said falsely of steps before: each with the line that is
// true, and what must not be there.
func TestTrueOfWhatCameLater(t *testing.T) {
	read := func(id int, path, text string) []compact.Message {
		return exchange(id, "read_file", `{"path":"`+path+`"}`, text)
	}
	edit := func(id int, path, result string) []compact.Message {
		return exchange(id, "edit", `{"path":"`+path+`","old_string":"port = 1","new_string":"port = 2"}`, result)
	}
	const settings = "port = 1\nhost = localhost\nretries = 3\n"
	f := func(name string, list []compact.Message, texts ...string) {
		t.Helper()
		tells(t, name, recordOf(900, list), texts...)
	}
	f("a file that was changed after it was read", conversation(say(user("Which port?")), read(1, "a.ini", settings), edit(2, "a.ini", "updated")), "read a.ini, before its last change (3 lines)")
	f("a file of that name elsewhere, and one of another branch", conversation(say(user("Which port?")), run(1, "cd /srv && cat a.ini", settings), run(2, "git checkout main", "Switched to branch 'main'"), edit(3, "a.ini", "updated")), no("before its last change"))
	f("all of a few lines", conversation(say(user("List.")), run(1, "./list", "a\n\nb\n\nc")), no("one of"))
	f("a tool with lsp in its name", conversation(say(user("Write.")), exchange(1, "lsp_organize_imports", `{"path":"src/a.ts"}`, "Applied 1 workspace edit")), "lsp_organize_imports path: src/a.ts → Applied")
	f("a part of a file", conversation(say(user("Write.")), exchange(1, "replace_symbol_body", `{"path":"a.go","body":"return 1\n"}`, "updated"), exchange(2, "write_file", `{"path":"b.go","content":"package b\n"}`, "written")), "write b.go (1 line", no("edit a.go (whole"))

	edits := [][]compact.Message{{user("Set the port.")}, edit(1, "a.ini", "updated"), run(2, "./check", "no such port"), edit(3, "a.ini", "error: old_string not found")}
	all := conversation(edits...)
	tells(t, "an edit that fails later", NewRecord(compacttest.Bytes{}).Add(all[1:5], append(all[:1:1], all[5:]...), 500, false), "edit a.ini (+1 −1: port = 2) → done")
	texts := conversation([]compact.Message{user("Set the port."), assistant("I look.\n<read_file>\n<path>a.ini</path>\n</read_file>"), user("[read_file for 'a.ini'] Result:\n" + settings)}, edit(9, "a.ini", "updated"))
	tells(t, "a call in a text", NewRecord(compacttest.Bytes{}).Add(texts[1:], texts[:1], 500, false), "read a.ini", no("\nuser:"))
}
