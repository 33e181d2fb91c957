package digest

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"laconic/compact"
	"laconic/compact/agent"
	"laconic/compact/compacttest"
	"laconic/compact/quote"
	"laconic/proxy/wire/wiretest"
)

// TestTruth measures how much of what a record tells of recorded conversations is
// true, and how much it leaves out. What is true is found without the package's
// own reading: in the words of the tools that edit, in the codes that harnesses
// write, and in what later readings of a file show.
func TestTruth(t *testing.T) {
	wiretest.LargerSet(t)
	var sum truth
	t.Logf("%-28s %s", "", columns)
	byFile := map[string]*truth{}
	var files []string
	for _, c := range wiretest.Conversations(t) {
		if byFile[c.File] == nil {
			byFile[c.File] = &truth{}
			files = append(files, c.File)
		}
		m := measure(c)
		byFile[c.File].add(&m)
		sum.add(&m)
		for _, wrong := range m.wrong {
			t.Logf("%s %s: %s", c.File, c.ID, wrong)
		}
	}
	for _, f := range files {
		t.Logf("%-28s %s", f, byFile[f])
	}
	t.Logf("%-28s %s", "all", &sum)
	for _, bar := range []struct {
		name  string
		share share
		least float64
		of    int // so many cases, else it measures nothing
	}{
		{"changes that happened", sum.changes, 0.99, 400},
		{"changes that are told", sum.told, 0.95, 400},
		{"failures that happened", sum.failures, 0.95, 150},
		{"failures that are told", sum.failed, 0.95, 100},
		{"failures told without a code that happened", sum.blind, 0.95, 40},
		{"verdicts that are right", sum.verdicts, 0.98, 600},
		{"lines of users that are the user's", sum.words, 0.999, 1000},
	} {
		if bar.share.of < bar.of || bar.share.value() < bar.least {
			t.Errorf("%s: %v, want %.0f %% of at least %d", bar.name, bar.share, 100*bar.least, bar.of)
		}
	}
}

// A share is how many of some cases are as they should be.
type share struct{ right, of int }

func (s *share) count(right bool) bool {
	if s.of++; right {
		s.right++
	}
	return right
}

func (s share) value() float64 { return float64(s.right) / float64(max(s.of, 1)) }
func (s share) String() string { return fmt.Sprintf("%4d of %4d", s.right, s.of) }

const columns = "changes true  complete      failures true complete      by text true  verdicts      users' lines"

type truth struct {
	changes  share // told changes that happened
	told     share // changes that happened and are told
	failures share // told failures that happened
	failed   share // failures that happened and are told
	blind    share // failures told with the code hidden that happened
	verdicts share
	words    share
	wrong    []string
}

func (t *truth) add(m *truth) {
	for _, s := range [][2]*share{{&t.changes, &m.changes}, {&t.told, &m.told}, {&t.failures, &m.failures}, {&t.failed, &m.failed}, {&t.blind, &m.blind}, {&t.verdicts, &m.verdicts}, {&t.words, &m.words}} {
		s[0].right += s[1].right
		s[0].of += s[1].of
	}
}

func (t *truth) String() string {
	return fmt.Sprintf("%v  %v  %v  %v  %v  %v  %v", t.changes, t.told, t.failures, t.failed, t.blind, t.verdicts, t.words)
}

func (t *truth) miss(how, format string, args ...any) {
	t.wrong = append(t.wrong, how+": "+quote.OneLine(fmt.Sprintf(format, args...), 400))
}

// A step is a call of a recorded conversation as it was recorded.
type recordedStep struct {
	origin  int // of the result
	tool    string
	raw     string // the arguments
	args    map[string]any
	command string
	result  string
	event   *event
}

// stepsOf returns the calls of a conversation that were answered.
func stepsOf(c wiretest.Recorded, r *Record) []recordedStep {
	var steps []recordedStep
	calls, events := map[string]*compact.Call{}, map[string]*event{}
	happened := map[int][]*event{} // by their messages
	for _, e := range r.events {
		if e.Action != nil {
			happened[e.origin] = append(happened[e.origin], e)
		}
	}
	for i := range c.Messages {
		m := &c.Messages[i]
		for k := range m.Calls {
			calls[m.Calls[k].ID], events[m.Calls[k].ID] = &m.Calls[k], happened[m.Origin][k]
		}
		call := calls[m.Answers]
		if !m.Role.Result() || call == nil {
			continue
		}
		s := recordedStep{origin: m.Origin, tool: call.Name, raw: call.Arguments.String(), event: events[m.Answers]}
		_ = json.Unmarshal([]byte(s.raw), &s.args)
		for _, key := range []string{"command", "cmd"} {
			if text, ok := s.args[key].(string); ok {
				s.command = text
			}
		}
		for k := range m.Parts {
			s.result += m.Parts[k].Text.String()
		}
		steps = append(steps, s)
	}
	return steps
}

