package digest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"laconic/compact"
	"laconic/compact/compacttest"
)

// TestPlacesInFiles: lines of a file stand below the function that they are in, with their numbers
// where something before them is left out.
func TestPlacesInFiles(t *testing.T) {
	code := "package a\n\nfunc first() {\n" + strings.Repeat("\tprepare()\n", 60) + "}\n\nfunc second() string {\n\ttext := `{\n{\"kind\":\"none\"}\n`\n" +
		strings.Repeat("\tprepare()\n", 60) + "\treturn text + parcelLimit\n}"
	file := ""
	for i, l := range strings.Split(code, "\n") {
		file += fmt.Sprintf("%6d→%s\n", i+1, l)
	}
	read := exchange(1, "Read", `{"file_path":"a.go"}`, file)
	ask := say(user("Where is parcelLimit used?"))
	tells(t, "a function with a text at the margin", recordOf(330, ask, read),
		"read a.go (131 lines)\n … line 66\n func second() string {\n … line 12", "\n \treturn text + parcelLimit\n")
	tells(t, "lines of a window", recordOf(300, ask, exchange(1, "Read", `{"file_path":"a.go","offset":66,"limit":65}`, strings.Join(strings.SplitAfter(file, "\n")[65:], ""))),
		"read a.go (lines 66–131)\n", "\n … line 12", "\n \treturn text + parcelLimit\n")
	shown := "}\n\nfunc second() string {\n" + strings.Repeat("\tprepare()\n", 60) + "\treturn text + parcelLimit\n}"
	for command, want := range map[string]string{
		"cd /w && sed -n '5,69p' a.go": "\n … line 7\n", "sed -n '5,90p' a.go": "\n …\n", "sed -n '5,69p' a*.go": "\n …\n", "sed -n '5,69p' a.go b.go": "\n …\n",
	} {
		tells(t, "lines that sed shows", recordOf(300, ask, run(1, command, shown)), want+" func second() string {\n", " \treturn text + parcelLimit\n")
	}
	two := exchange(1, "read_files", `{"path":"a.go"}`, strings.Join(strings.SplitAfter(file, "\n")[60:], "")+"\n"+strings.ReplaceAll(strings.Join(strings.SplitAfter(file, "\n")[:60], ""), "prepare", "finish"))
	for after, told := range map[string]bool{"\n<system-reminder>\nBe brief.\n</system-reminder>": true, "\n(and so on)": false} {
		if record := recordOf(300, ask, exchange(1, "Read", `{"file_path":"a.go"}`, file+after)); strings.Contains(record, " … line 66\n") != told {
			t.Errorf("with %q behind the lines:\n%s", after, record)
		}
	}
	tells(t, "two parts", recordOf(300, ask, two), no("… line"))
	tells(t, "a decorator", recordOf(600, ask, exchange(1, "Read", `{"file_path":"a.py"}`, "class A:\n"+strings.Repeat("    pass\n", 40)+"    def one(self):\n        return parcelLimit + 1\n    @property\n    def two(self):\n        return parcelLimit + 2\n")),
		" @property\n", no("…\n     def two"))
}

