package digest

import (
	"regexp"
	"strings"
)

// harnessTags name elements that a harness puts into messages. Nobody said what
// is in them.
var harnessTags = setOf("system-reminder system_reminder additional_data open_and_recently_viewed_files environment_context environment_details user_instructions local-command-caveat command-message extra_info " +
	"ide_opened_file ide_selection ide_diagnostics git_status gitstatus available_skills skill_content bash-input bash-stdout bash-stderr " +
	"local-command-stdout local-command-stderr user-prompt-submit-hook attached_files workspace_info editor_context reminderinstructions thinking info-msg")

// wordTags name elements that hold the user's own words.
var wordTags = setOf("task user_query user_message feedback answer userrequest user_request instructions pr_description issue question prompt command-name command-args")

// An element is an element that stands in a text: <tag …>inner</tag>.
type element struct {
	tag, open, inner string
	rest             string // what follows it
	ends             bool   // false where the text breaks off in it, or where there is none
}

// tagOf finds the tag that a text begins with.
var tagOf = regexp.MustCompile(`^<([\w-]{1,48})(?:[ :][^>]*)?>`)

// elementOf returns the element that a text begins with. A file in it may hold its
// closing tag as well: with last set it ends at the last one before the next element
// of that name.
func elementOf(text string, last bool) (e element) {
	m := tagOf.FindStringSubmatch(firstBytes(text, 400))
	if m == nil {
		return e
	}
	e.tag, e.open, e.inner = strings.ToLower(m[1]), m[0], text[len(m[0]):]
	closing := "</" + m[1]
	end := strings.Index(e.inner, closing)
	if last {
		before, _, _ := strings.Cut(e.inner, "<"+m[1])
		end = max(end, strings.LastIndex(before, closing))
	}
	if e.ends = end >= 0; e.ends {
		e.inner, e.rest = e.inner[:end], e.inner[end:]
		e.rest = e.rest[strings.IndexByte(firstBytes(e.rest, 64), '>')+1:]
	}
	return e
}

// withoutElements returns a text without what a harness put into it.
func withoutElements(text string) string {
	var b strings.Builder
	for i := strings.IndexByte(text, '<'); i >= 0; i = strings.IndexByte(text, '<') {
		b.WriteString(text[:i])
		text = text[i:]
		if m := tagOf.FindStringSubmatch(firstBytes(text, 200)); m != nil && harnessTags[strings.ToLower(m[1])] {
			text = elementOf(text, true).rest // or it breaks off
		} else {
			b.WriteByte('<')
			text = text[1:]
		}
	}
	b.WriteString(text)
	return b.String()
}

// resultMarks begin or end messages of users that hold the result of a tool.
var (
	resultMarks = regexp.MustCompile(`^\s*(?:\[[\w.-]+(?: for [^\]\n]*)?\](?: Result:|\s*\n)|<(?:returncode|tool_result|tool_response|function_results|observation|file_content|output)\b|(?i:observation):|exitcode: -?\d|EXECUTION RESULT of|` +
		`Tool (?:result|output|'[\w.-]+' returned)|# \d+ SEARCH/REPLACE blocks? failed|I ran this command:|Here are the contents|I have \*added these files|Here are summaries of some files|\(Open file: |No file open|\[File: )`)
	resultEnds = regexp.MustCompile(`\(Current directory: [^\n]*\)\s*\nbash-\$\s*$`)
)

// isResult reports whether a message of a user holds the result of a tool.
func isResult(text string) bool {
	return calledWith.MatchString(text) || resultMarks.MatchString(firstBytes(text, 300)) || resultEnds.MatchString(lastBytes(text, 400))
}

// calledWith finds a call that Cline repeats before its result, perhaps in several lines.
var calledWith = regexp.MustCompile(`(?s)^\s*\[[a-z_]+ for '.*?'\] Result:[ \t]*\n`)

// ofUser finds that a result is what the user answered: to a question, to what was
// proposed or to the end of the work. In other results an element of this name may
// be of a file.
var ofUser = regexp.MustCompile(`^\s*\[(?:attempt_completion|ask_followup_question|plan_mode_respond|new_task)\b|^\s*\[[^\]\n]*\] Result:\s*(?:The user (?:denied|rejected)|<feedback>)`)

// A skill that was loaded is a file. The record has its rules, and what the user gave
// to the skill.
const (
	skill     = "Base directory for this skill: "
	skillFile = "/SKILL.md"
)

// agentsFile is how a harness begins the instructions of a repository that it puts
// before the conversation.
const agentsFile = "# AGENTS.md instructions for "

// continued is how the summary begins with which Claude Code goes on in a new window.
const continued = "This session is being continued from a previous conversation"

// attached names what a message of a user holds beside the user's own words.
func attached(text string) string {
	if strings.HasPrefix(text, agentsFile) {
		return "AGENTS.md"
	}
	if folder, ok := strings.CutPrefix(text, skill); ok {
		folder, _, _ = strings.Cut(folder, "\n")
		return strings.TrimSpace(folder) + skillFile
	}
	return "what the user attached"
}

