package digest

import (
	"fmt"
	"maps"
	"strconv"
	"strings"
	"testing"

	"laconic/compact"
	"laconic/compact/compacttest"
)

// TestWhatARecordTells has a conversation for each thing that a model goes on
// from, with the lines that must be told, and those that must not.
func TestWhatARecordTells(t *testing.T) {
	edit := func(id int, path, before, after, result string) []compact.Message {
		return exchange(id, "edit_file", fmt.Sprintf(`{"path":%q,"old_string":%s,"new_string":%s}`, path, quotedJSON(before), quotedJSON(after)), result)
	}
	f := func(name string, list []compact.Message, texts ...string) {
		t.Helper()
		record := recordOf(700, list)
		checkPart(t, record, 700, compacttest.Bytes{})
		tells(t, name, record, texts...)
	}
	f("users word for word, in place",
		conversation(say(user("Mend the parser.\nKeep `v1`  as it is!")), run(1, "go test ./...", "ok  \tp\t0.1s"), say(user("Now the docs, please."))),
		"\nuser: Mend the parser.\n Keep `v1`  as it is!\n$ go test ./... → ok p 0.1s\nuser: Now the docs, please.\n")
	f("a short answer with what it answers",
		conversation(say(assistant("There are two ways:\n- A: close the listener first\n- B: drain the queue first\nWhich one?")), say(user("B"))),
		"B: drain the queue first", "\nuser: B\n")
	f("a skill, and what the agent gave to it",
		conversation(say(user("Mend the parser.")), say(user("Base directory for this skill: /home/a/skills/tdd\n\n# TDD\n\nA test says what is wanted.\n\n- Never write code before a failing test.\n- It saves time.\n\nARGUMENTS: for the parser"))),
		"read a skill", "Never write code before a failing test.", no("\nuser: for the parser\n"))
	f("the answer to a call that asks",
		exchange(1, "ask_user", `{"question":"Which port shall it be?","options":["8080","9090"]}`, "9090, as before"),
		"Which port shall it be?", "\nthe user answered: 9090, as before\n")
	f("a refused edit with the reason",
		edit(1, "src/a.go", "n > 3", "n > 5", "The user doesn't want to proceed with this tool use. The tool use was rejected. The user said: keep the limit at three"),
		`edit src/a.go (+1 −1: n > 5) → refused by the user, who said: "keep the limit at three"`,
		no("\nchanged:"), no("\nas of here, "))
	f("a test that failed first, once it is green",
		conversation(
			run(1, "go test ./...", "--- FAIL: TestReload (0.00s)\n    reload_test.go:41: got 3, want 5\nFAIL\nFAIL\tparceld/src\t0.2s\nexit code: 1"),
			edit(2, "src/reload.go", "n > 3", "n > 5", "done"), run(3, "go test ./...", "ok  \tparceld/src\t0.2s"),
		),
		"$ go test ./... → exit 1: ", "--- FAIL: TestReload", "reload_test.go:41: got 3, want 5", "$ go test ./... → ok parceld/src 0.2s", "changed: src/reload.go\n")
	f("code in force after several edits of one region",
		conversation(
			edit(1, "src/a.go", "func f() {\n\treturn 1\n}", "func f() int {\n\treturn 1\n}", "done"),
			edit(2, "src/a.go", "\treturn 1", "\tn := 2\n\treturn n", "done"), edit(3, "./src/a.go", "n := 2", "n := 3 // three", "done"),
			edit(4, "src/a.go", "n := 3 // three", "n := 9", "Error: the text was not found in the file"),
		),
		"\nchanged: src/a.go\n", "\n func f() int {\n \tn := 3 // three\n \treturn n\n",
		no(" \tn := 2"), no("n := 9"), no(" \treturn 1"))
	f("changes by shell",
		conversation(
			run(1, "sed -i 's/a/b/' conf/app.yaml && echo done", "done"), run(2, "cat > notes/plan.txt <<'EOF'\nkeep the_plan > all\nEOF", ""),
			run(3, "rm old/gone.go", ""), run(4, "git mv a/from.go a/to.go", ""), run(5, "cat notes/other.txt | grep x > /dev/null", ""),
		),
		"conf/app.yaml", "notes/plan.txt", "old/gone.go (removed)", "\n keep the_plan > all\n",
		no("notes/other.txt,"), no("all\""))
	f("a root cause in the middle of a message",
		say(assistant("I looked around in the sources for a while. "+strings.Repeat("There is one more file of this kind here. ", 30)+
			"The root cause is that the counter in src/reload.go:88 is shared by all connections. "+strings.Repeat("Let me see what comes next. ", 30))),
		"The root cause is that the counter in src/reload.go:88 is shared by all connections.")
	f("a table of rows",
		exchange(1, "list_flights", `{"from":"SFO"}`, `[{"flight":"HAT136","seats":{"economy":4},"price":171},{"flight":"HAT039","seats":{"economy":0},"price":98},{"flight":"HAT200","seats":{"economy":9},"price":310}]`),
		"(flight, seats, price)\n HAT136, [economy 4], 171\n HAT039, [economy 0], 98\n HAT200, [economy 9], 310\n",
		no(`{"flight"`))
	f("a change that is printed is source",
		run(1, "gh pr diff 7", "diff --git a/src/reload_test.go b/src/reload_test.go\n--- a/src/reload_test.go\n+++ b/src/reload_test.go\n@@ -40,0 +41,3 @@\n+func TestReloadKeeps(t *testing.T) {\n+\tt.Fatalf(\"reload failed: got %d, want 5\", n)\n+}\n"+strings.Repeat("+// more of it\n", 40)),
		"diff --git a/src/reload_test.go", "+func TestReloadKeeps(t *testing.T) {",
		no("exit"), no("→ failed"))
	f("an edit with a line that is too long, by little",
		edit(1, "src/a.go", "x", strings.Repeat("x", 439), "done"),
		"edit src/a.go (+1 −1: ")
	f("a file into which the shell puts variables, and a table that is printed",
		conversation(run(1, "cat > a.conf <<EOF\nport=$PORT\nEOF", ""), run(2, "psql -tc 'select id, state from jobs'", " 101 | failed\n 102 | ok\n 103 | ok")),
		"changed: a.conf", "\n  101 | failed\n",
		no("\n port"))
	f("an edit with what it defines",
		edit(1, "src/a.go", "x", "x\nfunc first(n int) int {\n\treturn n\n}\n\nfunc (q *queue) second() {}\n\ntype third struct{}", "done"),
		"edit src/a.go (+7 −0: func first(n int) int { ⏎ return n ⏎ } ⏎ func (q *queue) second() {} ⏎ type third struct{}) → done")
	f("a run of tests without those that passed",
		run(1, "pytest tests", "tests/test_a.py::test_one PASSED [ 50%]\ntests/test_a.py::test_two PASSED [100%]\n\n==================== 2 passed in 0.05s ====================\nexit code: 0"+strings.Repeat("\n", 3)),
		"$ pytest tests → exit 0: 2 passed in 0.05s",
		no("PASSED"), no("===="))
	f("a letter in Japanese",
		exchange(1, "read_file", `{"path":"letters/tanaka.txt"}`, "報告書は毎週金曜日の17時までに提出してください。\n"+strings.Repeat("いつもお世話になっております。本日は天気も良く、皆様お元気のことと存じます。\n", 12)),
		"\n 報告書は毎週金曜日の17時までに提出してください。\n")
}