// TestTextsThatCommandsGive: the message of a commit is told, and hints of git are not.
func TestTextsThatCommandsGive(t *testing.T) {
	commit := "git commit -m \"$(cat <<'EOF'\nKeep the cents of each row\n\n# of rows: all\nReviewed-by: Anika\nEOF\n)\" && git status"
	tells(t, "a commit", recordOf(500, conversation(run(1, commit, "[main 1f2e3d4] Keep the cents of each row\n 1 file changed"))),
		"$ git commit -m \"Keep the cents of each row ⏎ ⏎ # of rows: all ⏎ Reviewed-by: Anika\" && git status → ")
	tells(t, "two documents", recordOf(900, conversation(run(1, "gh pr create --body \"$(cat <<EOF\nFixes $ISSUE\nEOF\n)\" && git commit -m \"$(cat <<'EOF'\nA flag --dry-run shows it\nEOF\n)\"", "[main 1f2e3d4] A flag"))),
		"$ gh pr create --body \"$(cat <<EOF ⏎ )\" && git commit -m \"A flag --dry-run shows it\" → [main 1f2e3d4] A flag\n")
	tells(t, "hints", recordOf(500, conversation(run(1, "git status", "On branch main\nChanges not staged for commit:\n  (use \"git add <file>...\" to update what will be committed)\n\tmodified:   rows.go"))),
		" \tmodified:   rows.go\n", no("(use"))
	tells(t, "an error of a tool", recordOf(500, conversation(exchange(1, "Grep", `{"pattern":"x","path":"cmd"}`, "<tool_use_error>Path does not exist: cmd</tool_use_error>"))),
		"Grep x in cmd → failed: Path does not exist: cmd\n[End")
	tells(t, "a task", recordOf(500, conversation(exchange(1, "TaskCreate", `{"subject":"Mend rows","description":"Keep the cents","activeForm":"Mending rows"}`, "Task #1 created"))),
		"TaskCreate subject: Mend rows, description: Keep the cents → Task #1 created\n")
	tells(t, "a failed download", recordOf(400, conversation(run(1, "mvn test", strings.Repeat("Downloading parcels.jar\n", 9)+"ERROR: Downloading van.jar failed: connection refused"))), "ERROR: Downloading van.jar failed")
	tells(t, "an appended line", recordOf(400, conversation(exchange(1, "append_to_file", `{"path":"log.md","content":"one"}`, "done"))), "edit log.md", "as of here, in log.md:\n")
	tells(t, "a trial behind a comment", recordOf(900, conversation(run(1, "# a trial first\nhelm upgrade shop chart --set image.tag="+strings.Repeat("a1", 99)+" --dry-run", "ok"))), " (dry run) → ok")
	tells(t, "a mark in a source", recordOf(400, conversation(run(1, "grep -n tool_use a.go", "4: if strings.HasPrefix(text, \"<tool_use_error>\") {"))), "\"<tool_use_error>\"")
}

// TestWhatStandsBelow: of a list that the model reads once more no short lines are told, and of what
// a program fetches little.
func TestWhatStandsBelow(t *testing.T) {
	list := func(first string) string {
		text := first
		for i := range 12 {
			text += fmt.Sprintf("\n- name: report_%d.docx\n  owner: anika@parcels.example\n  May %d\n  6. Go", i, i)
		}
		return text
	}
	kept := exchange(2, "list_files", `{}`, list("thirteen files"))
	record := digestOf(conversation(exchange(1, "list_files", `{"all":true}`, list("fourteen files"))), kept, 500, compacttest.Bytes{})
	tells(t, "a list", record, "list_files all: true → …\n[End")
	again := exchange(3, "get_balance", `{"account":"anna"}`, list("twelve files"))
	tells(t, "a list once more", recordOf(1500, conversation(again, run(4, "make", "ok"), again, exchange(5, "get_balance", `{"account":"bert"}`, list("twelve files")))),
		"get_balance account: anna →\n", "get_balance account: anna → (the same output as before)\n", "get_balance account: bert →\n")
	tells(t, "noise", recordOf(300, conversation(run(1, "go test ./...", strings.Repeat("go: downloading example.com/parcels_of_the_north v1.0.0\n", 9)+"vet: the shelf has no lamp\nok  \tparcels\t0.1s\n"+strings.Repeat("ok  \tparcels/van\t0.1s\n", 30)))),
		"vet: the shelf", no("downloading"))
}

// TestWhatAFileDefinesComesFirst: of a long file that was written whole all routes are told, each with
// what stands above it, and the lines of some. Its step does not say its first lines once more.
func TestWhatAFileDefinesComesFirst(t *testing.T) {
	file := "\"\"\"The parcels of a van.\"\"\"\n"
	for i := range 12 {
		file += fmt.Sprintf("\n\n@app.get(\"/parcels/%d\")\n@cached\nasync def parcels_%d(van: str) -> dict:\n", i, i)
		for k := range 8 {
			file += fmt.Sprintf("    shelf_%d = van_of(parcel_%d, key=%d)\n", k, i, k)
		}
	}
	args, _ := json.Marshal(map[string]string{"path": "api.py", "content": file})
	record := recordOf(700, exchange(1, "write_file", string(args), "done"))
	for i := range 12 {
		tells(t, "a route", record, fmt.Sprintf(" @app.get(\"/parcels/%d\")\n @cached\n async def parcels_%d(van: str) -> dict:\n", i, i))
	}
	tells(t, "the file", record, "\n     shelf_0 = van_of(", "write api.py (157 lines) → done\n")
	change := exchange(2, "edit", `{"path":"api.py","old_string":"shelf_5 = van_of(parcel_9, key=5)","new_string":"shelf_5 = van_of(parcel_9, key=6)"}`, "done")
	tells(t, "a line of a later edit", recordOf(700, exchange(1, "write_file", string(args), "done"), change), "     shelf_5 = van_of(parcel_9, key=6)\n")
	tells(t, "a file that is no longer so", recordOf(700, exchange(1, "write_file", string(args), "done"), run(2, "git stash", "Saved")), "write api.py (157 lines: … @app.get(", no("as of here"))
}