// standing finds files whose rules hold as long as the work goes on.
var standing = regexp.MustCompile(`(?i)(?:^|/)(?:agents|claude|gemini|skill|contributing|copilot-instructions|\.(?:cursor|windsurf|cline)rules)(?:\.md)?$`)

// automatic finds what a harness says in the place of the user, perhaps before the
// user's own words.
var automatic = regexp.MustCompile(`(?m)^Caveat: The messages below were generated by the user.*\n?|\A\s*\[[A-Z ]+\] (?s:.*?)\(This is an automated message.*\n?|` +
	`\A\s*\[TASK RESUMPTION\] .*\n?(?:\n*New (?:message|instructions) .*:$)?|\A\s*(?:System: Please continue\.|API Error: \d+ \{.*\}|Continue from where you left off\.|The following tool was executed by the user|Stop hook feedback:\n(?s:.*)|Now proceed and carry out this plan\.|Error:\nError in code parsing:(?s:.*))\s*\z`)

// finalAnswer finds the answer of an agent of smolagents in the result of the step that gave
// it, and what the user wrote then.
var finalAnswer = regexp.MustCompile(`(?s)\A(.*\n)Last output from code snippet:\n(.*?)(?:\nNew task:\n(.*))?\z`)

// whileItWorks finds what a user wrote while Claude Code worked.
var whileItWorks = regexp.MustCompile(`(?s)\A\s*<system-reminder>\s*The user sent (?:the following message|a new message while you were working):\n(.*?)(?:\n+(?:Please address this message|IMPORTANT: After)[^\n]*)?\s*</system-reminder>`)

// interrupted finds how Claude Code says that the user interrupted the agent.
var interrupted = regexp.MustCompile(`(?m)^\[Request interrupted by user[^\]\n]*\]\s*`)

// heard splits the result of a call into what the user said and the rest. Only calls
// that a user answers have such words: what others return may be of a file.
func (a *action) heard(text string) (said, rest string) {
	if a.answers() {
		return saidIn(text, true, true)
	}
	return "", text
}

// saidIn splits a message of a user into the user's own words and what is attached
// to them: files, logs, output. A result holds words only in elements that are the
// user's, if the user answered.
func saidIn(text string, isResult, answered bool) (said, attachment string) {
	text = plain(text)
	switch {
	case strings.HasPrefix(text, skill):
		attachment, said, _ = strings.Cut(text, "\nARGUMENTS: ")
		return strings.TrimSpace(said), attachment
	case strings.HasPrefix(text, agentsFile), strings.HasPrefix(text, continued):
		return "", withoutElements(text)
	}
	if !isResult {
		text = whileItWorks.ReplaceAllString(text, "$1")
	}
	text = automatic.ReplaceAllLiteralString(withoutElements(text), "")
	if !isResult {
		text = interrupted.ReplaceAllLiteralString(text, "(interrupted) ")
	}
	hears := !isResult || answered || ofUser.MatchString(firstBytes(text, 400))
	if isResult {
		text = calledWith.ReplaceAllLiteralString(text, "")
	}
	var words, data strings.Builder
	own := &words
	if isResult {
		own = &data
	}
	misses, tags := 0, map[string]bool{} // elements without an end, and those whose last end was looked for
	for text != "" {
		line, rest, _ := strings.Cut(text, "\n")
		trimmed := strings.TrimSpace(line)
		fence := trimmed[:len(trimmed)-len(strings.TrimLeft(trimmed, "`~"))]
		var e element
		if strings.HasPrefix(trimmed, "<") && misses < 32 {
			e = elementOf(text[strings.IndexByte(text, '<'):], false)
			if misses++; e.ends && !wordTags[e.tag] && (len(tags) < 32 || tags[e.open[:len(e.tag)+1]]) {
				tags[e.open[:len(e.tag)+1]] = true
				e = elementOf(text[strings.IndexByte(text, '<'):], true)
			}
		}
		switch {
		case e.ends:
			misses--
			to := &data
			if wordTags[e.tag] && hears || !isResult && strings.Count(e.inner, "\n") < 2 && strings.IndexByte(e.open, '=') < 0 {
				to = &words
			}
			if text := strings.TrimSpace(e.inner); isResult && strings.HasSuffix(e.tag, "code") { // it is not of the program
				to.WriteString(e.open + text + "</" + e.tag + ">\n")
			} else {
				to.WriteString(text + "\n")
			}
			text = strings.TrimPrefix(e.rest, "\n")
		case trimmed == "--- Content from referenced files ---":
			line, text, _ = strings.Cut(rest, "\n--- End of content ---")
			data.WriteString(line + "\n")
		case len(fence) > 2:
			line, text, _ = strings.Cut(rest, "\n"+fence)
			_, text, _ = strings.Cut(text, "\n")
			data.WriteString(line + "\n")
		case strings.HasPrefix(trimmed, "{") && strings.HasSuffix(trimmed, "}") && strings.Contains(trimmed, `":`):
			data.WriteString(line + "\n") // a line of a log
			text = rest
		default:
			own.WriteString(line + "\n")
			text = rest
		}
	}
	said = strings.TrimSpace(words.String())
	if answered && said != "" { // the rest is the client's
		return said, ""
	}
	return said, strings.TrimRight(data.String(), "\n")
}
