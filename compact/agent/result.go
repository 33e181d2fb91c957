package agent

import (
	"regexp"
	"strconv"
	"strings"

	"laconic/compact/quote"
)

// A Result is what a call returned, as a model reads it: without wrappers,
// escapes, colours and line numbers.
type Result struct {
	Text    string
	Code    int     // with which the program ended
	Coded   bool    // the code is known
	Failed  bool    // the client or the harness says that the tool failed
	Session string  // of Codex, in which the program goes on
	Running string  // where, or since when, the program goes on; "": it ended
	Unrun   bool    // the harness did not run it
	Object  Verdict // how an object of JSON says that it ended; [Unknown] without one
	Made    bool    // its lines are ours: it was JSON
	Rows    int     // of the longest list of objects in JSON: they may be of several kinds
	Listed  int     // bytes of them all
	Part    bool    // of a file: the tool cut it
	First   int     // the number of its first line in a file; 0: not known

	counted string // the lines of which this is the first
}

// ResultOf returns the result of a call of some kind. What a search found keeps its
// line numbers.
func ResultOf(text string, k Kind) *Result {
	if head := quote.First(text, 1<<11); containsAny(head, []string{"Result:", "Params used"}) {
		if at := calledWith.FindStringIndex(head); at != nil {
			text = text[at[1]:]
		}
	}
	if at := echo.FindStringSubmatchIndex(text); at != nil {
		text = text[at[2]:]
	}
	unrun := false
	if m := deniedCommand.FindStringSubmatch(text); m != nil {
		errors := debugText.Replace(m[3])
		text = "Exit code: " + m[1] + "\n" + debugText.Replace(m[2]) + errors
		if unrun = m[2] == "" && noSandbox.MatchString(errors); unrun {
			text = "exec_command failed: " + errors
		}
	}
	if m := notExecuted.FindStringSubmatch(text); m != nil && k == Runs {
		unrun, text = true, m[1]+"NOT executed: the previous command is still running"
	}
	u, v := reader{}, Value{kind: '"', Text: nextFile.ReplaceAllString(text, "\n### $1\n")}
	if k == Searches || k == Other { // files in YAML are edited as they stand
		v = valueOfYAML(text)
	}
	u.value("", &v)
	r := &u.Result
	r.Failed, r.Unrun = unrun, unrun
	if m := sessionID.FindStringSubmatch(text); m != nil {
		r.Session, r.Running = m[1], "in session "+m[1]
	}
	shown := WithoutElements(plain(u.b.String()), true)
	if k == Runs && containsAny(shown, rulers) {
		shown = ruler.ReplaceAllStringFunc(shown, func(s string) string {
			if share := strings.TrimLeft(s, " "); share != s {
				return "  " + share
			}
			return s[:8]
		})
	}
	r.withoutFrame(shown, k)
	if end := lastBytes(text, 1000); k == Runs && (!r.Coded || r.Code == -1) && strings.Contains(end, "[The command ") {
		if m := goesOn.FindStringSubmatch(end); m != nil {
			r.Running, r.Coded, r.Code = m[1], false, 0
		}
	}
	if at := strings.LastIndex(r.Text, "<response clipped><NOTE>"); at >= 0 && k == Reads && strings.HasSuffix(r.Text, "</NOTE>") { // of OpenHands
		r.Text, r.Part = r.Text[:at], true
	}
	if v := valueOf(r.Text); v.list != nil { // behind what a harness says of the program
		in := reader{}
		in.value("", &v)
		r.Text, r.Rows, r.Made = strings.TrimRight(in.b.String(), "\n"), in.Rows, in.Made
	}
	if k != Searches && k != Other && k != Runs && r.Rows == 0 { // a row may begin with a number
		plain, first, counted := withoutNumbers(r.Text)
		if r.Text = plain; first > 0 {
			r.First, r.counted = first, counted
		}
	}
	if strings.TrimRight(r.Text, " \t\n") != strings.TrimRight(r.counted, " \t\n") { // others stand beside these lines
		r.First = 0
	}
	return r
}

// FirstLine returns the first line that says something in a result, unwrapped. Of a text that
// is no JSON it reads the first most bytes.
func FirstLine(text string, most int) string {
	if !strings.HasPrefix(text, "{") && !strings.HasPrefix(text, "[") {
		text = quote.First(text, most)
	}
	r := ResultOf(text, Searches)
	line, _, _ := strings.Cut(strings.TrimLeft(r.Text, "\n"), "\n")
	return line
}

