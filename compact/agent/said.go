package agent

import (
	"cmp"
	"regexp"
	"strings"

	"laconic/compact/quote"
)

// harnessTags name elements that a harness puts into messages. Nobody said what
// is in them.
var harnessTags = setOf("system-reminder system_reminder additional_data open_and_recently_viewed_files environment_context environment_info environment_details user_instructions local-command-caveat command-message extra_info " +
	"ide_opened_file ide_selection ide_diagnostics turn_aborted git_status gitstatus available_skills skill_content bash-input bash-stdout bash-stderr " +
	"local-command-stdout local-command-stderr user-prompt-submit-hook attached_files workspace_info editor_context reminderinstructions thinking info-msg")

// wordTags name elements that hold the user's own words.
var wordTags = setOf("task user_query user_message feedback answer userrequest user_request instructions pr_description issue question prompt command-name command-args")

// An element is an element that stands in a text: <tag …>inner</tag>.
type element struct {
	tag, open, inner string
	rest             string // what follows it
}

// tagOf finds the tag that a text begins with.
var tagOf = regexp.MustCompile(`^<([\w-]{1,48})(?:[ :][^>]*)?>`)

// elementOf returns the element that a text begins with, or none. A file in it may hold its
// closing tag as well: with last set it ends at the last one before the next of that name,
// unless it holds the words of a user.
func elementOf(text string, last bool) (e element) {
	m := tagOf.FindStringSubmatch(quote.First(text, 400))
	if m == nil {
		return e
	}
	inner, closing := text[len(m[0]):], "</"+m[1]
	end := strings.Index(inner, closing)
	if last && !wordTags[strings.ToLower(m[1])] {
		before, _, _ := strings.Cut(inner, "<"+m[1])
		end = max(end, strings.LastIndex(before, closing))
	}
	if end < 0 {
		return e
	}
	rest := inner[end:]
	return element{strings.ToLower(m[1]), m[0], inner[:end], rest[strings.IndexByte(quote.First(rest, 64), '>')+1:]}
}

// WithoutElements returns a text without what a harness put into it. An element that does not end
// breaks off, but for a tag within a line of data, which only speaks of it.
func WithoutElements(text string, data bool) string {
	var b strings.Builder
	misses := 0 // each takes time
	for i := strings.IndexByte(text, '<'); i >= 0; i = strings.IndexByte(text, '<') {
		b.WriteString(text[:i])
		text = text[i:]
		if m := tagOf.FindStringSubmatch(quote.First(text, 200)); m != nil && harnessTags[strings.ToLower(m[1])] && !(data && m[1] == "skill_content") {
			e := elementOf(text, true)
			if e.tag == "" && data && misses < 32 && b.Len() > 0 && !strings.HasSuffix(b.String(), "\n") {
				misses++
				e.rest = text[len(m[0]):]
				b.WriteString(m[0])
			}
			text = e.rest
		} else {
			b.WriteByte('<')
			text = text[1:]
		}
	}
	return b.String() + text
}

// resultMarks begin or end messages of users that hold the result of a tool.
var (
	resultMarks = regexp.MustCompile(`^\s*(?:\[[\w.-]+(?: for [^\]\n]*)?\](?: Result:|\s*\n)|<(?:exception|returncode|tool_result|tool_response|function_results|observation|file_content|output)\b|(?i:observation):|exitcode: -?\d|EXECUTION RESULT of|` +
		`Tool (?:result|output|'[\w.-]+' returned)|# \d+ SEARCH/REPLACE blocks? failed|Result of [a-z]+(?:_[a-z]+)+\(.*\):\n|I ran this command:|I committed the changes with git hash \w+ & commit msg: |Here are the contents|I have \*added these files|Here are summaries of some files|\(Open file: |No file open|\[File: )`)
	resultEnds = regexp.MustCompile(`\(Current directory: [^\n]*\)\s*\nbash-\$\s*$`)
)

// IsResult reports whether a message of a user holds the result of a tool.
func IsResult(text string) bool {
	return calledWith.MatchString(text) || resultMarks.MatchString(quote.First(text, 300)) || resultEnds.MatchString(lastBytes(text, 400))
}