// tells fails where a record lacks one of the texts, or has one that it must not have.
func tells(t *testing.T, name, record string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		text, none := strings.CutPrefix(text, absent)
		if strings.Contains(record, text) == none {
			t.Errorf("%s: %q is there: %v, want %v in\n%s", name, text, none, !none, record)
		}
	}
}

// absent is the mark of a text that a record must not have.
const absent = "\x00"

func no(text string) string { return absent + text }

// TestRulesAndSettingsOfAnyFile are told as they stand in the file, whatever a
// client puts around its lines.
func TestRulesAndSettingsOfAnyFile(t *testing.T) {
	file := "# Task\n\nThe service is slow at night.\n- Never change pkg/wire.\nport = 18443\nThe rest is up to you.\n"
	lines := func(format string) string {
		var b strings.Builder
		for i, l := range strings.Split(strings.TrimSuffix(file, "\n"), "\n") {
			fmt.Fprintf(&b, format, i+1, l)
		}
		return b.String()
	}
	shapes := map[string]string{
		"cat -n": lines("%6d\t%s\n"), "arrows": lines("%6d→%s\n"), "colons": lines("%d: %s\n"), "bars": lines("%3d | %s\n"),
		"CRLF": strings.ReplaceAll(file, "\n", "\r\n"), "colours": strings.ReplaceAll(strings.ReplaceAll(file, "port", "\x1b[1;32mport\x1b[0m"), "Never", "\x1b[31mNever\x1b[0m"),
		"element": "<path>TASK.md</path>\n<content>\n" + file + "</content>",
	}
	maps.Copy(shapes, compacttest.Wrapped(file))
	for how, text := range shapes {
		record := recordOf(200, []compact.Message{user("go")}, exchange(1, "read_file", `{"path":"TASK.md"}`, text))
		tells(t, how, record, "\n - Never change pkg/wire.\n", "\n port = 18443\n")
	}
}

