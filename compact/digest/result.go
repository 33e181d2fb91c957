package digest

import (
	"regexp"
	"strconv"
	"strings"
)

// A result is what a call returned, as a model reads it: without wrappers,
// escapes, colours and line numbers.
type result struct {
	text   string
	code   int     // with which the program ended
	coded  bool    // the code is known
	failed bool    // the client says that the tool failed
	object verdict // what an object of JSON says; unknown: there is none
	tables []table // of JSON
	first  int     // the number of its first line in a file; 0: not known
	part   bool    // a tool left out some of it

	session string // in which the program still runs
}

// resultOf returns the result of a call of some kind. What a search found keeps its
// line numbers.
func resultOf(text string, k kind) result {
	r := result{part: leftOut.MatchString(firstBytes(text, frameBytes)) || leftOut.MatchString(lastBytes(text, frameBytes))}
	text, r.object, r.tables = unwrap(text, k == searches || k == other)
	text = withoutElements(plain(text))
	if k == runs {
		text = strings.ReplaceAll("\n"+text, "\n[stderr] ", "\n")[1:]
	}
	if m := running.FindStringSubmatch(firstBytes(text, frameBytes)); m != nil {
		r.session = m[1]
	}
	text, code := withoutFrame(text, k)
	r.coded = code != ""
	r.code, _ = strconv.Atoi(code)
	r.text = strings.TrimRight(text, "\n")
	if k != searches && k != other && k != runs && len(r.tables) == 0 { // a row may begin with a number
		r.text, r.first = withoutNumbers(r.text)
	}
	return r
}

// leftOut finds how tools say that they return no more than a part.
var leftOut = regexp.MustCompile(`<response clipped>|[Oo]nly part of this file has been shown|File content truncated|[Ff]ile has more lines`)

// colour finds what tells a terminal of colours and titles.
var colour = regexp.MustCompile("\x1b(?:[\\[\\]][^@-~]{0,64}[@-~]?)?")

// plain returns a text without colours and carriage returns.
func plain(text string) string {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	if strings.IndexByte(text, 0x1b) >= 0 {
		text = colour.ReplaceAllLiteralString(text, "")
	}
	return text
}

// exitCode finds the code with which a program ended, as harnesses write it.
var exitCode = regexp.MustCompile(`(?i)^[\[<("{]*(?:error:\s*|no output, )?(?:(?:the )?(?:command|process|shell|program|script)\b[\w ]{0,24} )?(?:with )?` +
	`(?:exit(?:ed)?(?: with)?(?:[ _]?(?:code|status))?|return ?code)[>:= ]+(-?\d+)(?:\W*$|[\])>.,;"}<]| \()|^command (?:".*" (?:failed|exited|finished) with|executed in .*) exit code:? (-?\d+)\b`)

// running finds the session in which a program goes on, as harnesses write it.
var running = regexp.MustCompile(`(?i)(?:running|moved) (?:with session|(?:in|to) (?:the )?background with) ID:? ([\w-]+)`)

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
	`<(path|cwd|shellid|return_?code|exit_?code)>[^<]*</|<type>\w+</|(?-i:Chunk ID: |Wall time: |Process exited with code |Process running with |Original token count: |Total output lines: |(?:Code output|Output):(?: \(empty\))?\s*$|Command: |Directory: |Error: \(none\)|\(no output|` +
	`(?i:exit[ _]?code|metadata|return_?code): |Signal: |Background PIDs: |Process Group PGID: |Std(?:out|err): \(empty\)|(?i:observation):\s*$|EXECUTION RESULT of |` +
	`Exit code \d+\s*$|\[(?:Python [Ii]nterpreter|Current working directory): |\[(?:(?:Status: )?Command (?:finished|failed|succeeded)|The command completed) with |\[Status: Command completed\]|@@ lines \d+-\d+ of \d+\b.*@@$|\[exit (?:status |code)|\(End of file|\(Open file: |\(Current directory: |bash-\$|` +
	`Command (?:executed\b|execution was not|output(?: \(truncated [^)]*\))?:|completed(?:\.| in \d)|".*" (?:failed|exited|timed out))|The previous shell command (?:ended|aborted), so|On the next terminal tool |Shell state |Current directory: |Contents of \S+, from line \d+|Params used for the tool call: |` +
	`Execution logs:\s*$|Call id: \S+\s*$|Now let's retry: take care|File: \S+\s*$|Lines \d+-\d+:\s*$|IMPORTANT: File content truncated|Status: Showing lines|To read more: Use|Tool ran without output|\(Results are truncated|Here's the result of running .cat -n.|\[[^\]]* Result:|\[[^\]]*\] Result:))`)

// ofCommand finds those of them that only commands, files and edits have.
var ofCommand = regexp.MustCompile(`^(?i:metadata|Signal|Command|Directory|Error): `)

// withoutFrame returns a text without the lines that a harness puts around the
// output of a program, and the code that they say, or "". What reads and searches return
// may be lines of a file, and what other tools return is data.
func withoutFrame(text string, k kind) (output, code string) {
	alone := !strings.Contains(text, "\n")
	framed := func(line string) bool {
		if len(line) > frameBytes {
			return false
		}
		is := frame.MatchString(line) && (k != other || !ofCommand.MatchString(line))
		if m := exitCode.FindStringSubmatch(line); m != nil && code == "" && (k != reads && k != searches || strings.IndexByte("[<(P", line[0]) >= 0) {
			code = m[1] + m[2]
		}
		return is && (!alone || strings.TrimLeft(line, " <([") != line)
	}
	for range frameLines {
		line, rest, _ := strings.Cut(text, "\n")
		if !framed(line) {
			break
		}
		text = rest
	}
	text = strings.TrimRight(text, " \t\n")
	for range frameLines {
		i := strings.LastIndexByte(text, '\n') + 1
		if text == "" || !framed(text[i:]) {
			break
		}
		text = strings.TrimRight(text[:max(0, i-1)], " \t\n")
	}
	return text, code
}

// numbered finds the number before a line of a file: "  12→x", "12\tx", "12: x",
// "12 | x", "12  x".
var numbered = regexp.MustCompile(`(?m)^[ \t]*(\d{1,7})(?:→|\t| ?\| ?|: ?|  |$)`)

// withoutNumbers returns a text without the numbers before its lines, if they count all its
// lines, and the first of them; 0: they have none.
func withoutNumbers(text string) (plain string, first int) {
	line, _, _ := strings.Cut(text, "\n")
	from := numbered.FindStringSubmatch(line)
	to := numbered.FindStringSubmatch(text[strings.LastIndexByte(text, '\n')+1:])
	if from == nil || to == nil || strings.HasSuffix(from[0], from[1]) {
		return text, 0
	}
	first, _ = strconv.Atoi(from[1])
	if n := countLines(text); to[1] != itoa(first+n-1) || n == 1 && !strings.Contains(text, "→") {
		return text, 0
	}
	return strings.TrimRight(numbered.ReplaceAllLiteralString(text, ""), "\n"), first
}