// calledWith finds a call that Cline repeats before its result, perhaps in several lines, one that
// HolmesGPT does, and what Gemini CLI says before the report of an agent.
var calledWith = regexp.MustCompile(`(?s)^\s*\[([a-z_]+)(?: for (?:'(.*?)'(?: in '[^'\n]*'|\. Reading multiple [^\]\n]*)?|[^'\]\n]*))?\] Result:(?:[ \t]*\n|[ \t]*)|^Params used for the tool call: [^\n]*\n|^Subagent '[\w-]+' finished\.\nTermination Reason: GOAL\nResult:\n`)

// ResultMissing is what Cline sends as the result of a call if a text of the user has the result.
const ResultMissing = "result missing"

// Names returns the tool that a result has before it and what that was given, or "", and reports
// whether that is all.
func Names(result string) (tool, given string, all bool) {
	if m := calledWith.FindStringSubmatch(result); m != nil {
		return m[1], m[2], m[0] == result
	}
	return "", "", false
}

// IsFor reports whether what is before a result names a call: its tool, and with exact set what
// Cline says of its arguments.
func (a *Action) IsFor(tool, given string, exact bool) bool {
	if tool != a.Tool && "use_"+tool != a.Tool && (tool != "use_mcp_tool" || !strings.Contains(a.Tool, "mcp")) {
		return false
	}
	v := &a.Values
	says := cmp.Or(v.Member("regex"), v.Member("question"), v.Member("command"), v.Member("url action servername"), v.Member("path"))
	return !exact || strings.TrimSpace(says) == strings.TrimSpace(given)
}

// inPlace are how messages begin that a client puts in the place of the user, and what they are:
// the third is a summary with which Claude Code goes on in a new window, the last is ADK's.
var inPlace = [][2]string{
	{"Base directory for this skill: ", "a skill"},
	{"# AGENTS.md instructions for ", "AGENTS.md"},
	{"This session is being continued from a previous conversation", "what the user attached"},
	{"For context:\n[", "what other agents did"},
}

// AttachedAs returns what the attachment of a message of a user is, and reports whether it is the
// whole message.
func AttachedAs(attachment string) (as string, whole bool) {
	if name, found := strings.CutPrefix(attachment, discovered); found {
		name, _, _ = strings.Cut(quote.First(name, 400), "]")
		return name, false
	}
	for _, m := range inPlace {
		if strings.HasPrefix(attachment, m[0]) {
			return m[1], true
		}
	}
	return "what the user attached", false
}

// automatic finds what a harness says in the place of the user, perhaps before the
// user's own words.
var automatic = regexp.MustCompile(`(?m)^I added these files to the chat: .*\nLet me know if there are others we should add\.$|^Caveat: The messages below were generated by the user.*\n?|\A\s*\[[A-Z ]+\] (?s:.*?)\(This is an automated message.*\n?|` +
	`\A\s*Here is a demonstration of how to correctly accomplish this task\.(?s:.*?)(?:--- END OF DEMONSTRATION ---|\z)|\A\s*\[TASK RESUMPTION\] .*\n?(?:\n*Note: If you previously attempted .*)?(?:\n*New (?:message|instructions) .*:$)?|^[ \t]*# (?:TODO LIST UPDATE REQUIRED - You MUST include the task_progress|task_progress (?:List \(Optional - Plan Mode\)|RECOMMENDED)\s*\n\s*\nWh)(?s:.*)\z|` +
	`\(The user did not provide a new message\. Consider asking them[^)]*\)|\A\s*The user (?:has provided feedback on the results\. Consider their input to continue the task, .*\z|provided the following feedback:$)|\A\s*(?:Skipping tool|Tool) \[[^\n]*\] (?:due to user rejecting a previous tool\.|was interrupted and not executed due to .*)\z|\A\s*(?:System: Please continue\.|API Error: \d+ \{.*\}|Continue from where you left off\.|The following tool was executed by the user|Stop hook feedback:\n(?s:.*)|Now proceed and carry out this plan\.|Error:\nError in code parsing:(?s:.*))\s*\z`)