// TestWhatHoldsIsToldHoweverLongAgo: rules and settings that were read at the beginning do
// not leave for what the newest steps printed and wrote.
func TestWhatHoldsIsToldHoweverLongAgo(t *testing.T) {
	const letter = "お世話になっております。お手数ですが、返送の締め切りは十月の九日ですので、それまでに必ず倉庫へお送りください。\n"
	lists := [][]compact.Message{
		{user("Prepare the returns of the week.")},
		exchange(1, "read_file", `{"path":"regles.md"}`, "# Retours\n\nUn retour se fait par le portail.\n- Un remboursement ne doit pas passer par la caisse.\n- Le numéro du client ne va jamais dans le journal.\n"),
		exchange(2, "read_file", `{"path":"depot.yaml"}`, "depot:\n  door: 18443\n  lamp: green\n"),
		exchange(3, "read_file", `{"path":"letter.txt"}`, letter+strings.Repeat("担当の者が棚を数え直しました。荷物はまだ届いておりません。\n", 40)),
	}
	for i := range 16 {
		name := fmt.Sprintf("parcel_%c", 'a'+i)
		lists = append(lists, []compact.Message{assistant("The count of " + name + " is wrong, because it is read twice.")},
			exchange(2*i+4, "run", `{"command":"count --of `+name+`"}`, strings.Repeat(name+" was counted by the shelf and by the door\n", 1)+"ERROR "+name+": counted twice"),
			exchange(2*i+5, "write_file", `{"path":"notes/`+name+`.md","content":"`+strings.Repeat("The parcel is counted where it leaves. ", 6)+`"}`, "done"))
	}
	record := recordOf(700, lists...)
	tells(t, "what holds", record, "ne doit pas passer par la caisse", "ne va jamais dans le journal", "door: 18443", "十月の九日")
}

// TestEditsAndFailuresAreNamed: of a step without room the record says which file it
// changed, or that it failed, where a part is not small.
func TestEditsAndFailuresAreNamed(t *testing.T) {
	lists := [][]compact.Message{
		{user("Sort the harbour lists.")},
		exchange(1, "edit", `{"path":"lists/early.go","old":"a := 1","new":"a := 2"}`, "done"),
		exchange(2, "run", `{"command":"sort --check early.txt"}`, "exit code: 3\nnot sorted"),
	}
	for i := range 90 {
		name := fmt.Sprintf("quay_%c%c", 'a'+i/26, 'a'+i%26)
		lists = append(lists, exchange(i+4, "run", `{"command":"sort --check `+name+`.txt"}`, "exit code: 3\n"+name+".txt:"+name+": not sorted"))
	}
	for size, want := range map[int]string{1500: "$ sort --check quay_aa.txt → exit 3: "} {
		tells(t, strconv.Itoa(size), recordOf(size, lists...), want)
	}
}