var (
	// What tools say of edits that were made, and of edits that were not.
	edited   = regexp.MustCompile(`^(?:The file \S+ has been (?:updated|edited)|File created successfully|Success\. Updated the following|Wrote \d+ bytes|Replaced \d+ passage|Successfully (?:created|overwrote|modified)|Text replaced|\[File: \S+ \(\d+ lines total\)\])`)
	unedited = regexp.MustCompile(`doesn't want to proceed|does not want to proceed|No replacement was performed|old_string was not found|have NOT been applied|<tool_use_error>|^ERROR:|has not been read yet|Found \d+ matches|String to replace not found`)
	// The codes that harnesses write.
	coded = regexp.MustCompile(`^Exit code (\d+)|<returncode>(-?\d+)</returncode>|"exit_code": ?(\d+)|\[Command finished with exit code (\d+)\]|exit code (\d+)\)$|Process exited with code (\d+)|(?m:^Exit Code: (\d+))|\[exit status (\d+)\]`)
	// What is printed by programs that fail, where a pipe hides the code.
	printsFailure = regexp.MustCompile(`(?m)^Traceback \(most|^\w*(?:Error|Exception): |^npm (?:ERR!|error)|^FAIL|--- FAIL|\b[1-9]\d* (?:failed|errors?)\b|^E  +\S|^(?:Import|Module)\w*Error|\(HTTP 4|^\s*[1-9]\d* issues:|(?i)\bfailed to |^error|: error|^fatal: |parse error|No such file|undefined: |syntax error|command not found|ERROR task failed|conflict|✗|unknown (?:flag|command)`)
	noReading     = regexp.MustCompile(`(?i)error|not found|no such|does(?: not|n't) exist|no (?:files|match|events)|invalid|denied|fatal|unknown|failed|rejected|parse`)
	// Commands of shell that write a file.
	writesFile = regexp.MustCompile(`(?m)^(?:cat|echo|printf) [^|\n]*?>>? *([\w./-]+\.\w+)|^sed -i '[^'\n]*' ([\w./-]+)$|^(?:rm|touch) ([\w./-]+\.\w+)$`)
	piped      = regexp.MustCompile(`[|;\n]`)
)

// code returns the code that a step ended with.
func (s *recordedStep) code() (code string, known bool) {
	if m := coded.FindStringSubmatch(s.result); m != nil {
		return strings.Join(m[1:], ""), true
	}
	// Claude Code writes every code but 0.
	return "0", s.tool == "Bash" && s.event.outcome.Verdict != agent.Refused && !strings.HasPrefix(s.result, "<tool_use_error>")
}

func measure(c wiretest.Recorded) truth {
	var m truth
	r := NewRecord(compacttest.Bytes{})
	r.see(c.Messages, nil)
	steps := stepsOf(c, r)
	for i := range steps {
		s := &steps[i]
		m.edit(s, steps[i+1:])
		m.verdict(s)
	}
	m.readings(steps)
	m.users(c, r)
	return m
}

// edit judges what is told of the changes of a step.
func (m *truth) edit(s *recordedStep, later []recordedStep) {
	e := s.event
	yes, no := edited.MatchString(strings.TrimSpace(s.result)), unedited.MatchString(quote.First(s.result, 400))
	code, known := s.code()
	for k := range e.Changes {
		c := &e.Changes[k]
		told := e.Happened(c, e.outcome, &e.result)
		is, judged := yes && !no, yes || no
		if shown, ok := shownLater(c, later); ok {
			is, judged = shown, true
		} else if s.command != "" && known && (code == "0" || !strings.Contains(s.command, "&&")) {
			is, judged = code == "0" || c.How == agent.Written, true
		}
		if told && judged && !m.changes.count(is) {
			m.miss("no change", "%s %s → %s", s.tool, c.Path, s.result)
		}
	}
	var paths []string
	switch {
	case s.command != "" && known && code == "0":
		for _, w := range writesFile.FindAllStringSubmatch(withoutTexts(s.command), -1) {
			paths = append(paths, strings.Join(w[1:], ""))
		}
	case s.command == "" && yes && !no && s.tool != "open":
		paths = append(paths, "")
		for _, key := range []string{"path", "file_path", "filePath"} {
			if p, ok := s.args[key].(string); ok {
				paths[0] = p
			}
		}
	}
	for _, p := range paths {
		if !m.told.count(slices.ContainsFunc(e.Changes, func(c agent.Change) bool {
			return strings.HasSuffix(c.Path, p) && e.Happened(&c, e.outcome, &e.result)
		})) {
			m.miss("change not told", "%s %s: %s", s.tool, p, s.raw)
		}
	}
}

// withoutTexts returns a command without its here-documents.
func withoutTexts(command string) string {
	return regexp.MustCompile(`(?s)<<-? *['"]?EOF['"]?([^\n]*)\n.*?\nEOF\b`).ReplaceAllString(command, "$1")
}

// shownLater reports whether the next reading of a file shows a change. ok is false if
// there is none, or another change before it.
func shownLater(c *agent.Change, later []recordedStep) (is, ok bool) {
	fresh, gone := onlyIn(c.New, c.Old, 24), onlyIn(c.Old, c.New, 40)
	base := c.Path[strings.LastIndexByte(c.Path, '/')+1:]
	for i := range later {
		s := &later[i]
		if !strings.Contains(s.raw, base) {
			continue
		}
		if fresh != "" && strings.Contains(s.result, fresh) && s.event.Kind != agent.Edits {
			return true, true
		}
		if len(s.event.Changes) > 0 || fresh == "" || gone == "" {
			return false, false
		}
		if strings.Contains(s.result, gone) && s.event.Kind == agent.Reads {
			return false, true
		}
	}
	return false, false
}

// onlyIn returns a line of a that is not in b and longer than some bytes, so that it
// can be told from others.
func onlyIn(a, b string, longer int) string {
	for line := range strings.SplitSeq(a, "\n") {
		if line = strings.TrimSpace(line); len(line) > longer && !strings.Contains(b, line) {
			return line
		}
	}
	return ""
}
