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
	if m := running.FindStringSubmatch(firstBytes(text, frameBytes)); m != nil {
		r.session = m[1]
	}
	if k == runs {
		text = ofErrors.ReplaceAllLiteralString(text, "")
	}
	text, code := withoutFrame(text, k)
	r.coded = code != ""
	r.code, _ = strconv.Atoi(code)
	text, object, inner := unwrap(text, false)
	r.text, r.object = strings.TrimRight(text, "\n"), max(r.object, object)
	r.tables = append(r.tables, inner...)
	if k != searches && k != other && len(r.tables) == 0 { // a row may begin with a number
		r.text, r.first = withoutNumbers(r.text, k == runs)
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

// ofErrors finds the mark before lines that a program wrote to its stderr.
var ofErrors = regexp.MustCompile(`(?m)^\[stderr\] ?`)

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
	`<(path|cwd|shellid|return_?code|exit_?code)>[^<]*</|<type>\w+</|(?-i:Chunk ID: |Wall time: |Process exited with code |Process running with |Original token count: |Total output lines: |Output:\s*$|Command: |Directory: |Error: \(none\)|\(no output|` +
	`(?i:exit[ _]?code|metadata|return_?code): |Signal: |Background PIDs: |Process Group PGID: |Std(?:out|err): \(empty\)|OBSERVATION:|Observation:|EXECUTION RESULT of |` +
	`Exit code \d+\s*$|\[(?:Python [Ii]nterpreter|Current working directory): |\[(?:(?:Status: )?Command (?:finished|failed|succeeded)|The command completed) with |\[Status: Command completed\]|@@ lines \d+-\d+ of \d+\b.*@@$|\[exit (?:status |code)|\(End of file|\(Open file: |\(Current directory: |bash-\$|` +
	`Command (?:executed\b|execution was not|output(?: \(truncated [^)]*\))?:|completed(?:\.| in \d)|".*" (?:failed|exited|timed out))|The previous shell command (?:ended|aborted), so|On the next terminal tool |Shell state |Current directory: |Contents of \S+, from line \d+|Params used for the tool call: |` +
	`Execution logs:\s*$|Call id: \S+\s*$|Now let's retry: take care|File: \S+\s*$|Lines \d+-\d+:\s*$|IMPORTANT: File content truncated|Status: Showing lines|To read more: Use|Tool ran without output|\(Results are truncated|Here's the result of running .cat -n.|\[[^\]]* Result:|\[[^\]]*\] Result:))`)

// ofCommand finds those of them that only commands, files and edits have.
var ofCommand = regexp.MustCompile(`^(?i:metadata|Signal|Command|Directory|Error): `)

// labelled finds a line with a label of a harness and what a program printed.
var labelled = regexp.MustCompile(`^(?:Output|Observation|OBSERVATION): (.*\S.*)`)

// What was read may begin or end with a code: that of a harness stands alone.
var (
	alone  = regexp.MustCompile(`-?\d+(?:\W*$|, duration|</)`)
	behind = regexp.MustCompile(`(?i)^(?:[\[<(]|process\b|command\b)|, duration`)
)

// withoutFrame returns a text without the lines that a harness puts around the
// output of a program, and the code that they say, or "". What reads and searches return
// may be lines of a file, and what other tools return is data.
func withoutFrame(text string, k kind) (output, code string) {
	quotes := k == reads || k == searches
	framed := func(line string) bool { return frame.MatchString(line) && (k != other || !ofCommand.MatchString(line)) }
	look := func(line string, frames *regexp.Regexp) {
		if m := exitCode.FindStringSubmatch(line); m != nil && code == "" && (!quotes || frames.MatchString(line)) {
			code = m[1] + m[2]
		}
	}
	for range frameLines {
		line, rest, more := strings.Cut(text, "\n")
		if len(line) <= frameBytes {
			look(line, alone)
		}
		if m := labelled.FindStringSubmatch(line); m != nil {
			text = strings.TrimPrefix(m[1], "(empty)") + "\n" + rest
			break
		}
		if len(line) > frameBytes || !framed(line) || line == "<user_edits>" || !more && strings.TrimLeft(line, " <([") == line && !strings.HasSuffix(line, ":") {
			break
		}
		text = rest
		if tag, ok := strings.CutPrefix(strings.TrimSpace(line), "<"); ok { // which may end behind the last line
			text = strings.TrimSuffix(strings.TrimRight(text, " \t\n"), "</"+tag)
		}
	}
	text = strings.TrimRight(text, " \t\n")
	for range frameLines {
		i := strings.LastIndexByte(text, '\n') + 1
		if len(text)-i <= frameBytes {
			look(text[i:], behind)
		}
		if text == "" || len(text)-i > frameBytes || !framed(text[i:]) || i == 0 && strings.IndexByte("<([", text[0]) < 0 {
			break
		}
		text = strings.TrimRight(text[:max(0, i-1)], " \t\n")
	}
	return text, code
}

// numbered finds the number before a line of a file: "  12→x", "12\tx", "12: x",
// "12 | x", "12  x".
var numbered = regexp.MustCompile(`(?m)^[ \t]*(\d{1,7})(?:→|\t| ?\| ?|: ?|  |$)`)

// withoutNumbers returns a text without the numbers before its lines, if most lines
// have one and they count lines, and the first of them; 0: they have none. What a
// program printed may be a table.
func withoutNumbers(text string, printed bool) (plain string, first int) {
	lines, counted, before := 0, 0, -1
	for line := range strings.SplitSeq(firstBytes(text, 1024), "\n") {
		lines++
		if m := numbered.FindStringSubmatch(line); m != nil && !strings.HasSuffix(m[0], m[1]) && !(printed && (strings.ContainsAny(m[0], "|\t") || strings.HasSuffix(m[0], "  "))) {
			n, _ := strconv.Atoi(m[1])
			if n == before+1 || before < 0 {
				counted++
			}
			if before = n; lines == 1 {
				first = n
			}
		}
	}
	if counted == 0 || counted*10 < lines*7 || lines == 1 && !strings.Contains(text, "→") {
		return text, 0
	}
	last := numbered.FindStringSubmatch(text[strings.LastIndexByte(text, '\n')+1:])
	if last == nil || last[1] != itoa(first+countLines(text)-1) { // of several parts of a file
		first = 0
	}
	return strings.TrimRight(numbered.ReplaceAllLiteralString(text, ""), "\n"), first
}