// FinalAnswer returns what the result of the last step of an agent of smolagents printed, the answer
// of the agent in it, and what the user wrote then.
func FinalAnswer(text string) (printed, answer, said string) {
	if m := lastOutput.FindStringSubmatch(text); m != nil {
		return m[1], m[2], m[3]
	}
	return text, "", ""
}

var lastOutput = regexp.MustCompile(`(?s)\A(.*\n)Last output from code snippet:\n(.*?)(?:\nNew task:\n(.*))?\z`)

// Approved returns the result of an edit without what Roo Code says of its approval, and what the user
// wrote to that.
func Approved(result string) (rest, said string) {
	m := approval.FindStringSubmatch(result)
	if m == nil {
		return result, ""
	}
	return result[len(m[0]):], strings.TrimSpace(m[1])
}

var approval = regexp.MustCompile(`(?s)\A\s*(?:\[[^\n]*?\] Result:\s*)?The user approved this operation and provided the following context:\s*<feedback>\n(.*?)\n</feedback>(?:\n|\z)`)

// whileItWorks finds what a user wrote while Claude Code worked.
var whileItWorks = regexp.MustCompile(`(?s)\A\s*<system-reminder>\s*The user sent (?:the following message|a new message while you were working):\n(.*?)(?:\n+(?:Please address this message|IMPORTANT: After)[^\n]*)?\s*</system-reminder>`)

// SaidIn splits a message of a user into the user's own words and what is attached
// to them: files, logs, output. A result that the user answered holds words only in elements
// that are the user's, and the rest is the client's.
func SaidIn(text string, isResult bool) (said, attachment string) {
	text = plain(text)
	if _, whole := AttachedAs(text); whole {
		return "", WithoutElements(text, false)
	}
	var words, data strings.Builder
	own := &words
	if isResult {
		own = &data
	}
	text = automatic.ReplaceAllLiteralString(WithoutElements(whileItWorks.ReplaceAllString(text, "$1"), false), "")
	misses, elements := 0, 0 // without an end, and all: time is linear
	for text != "" {
		line, rest, _ := strings.Cut(text, "\n")
		trimmed := strings.TrimSpace(line)
		fence := trimmed[:len(trimmed)-len(strings.TrimLeft(trimmed, "`~"))]
		if trimmed == "--- Content from referenced files ---" {
			fence = "--- End of content ---"
		}
		var e element
		if strings.HasPrefix(trimmed, "<") && misses < 32 {
			elements++
			if e = elementOf(text[strings.IndexByte(text, '<'):], elements < 128); e.tag == "" {
				misses++
			}
		}
		to := own
		switch {
		case e.tag != "":
			if to = &data; wordTags[e.tag] || !isResult && strings.Count(e.inner, "\n") < 2 && strings.IndexByte(e.open, '=') < 0 {
				to = &words
			}
			line, rest = strings.TrimSpace(e.inner), strings.TrimPrefix(e.rest, "\n")
		case len(fence) > 2:
			to = &data
			line, rest = cutFence(rest, fence, strings.Index(line, trimmed))
		case strings.HasPrefix(trimmed, "{") && strings.HasSuffix(trimmed, "}") && strings.Contains(trimmed, `":`): // a line of a log
			to = &data
		}
		to.WriteString(line + "\n")
		text = rest
	}
	said = strings.TrimSpace(words.String())
	if isResult && said != "" {
		return said, ""
	}
	return said, strings.TrimRight(data.String(), "\n")
}

// cutFence cuts a text around the line that ends a fenced block, which is in no further than the line
// that began it. Without one all is in the block.
func cutFence(text, fence string, indent int) (inner, rest string) {
	from := 0
	for line := range strings.Lines(text) {
		if at := strings.Index(line[:min(len(line), indent+len(fence))], fence); at >= 0 && strings.TrimLeft(line[:at], " \t") == "" {
			return strings.TrimSuffix(text[:from], "\n"), text[from+len(line):]
		}
		from += len(line)
	}
	return text, ""
}