// ReportsFailure reports whether a result reports a failure. A word alone may be the state
// of something.
func ReportsFailure(text string) bool {
	r := ResultOf(text, Runs)
	o := (&Action{Kind: Runs}).OutcomeOf(r)
	return o.Verdict == Failed && (r.Code != 0 || strings.Contains(o.Says, ":") || summaryLine.MatchString(o.Says))
}

// Counts returns the line of a result that counts what went wrong or was found, or says that it was
// blocked: the verdict of a tool.
func (r *Result) Counts() string {
	all := counting.FindAllString(quote.First(r.Text, 1<<16), 2)
	if len(all) != 1 { // more of them tell more than one does
		return ""
	}
	return quote.OneLine(strings.TrimRight(strings.Trim(all[0], " =-*\n"), ":"), 140)
}

// counting finds such a line.
var counting = regexp.MustCompile(`(?im)^[^\pL\pN\n]*(?:(?:found|showing|total:?|there (?:are|were)) )?\(?(?:\d[\d,]*|no) (?:\w+ )?(?:errors?|failures?|failed|warnings?|problems?|issues?|match(?:es)?|matched|results?|rows?|hits?|records?)\b.{0,60}$|\A[^\n]{0,100}\b(?:blocked|not found)\b.*`)

// lastBytes returns at most n bytes of the end of a text, cut between characters.
func lastBytes(s string, n int) string { return strings.ToValidUTF8(s[max(0, len(s)-n):], "") }

// discovered is how Hermes begins the file of a folder that it appends to the first result from there.
const discovered = "[Subdirectory context discovered: "

// Discovered returns a result without such a file, and the file behind its name.
func Discovered(result string) (rest, file string) {
	if rest, file, found := strings.Cut(result, "\n\n"+discovered); found {
		return rest, discovered + file
	}
	return result, ""
}

// unprinted finds what no program meant to print: the colours and titles of a terminal, the prompt
// that OpenHands puts behind an output, and the count of tokens that Codex puts before it.
var unprinted = regexp.MustCompile("\x1b(?:[\\[\\]][^@-~]{0,64}[@-~]?)?|\\[Python Interpreter: [^\\]\n]*\\]\n\\S+@\\S+ [#$] ?|\\nOriginal token count: \\d+\nOutput:")

// nextFile finds how Roo Code ends a file and begins the next.
var nextFile = regexp.MustCompile(`\n</content>\n</file>\n<file><path>([^<\n]*)</path>\n<content[^>\n]*>\n`)

// ruler finds what programs draw across a wide terminal, and the blanks before a share that is done.
// rulers are in every text with one.
var rulers = []string{"================", "----------------", "________________", "!!!!!!!!!!!!!!!!", "****************", "~~~~~~~~~~~~~~~~", "_ _ _ _ _ _ _ _ ", "%]"}

var ruler = regexp.MustCompile(`(?m)^(?:={16,}|-{16,}|_{16,}|!{16,}|\*{16,}|~{16,}|(?:_ ){8,})|(?:={16,}|-{16,}|_{16,}|!{16,}|\*{16,}|~{16,})$|\x20{16,}\[ *\d+%\]$`)

// ofPage finds the marks of elements in pages as Playwright shows them: they soon are others.
var ofPage = regexp.MustCompile(` \[(?:ref=\w+|cursor=\w+)\]`)

// plain returns a text without colours, carriage returns, marks of elements of a page, and what
// Deep Agents puts before the lines of errors.
func plain(text string) string {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	if strings.Contains(text, "[ref=") {
		text = ofPage.ReplaceAllLiteralString(text, "")
	}
	text = strings.ReplaceAll(text, "[stderr] ", "")
	if !containsAny(text, []string{"\x1b", "[Python Interpreter: ", "\nOriginal token count: "}) {
		return text
	}
	return unprinted.ReplaceAllLiteralString(text, "")
}