// TestStepsInARowCount: steps that are alike and follow each other count as many as they were.
func TestStepsInARowCount(t *testing.T) {
	var steps []compact.Message
	for i := range 3 {
		steps = append(steps, exchange(i, "Edit", `{"file_path":"a.go","old_string":"one","new_string":"two"}`, "Error: String to replace not found in file.")...)
	}
	for i := range 40 {
		steps = append(steps, run(10+i, fmt.Sprintf("make van_%d", i), fmt.Sprintf("van_%d: out of fuel\nexit code: 1", i))...)
	}
	tells(t, "steps in a row", recordOf(420, steps), "\n… 15 more steps (15 failed)\n$ make van_12 ")
}

// TestPagesThatProgramsPrint are told by their texts.
func TestPagesThatProgramsPrint(t *testing.T) {
	cell := "        <div\n          class=\"cell\"\n          role=\"gridcell\"\n        />\n"
	page := "  ✕ ends in a draw\n\n    Unable to find: /draw/\n\n    <body>\n      <div>\n        <p>\n          Winner: red\n        </p>\n" + strings.Repeat(cell, 60) + "      </div>\n    </body>\n\n      25 |     expect(board)\n\nTests: 1 failed, 1 total"
	text := recordOf(260, exchange(1, "bash", `{"command":"npm test"}`, "exit code: 1\n"+page))
	tells(t, "a page", text, "Winner: red\n", no("</body>"), no("/>"))
}

// TestFilesInObjects are read as what they are, and a file behind a result is another's.
func TestFilesInObjects(t *testing.T) {
	tells(t, "in an object", recordOf(2000, exchange(1, "read_file", `{"path":"quay.md"}`, `{"content":"    12|# Quay\n    13|Never moor at night.\n","total_lines":40,"truncated":true,"hint":"go on at 14"}`)),
		"read quay.md (lines 12–13)\n # Quay\n Never moor at night.\n", no("JSON"))
	tells(t, "cut", recordOf(2000, exchange(1, "read_file", `{"path":"quay.md"}`, `{"content":"# Quay\nNever moor at night.","truncated":true}`)), "read quay.md (2 lines of it)\n")
	tells(t, "behind a result", recordOf(2000, exchange(1, "search_files", `{"pattern":"crane"}`, "{\"files\":[\"quay/a.md\",\"quay/b.md\"]}\n\n[Subdirectory context discovered: quay/AGENTS.md]\n# The quay\nNever moor at night.\nAsk the port.\n")),
		"search_files crane → files: quay/a.md, quay/b.md\nread quay/AGENTS.md (4 lines)\n", "\n Never moor at night.\n")
}

// TestARowForOthersNeedsThoseAboveIt: alone it would forbid what they allow.
func TestARowForOthersNeedsThoseAboveIt(t *testing.T) {
	tree := "# Folders\n\nquay/\n"
	for i := range 12 {
		tree += fmt.Sprintf("├── crane%d.md   ✓ may stay, as it always did\n", i)
	}
	for size := 100; size <= 400; size += 50 {
		text := recordOf(size, exchange(1, "read_file", `{"path":"folders.md"}`, tree+"└── *   ✗ forbidden\n\n"+strings.Repeat("It goes on and on about the port.\n\n", 60)))
		if strings.Contains(text, "forbidden") && !strings.Contains(text, "├── crane0.md") {
			t.Errorf("%d: a row alone:\n%s", size, text)
		}
	}
}