var (
	// echo finds a command that Codex repeats before its result, perhaps in many lines.
	echo = regexp.MustCompile(`(?s)\ACommand: .*?\n(Chunk ID: \w+\nWall time: )`)
	// deniedCommand finds how Codex says that its sandbox was in the way of a command, which it repeats
	// before the code, the output and the errors: with some sandboxes it did not run.
	deniedCommand = regexp.MustCompile(`(?s)\Aexec_command failed for .*\bexit_code: (-?\d+), stdout: StreamOutput \{ text: \\*"(.*?)\\*", truncated_after.*?\bstderr: StreamOutput \{ text: \\*"(.*?)\\*", truncated_after`)
	noSandbox     = regexp.MustCompile(`(?m)^(?:bwrap|sandbox-exec): |^error (?:running landlock|applying )`)
	debugText     = strings.NewReplacer(`\\n`, "\n", `\n`, "\n", `\\t`, "\t", `\\\"`, `"`, `\"`, `"`)
	// notExecuted finds how OpenHands says that a command did not run, behind what another one printed,
	// and goesOn that one still does.
	notExecuted = regexp.MustCompile(`(?s)\A\s*\[Below is the output of the previous command\.\]\n(.*)\[Your command ".*" is NOT executed\. The previous command is still running`)
	goesOn      = regexp.MustCompile(`(?:\A|\n)\[The command (?:has no new output|timed out) (after [\d.]+ seconds)\. You may wait longer[^\n]*(?:\n\[[^\n]*)*\s*\z`)
	sessionID   = regexp.MustCompile(`\A(?:Chunk ID: .*\n)?(?:Wall time: .*\n)?Process running with session ID (\d+)(?:\n|\z)`)
)

// exitCode finds the code with which a program ended, as harnesses write it.
var exitCode = regexp.MustCompile(`(?i)^[\[<("{]*(?:error:\s*|no output, )?(?:(?:the )?(?:command|process|shell|program|script)\b[\w ]{0,24} )?(?:with )?` +
	`(?:exit(?:ed)?(?: with)?(?:[ _]?(?:code|status))?|return ?code)[>:= ]+(-?\d+)(?:\W*$|[\])>.,;"}<]| \()|^command (?:".*" (?:failed|exited|finished) with|executed in .*) exit code:? (-?\d+)\b`)

// A wrapper says what it says in the first and the last lines of a result: so many
// bytes, so many lines.
const (
	frameBytes = 400
	frameLines = 12
)

// frame finds lines that harnesses put around results: tags, elements that hold no
// more than a name or a code, and what they say of the program or of the file.
var frame = regexp.MustCompile("(?i)^\\s*(?:$|```+[\\w.+-]*$|### \\S*[/.]\\S*(?: \\(lines [\\d-]+\\))?$|" +
	`</?(?:\w*_\w*|output|std(?:out|err)|results?|returncode|path|type|content|file|error|shellid|response|exitcode|text|data|files|entries|instructions)(?: [^<>]*)?>\s*$|` +
	`(?:<file>)?<(path|cwd|shellid|return_?code|exit_?code)>[^<]*</|<type>\w+</|(?-i:Chunk ID: |Wall time: |Process exited with code |Original token count: |Total output lines: |Process running with session ID |(?:Code output|Output):(?: \(empty\))?\s*$|Command: |Directory: |Note: The tool simplified the command to |Error: \(none\)|\(no output|` +
	`(?i:exit[ _]?code|metadata|return_?code): |Signal: (?:\(none\)|\d+)$|Background PIDs: |Process Group PGID: |Std(?:out|err): \(empty\)|(?i:observation):\s*$|EXECUTION RESULT of |` +
	`Exit code \d+\s*$|\[(?:Python [Ii]nterpreter|Current working directory): |\[(?:(?:Status: )?Command (?:finished|failed|succeeded)|The command completed) with |\[The command (?:has no new output|timed out) after |\[Status: Command completed\]|@@ lines \d+-\d+ of \d+\b.*@@$|\[exit (?:status |code)|\(End of file|\(File has \d+ lines? total\.\)\s*$|\[\d+ more lines in file\. Use \w+=\d+ to continue\.\]\s*$|Command failed with exit code -?\d+\.\s*$|\(Open file: |\(Showing lines \d+-\d+ of \d+\. |\(Current directory: |bash-\$|` +
	`Command (?:executed\b|execution was not|output(?: \(truncated [^)]*\))?:|completed(?:\.| in \d)|".*" (?:failed|exited|timed out))|The previous shell command (?:ended|aborted), so|On the next terminal tool |Shell state |Current directory: |Contents of \S+, from line \d+|` +
	`Execution logs:\s*$|Call id: \S+\s*$|Now let's retry: take care|File: \S+\s*$|Lines \d+-\d+:\s*$|IMPORTANT: (?:The file|File) content (?:has been )?truncated|Status: Showing lines|Action: To read more of the file|--- FILE CONTENT |To read more: Use|Tool ran without output|\(Results are truncated|Here's the result of running .cat -n.|\[[^\]]* Result:|\[[^\]]*\] Result:))`)

// foundHead finds what Gemini CLI says above what a search found.
var foundHead = regexp.MustCompile(`^Found \d+ (?:file\(s\)|match(?:es)?) (?:matching|for pattern) .*:$`)

// withoutFrame takes a text without the lines that a harness puts around the output of a
// program, and the code that they say. What reads and searches return may be lines of a
// file, and what other tools return is data.
func (r *Result) withoutFrame(text string, k Kind) {
	lines := strings.Split(strings.TrimRight(text, " \t\n"), "\n")
	framed := func(line string) bool {
		if len(line) > frameBytes {
			return false
		}
		if m := exitCode.FindStringSubmatch(line); m != nil && !r.Coded && (k != Reads && k != Searches || strings.IndexByte("[<(P", line[0]) >= 0) {
			r.Code, _ = strconv.Atoi(m[1] + m[2])
			r.Coded = true
		}
		return (len(lines) > 1 || strings.TrimLeft(line, " <([") != line) && (frame.MatchString(line) || k == Searches && foundHead.MatchString(line))
	}
	from, to := 0, len(lines)
	for from < min(to, frameLines) && framed(lines[from]) {
		from++
	}
	for least := max(from, to-frameLines); to > least && framed(lines[to-1]); {
		to--
	}
	r.Text = strings.Join(lines[from:to], "\n")
}

// LinesFrom notes where in a file the lines stand that a command showed, if the command says so
// and none of them is missing.
func (a *Action) LinesFrom(r *Result) {
	line, _ := a.commands()
	if m := shownLines.FindStringSubmatch(line); m != nil {
		first, _ := strconv.Atoi(m[1])
		if last, _ := strconv.Atoi(m[2]); last-first == strings.Count(r.Text, "\n") {
			r.First = first
		}
	}
}

// shownLines finds the numbers of the first and the last line of a file that a command shows.
var shownLines = regexp.MustCompile(`^sed -n ['"]?(\d+),(\d+)p['"]? [^\s*?$<>|;&{[]+$`)

// numbered finds the number before a line of a file: "  12→x", "12\tx", "12: x",
// "12 | x", "12  x".
var numbered = regexp.MustCompile(`^[ \t]*(\d{1,7})(?:→|\t| ?\| ?|: ?|  |$)`)

// withoutNumbers takes the numbers off lines that are counted. It returns the first number, if it
// stands before the first line, and the lines that were counted from there, or "" if others were:
// there may be several files, each behind a line of its own and up to an empty one.
func withoutNumbers(text string) (plain string, first int, counted string) {
	lines := strings.Split(text, "\n")
	bounds := func(i int) bool {
		return i < 0 || i >= len(lines) || strings.TrimSpace(lines[i]) == "" || frame.MatchString(lines[i])
	}
	for at, n, from := 0, 0, 0; at < len(lines); at += max(n, 1) {
		if n = 0; !numbered.MatchString(lines[at]) || !bounds(at-1) && !strings.HasSuffix(lines[at-1], ":") && !strings.HasSuffix(lines[at-1], ")") {
			continue
		}
		if n, from = numbers(lines[at:]); n == 0 || !bounds(at+n) || n == 1 && !strings.Contains(text, "→") {
			continue
		}
		for i, l := range lines[at : at+n] {
			lines[at+i] = l[len(numbered.FindString(l)):]
		}
		if counted = ""; at == 0 {
			first, counted = from, strings.Join(lines[:n], "\n")
		}
	}
	return strings.Join(lines, "\n"), first, counted
}

// numbers returns how many lines begin with numbers that count them, and the first number.
func numbers(lines []string) (n, first int) {
	for ; n < len(lines); n++ {
		m := numbered.FindStringSubmatch(lines[n])
		if n == 0 && m != nil && !strings.HasSuffix(m[0], m[1]) {
			first, _ = strconv.Atoi(m[1])
		} else if n == 0 || m == nil || m[1] != strconv.Itoa(first+n) {
			break
		}
	}
	return n, first
}
