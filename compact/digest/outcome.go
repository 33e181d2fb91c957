package digest

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// An outcome is how a step ended.
type outcome struct {
	verdict verdict
	says    string // a few words of the program, or the reason of a refusal
}

type verdict uint8

const (
	unknown verdict = iota
	passed
	failed
	refused // by the user
	missing // there is no result
)

// outcomeOf returns how an action ended, by what it returned.
func (a *action) outcomeOf(r *result) outcome {
	text := strings.TrimSpace(r.text)
	if why, ok := a.refusal(text); ok && (a.kind == edits || !r.coded) {
		return outcome{refused, why}
	}
	if r.session != "" && a.kind == runs { // it goes on
		return outcome{}
	}
	says, failure, quotes := "", "", a.kind == reads || a.kind == searches
	command := shellQuote.ReplaceAllString(strings.TrimSpace(a.command), "")
	one := !strings.ContainsAny(command, "|;\n")
	switch {
	case a.kind == runs && one && !strings.Contains(command, "&&") && showsState.MatchString(a.brief()):
		failure = a.onlyError(r)
	case a.kind == edits:
		return a.edited(r)
	case a.kind == runs, a.kind == other && a.tool == "":
		says, failure = lastWords(text)
		if ownError.MatchString(strings.TrimSpace(failure)) || failure != "" && failingSummary.MatchString(says) {
			says = ""
		} else if says != "" && failure != "" && !r.coded { // another program after the one that sums up
			return outcome{}
		}
		says = cmp.Or(OneLine(packageFailed.FindString(text), 140), says)
		if says == "" && failure == "" {
			says = OneLine(resultLine.FindString(text), 140)
		}
	case a.kind == other, quotes:
		failure = a.onlyError(r)
	}
	fails := failingSummary.MatchString(says) || failure != "" && says == ""
	switch {
	case r.coded && r.code == 1 && quotes:
		fails = failure != "" // else a search found nothing
	case r.coded && (r.code != 0 || quotes || one): // else it is the code of another program
		fails = r.code != 0 || strings.HasPrefix(says, "FAIL")
	}
	switch {
	case fails, r.failed:
		first, _, _ := strings.Cut(text, "\n")
		return outcome{failed, OneLine(cmp.Or(strings.TrimSpace(placed.FindString(text)), cmp.Or(says, cmp.Or(failure, first))), 200)}
	case quotes, !r.coded && says == "":
		return outcome{}
	}
	return outcome{passed, says}
}

// showsState finds commands that show how things are, failures among them.
var showsState = regexp.MustCompile(`^(?:sudo )?(?:gh (?:\w+ (?:view|list|status|diff)|api)\b|kubectl (?:get|describe|logs|top|events)\b|docker (?:compose )?(?:ps|logs|inspect|images)\b|systemctl (?:status|list-\S+)|journalctl\b|crontab -l|\S+ status$|mdadm (?:-D|--detail)|(?:psql|mysql|sqlite3|duckdb|bq)\b.*(?i:\bselect\b))`)

// What a result says of a refusal: a harness names what was refused, and of edits
// and questions a result is the harness's in any words.
var (
	refusedCall = regexp.MustCompile(`(?i)user (?:doesn't|does not) want to (?:proceed|take)|tool use was rejected|request interrupted by user|\[?user rejected\]|` +
		`user (?:has )?(?:rejected|denied|declined|refused|cancell?ed|disapproved)(?: permission to use| to (?:run|allow|execute|use))? (?:this|the) (?:specific )?(?:operation|tool|action|command|request|call)\b|user chose to skip|user did not allow|` +
		`^permission to (?:run|use) .{0,260}(?:denied by user|has been denied)|` +
		`^(?:tool|exec|command|operation|function|action|error|patch|\[)[\w :.]{0,40}(?:rejected|denied|declined|refused|cancell?ed|not approved|disapproved) by (?:the )?user|^user (?:denied|rejected|cancell?ed|declined)\W*$`)
	refusedEdit = regexp.MustCompile(`(?i)user (?:doesn't|does not|did not|didn't) want to|user (?:has )?(?:rejected|denied|declined|refused|cancell?ed|disapproved)|user chose not to|` +
		`(?:rejected|denied|declined|refused|cancell?ed|not approved|disapproved) by (?:the )?user`)
	refusalReason = regexp.MustCompile(`(?is)(?:the user said|provided the following (?:reason|feedback)[^:]{0,80}|reason(?: for (?:the )?rejection)?|feedback|said)\s*:\s*(?:<feedback>)?(.+)`)
)

// refusal returns why the user refused an action, as far as its result says so, and
// reports whether the user did.
func (a *action) refusal(text string) (why string, ok bool) {
	finds, head := refusedCall, firstBytes(text, 300)
	if a.kind == edits {
		finds = refusedEdit
	}
	if a.kind == reads || a.kind == searches || !containsAny(head, []string{"ser", "reject", "been denied"}) || strings.Contains(head, "utput so far") {
		return "", false
	}
	at := finds.FindStringIndex(head)
	if at == nil {
		return "", false
	}
	text = firstBytes(text[at[0]:], 4000)
	if m := refusalReason.FindStringSubmatch(text); m != nil {
		why = strings.TrimSuffix(strings.TrimSpace(m[1]), "</feedback>")
	} else if _, rest, ok := strings.Cut(text, ". "); ok && !containsAny(rest, []string{"STOP what you are doing", "DO NOT attempt"}) {
		why = rest
	}
	return OneLine(withoutElements(why), 900), true
}

// notEdited finds that an edit was not made.
var notEdited = regexp.MustCompile(`(?i)no replacement|(?:not|none of them|no edits|n't) (?:been |be |could be |were )?(?:applied|found|find|unique|exist|match|changed|performed|updated|made|allowed|edited|written|created|saved)|` +
	`multiple (?:matches|occurrences)|did not match|does(?: not|n't) (?:exist|match|appear)|already exists|modified since|has been (?:unexpectedly )?(?:modified|changed) since|must (?:be )?read|` +
	`not been read|\bfail|\berror|invalid|cannot|can't|unable|denied|rejected|refused|aborted|conflict|no (?:such|changes|[\w ]{0,24}\bmatch)|found \d+ (?:matches|occurrences)|not once|nowhere|\b0 (?:times|matches|occurrences)|nothing to|out of (?:range|bounds)|` +
	`not a valid|outside|is a directory|read-only|permission|cancel|timed out|<tool_use_error>|Fehler|失败|失敗|错误|エラー|見つかり|找不到`)

// isEdited finds that an edit was made.
var isEdited = regexp.MustCompile(`(?i)\b(?:success|successful|successfully|updated|applied|edited|wrote|written|created|saved|replaced|done|inserted|deleted|removed|modified|moved|renamed|copied|restored|reverted|undid|undone|ok)\b|has been|^A |^M |^\[File: |Here's the result|<file_edit|\bpatched\b|成功|更新`)

// waits finds that an edit is not made yet.
var waits = regexp.MustCompile(`(?i)\b(?:will be (?:applied|made|written)|queued|awaiting|pending)\b`)

// someEdits finds how many of the edits of a call were made.
var someEdits = regexp.MustCompile(`\b(\d+)(?: of |/)(\d+) (?:edits?|changes?|hunks?|blocks?|diffs?|replacements?)\b`)

// openFile finds the name of the file that an editor has open.
var openFile = regexp.MustCompile(`(?m)^\[File: (\S+) \(`)

// edited returns whether an edit was made, by the first words of its result.
func (a *action) edited(r *result) outcome {
	head, _, _ := strings.Cut(strings.TrimLeft(firstBytes(r.text, 240), "\n"), "\n\n")
	if m := openFile.FindStringSubmatch(firstBytes(r.text, 1000)); m != nil && len(a.changes) == 0 {
		a.changes = []change{{path: m[1], how: changed}}
	}
	line, _, _ := strings.Cut(head, "\n")
	for _, c := range a.changes { // a path may say anything
		line = strings.ReplaceAll(line, c.path, "")
	}
	line = noFailure.ReplaceAllString(line, "")
	not, yes := notEdited.FindStringIndex(line), isEdited.FindStringIndex(line)
	if yes == nil && len(r.text) <= 600 {
		not = notEdited.FindStringIndex(head)
	}
	if m := someEdits.FindStringSubmatch(line); !r.failed && (m != nil && m[1] != "0" && m[1] != m[2] || partly.MatchString(head)) { // nobody knows which
		for k := range a.changes {
			a.changes[k] = change{path: a.changes[k].path, how: changed}
		}
		return outcome{passed, OneLine(head, 200)}
	}
	if r.failed || r.coded && r.code != 0 || not != nil && (yes == nil || not[0] < yes[1]+24) {
		return outcome{failed, OneLine(head, 200)}
	}
	if (yes == nil || waits.MatchString(line)) && strings.TrimSpace(line) != "" && len(r.text) <= 600 && !hunks.MatchString(r.text) && !onlyLines.MatchString(r.text) { // who knows
		return outcome{unknown, OneLine(head, 200)}
	}
	return outcome{verdict: passed}
}

// happened reports whether an action made a change. A command that fails may have
// made it before: it did not if the shell or the program that changes files
// complains. A text for the shell to write is written before a program fails.
func (a *action) happened(c *change, o outcome, r *result) bool {
	switch {
	case o.verdict == refused, o.verdict == missing:
		return false
	case a.kind == edits:
		return o.verdict == passed
	case o.verdict != failed:
		return true
	case c.how == written, c.how == inserted:
		return !shellComplains.MatchString(firstBytes(r.text, 1000))
	}
	return !complains.MatchString(firstBytes(r.text, 1000)) && !complains.MatchString(lastBytes(r.text, 400))
}

var (
	shellComplains = regexp.MustCompile(`(?m)^(?:/?(?:\w+/)*(?:bash|sh|zsh)|cat|tee)\b: `)
	complains      = regexp.MustCompile(`(?m)^(?:/?(?:\w+/)*(?:bash|sh|zsh)|sudo|sed|perl|tee|cp|mv|rm|cat|touch|patch|install|git|apply_patch)\b: |^error: |patch does not apply|^fatal: |^Traceback |Invalid patch|command not found`)
)

// failureNeedles are in every line that can be a failure.
var failureNeedles = []string{
	"rror", "ERR", "FAIL", "ail", "atal", "anic", "xception", "enied", "ot found", "o such", "ot exist", "annot", "an't", "ndefined", "imed out", "IMEDOUT", "imeout", "illed", "egmentation",
	"CONFLICT", "required", "✗", "✕", "✘", "×", "●", "not ok", "Fehler", "fehlgeschlagen", "エラー", "失敗", "错误", "失败", "erreur", "efused", "bort", "rejected", "HTTP", "Forbidden", "nauthorized", "mismatch", "o space", "of memory", "ore dumped", "E  ",
}

// failureLine finds lines by which programs say that they failed.
var failureLine = regexp.MustCompile(`(?:^|[\s:\[(*>|])(?:(?:[a-z_]\w*\.)*[A-Z]\w*(?:\.\w+)*(?:Error|Exception)\b(?::|$|\[| in | at |\()|[Ee]rror(?:\[\w+\]| \w+\d+)?:|Error [1-9]|ERROR\b|ERR!|E[A-Z]{4,}\b:|` +
	`FAIL(?:ED|URE)?\b|[Ff]ailed\b|[Ff]ailure\b|failing\b|[Ff]atal(?: error)?:|FATAL\b|panic:|[Pp]anicked at|Exception in thread|[Pp]ermission denied|[Aa]ccess denied|not found\b|[Nn]o such file|[Dd]oes not exist|doesn't exist|` +
	`[Cc]annot \w+|[Cc]an't \w+|[Uu]ndefined (?:reference|symbol|variable|method|name)|undefined:|[Tt]imed out|[Tt]imeout|ETIMEDOUT|[Kk]illed\b|[Ss]egmentation fault|CONFLICT\b|not ok\b|[Cc]onnection refused|[Aa]bort(?:ed|ing)\b|` +
	`[Rr]efused\b|\[rejected\]|HTTP(?:/[\d.]+)? ?(?:[Ee]rror )?[45]\d\d|(?:status|code)(?: code)?:? [45]\d\d|Forbidden\b|Unauthorized\b|mismatch\b|password is required|[Nn]o space left|[Oo]ut of memory|core dumped|Fehler\b|fehlgeschlagen|[Ee]rreur\b)` +
	`|^npm error |^(?:\S+: )?[Ee]rror(?: from| response| in| at| while| during)|^\s*[✗✕✘×●] \S|エラー|失敗|错误|失败|^E  +assert\b|^(?:\S+): error\b`)

// noFailure finds what looks like a failure and is none.
var noFailure = regexp.MustCompile(`(?i)^WARN(?:ING)?\b|complete log of|should have failed|\bfail(?:ed|ures?)?(?:(?: \w+)? ?[:=] *| +)0 *(?:$|[|(])|│ *failed *│|\b(?:0|no|without) (?:errors?|fail(?:ed|ures?)|warnings?)|(?:errors?|failures?|failed|fail)[:=] *(?:0\b|\(?(?:none|null|nil|no|false)\)?\s*(?:$|[,;|}\])]))|✓|--- PASS|\bPASS(?:ED\b|: *[a-z])|^ok\s|=== RUN|\.\.\. ok$|error handling|if err|^\s*(?://|#|\*)|except \w+|^\s*\w+(?:(?:  +|\t| ?\| ?)-?[\d.,]+%?)+\s*$`)

// isFailure reports whether a line of a program's output says that something
// failed.
func isFailure(line string) bool {
	line = firstBytes(line, 2000)
	for _, n := range failureNeedles {
		if strings.Contains(line, n) {
			return failureLine.MatchString(line) && !noFailure.MatchString(line) && !sourceLine.MatchString(line)
		}
	}
	return false
}

// sourceLine finds lines of source code or of a diff that hold an error, rather than
// are one.
var sourceLine = regexp.MustCompile(`^\s*(?:\+|-[^ -]|--[^-]|(?:return|raise|throw|except|catch|try|import|from|func|def|class|const|let|var|type|assert|expect|self|this)\b(?:[^:]|:\S)*:?$)|(?:\{|",)\s*$|[=(].*;\s*$`)

// lastLines returns the last lines of an output, the last first.
func lastLines(text string, n int) []string {
	lines := strings.Split(lastBytes(strings.TrimRight(text, "\n"), 2000), "\n")
	lines = lines[max(0, len(lines)-n):]
	slices.Reverse(lines)
	return lines
}

// clock finds a time of day, as in lines of a log. A program that logs an error may
// go on.
var clock = regexp.MustCompile(`\d\d:\d\d:\d\d`)

// summaryLine finds the line in which a program sums up how it went.
var summaryLine = regexp.MustCompile(`(?i)(?:^|[^:.,\w])\d+ (?:(?:passed|fail|failed|passing|failing|failures?|errors?|issues?|problems?|warnings?)\b|tests?(?:$|[^\w ]| (?:in|run|ran|ok|were|passed|failed|completed?|successful|total)\b))|(?-i:^FAIL(?:ED)?\b|^(?:OK|PASS(?:ED)?)(?:$|[^:\w]))|^test result:|^Tests:|^build (?:succeeded|failed|success)|^Finished \x60|^(?:Plan: \d|(?:Apply|Destroy) (?:complete!|cancelled))|^(?:Passed|Failed)! |^# fail [1-9]|^No tests found, exiting with code [1-9]|^ok\s+\S+\s|` +
	`^FAIL\s+\S+|\b[Cc]ompiled successfully|^make: \*\*\*|^\[[\w./-]+(?: \(root-commit\))? [0-9a-f]{7,}\]|Successfully (?:installed|built|tagged)|\bnothing to commit|Everything up-to-date`)

// lastWords returns the last line near the end of an output that sums it up, and a failure
// that stands after it.
func lastWords(text string) (says, failure string) {
	for k, l := range lastLines(text, 12) {
		switch t := strings.Trim(l, " =-\t*"); {
		case len(t) < 200 && summaryLine.MatchString(t):
			if len(says) <= len("FAILED") || failingSummary.MatchString(t) && !failingSummary.MatchString(says) {
				says = cmp.Or(OneLine(t, 140), says)
			}
		case k < 6 && says+failure == "" && isFailure(l) && !clock.MatchString(l) && !strings.HasSuffix(t, ":"):
			failure = l
		}
	}
	return says, failure
}

var (
	// resultLine finds the line in which a program says how all went.
	resultLine = regexp.MustCompile(`(?m)\b(?:RESULT|(?:(?i:overall|final|test) )?(?:Result|Status)|Verdict)S?: *(?i:pass|fail|success|ok\b).*`)
	// packageFailed finds a package whose tests failed: others may pass after it.
	packageFailed = regexp.MustCompile(`(?m)^FAIL[ \t]+[\w.-]+/\S+.*`)
	// placed finds a line that names a test that failed, or the place or the code of an error.
	placed = regexp.MustCompile(`(?m)^[ \t]*(?:--- FAIL: |FAILED \S+[:.]|FAIL: |! \[(?:remote )?rejected\] |[✕✗✘×] |not ok |FAIL +\S+ > |● .* › |error\[\w+\]: |\[ERROR\] +[\w./]+:\[?\d|Failed [\w.]+ \[|\S+\.\w+[:(]\d+(?:[:,]\d+)?\)?: (?:fatal |syntax )?error\b|test \S+ \.\.\. FAILED|[\w.$]+ > .* FAILED$).*`)
	// totals finds lines that count failures or say where more is told.
	totals         = regexp.MustCompile(`(?i)could not compile|previous errors?\b|\bsee the (?:report|log)|^FAILURE: |^build fail|^execution failed for task|^\* |^make(?:\[\d+\])?: \*\*\*|^npm (?:err!|error)(?: code| errno| lifecycle| a complete|$)|^Tests:|\b\d+ (?:failed|failures?|errors?)\b|^\W*(?:FAIL(?:ED|URES?)?|failures):?\W*$|for more information|--> run with|^FAIL\s+[\w./-]+\s+[\d.]+s$`)
	failingSummary = regexp.MustCompile(`(?i)(?:^|[^:.,\w])[1-9]\d* (?:(?:fail|failed|failing|failures?|errors?|problems? \([1-9]\d* errors?)\b|issues?:)|(?-i:^FAIL)|^build failed|^\w+: fail|^# fail|^No tests found|^Failed! |(?:Apply|Destroy) cancelled|^make: \*\*\*|test result: FAILED|Tests:.*\b[1-9]\d* failed`)
)

// mostErrorLines is how many lines a result has at most that is nothing but an error.
const mostErrorLines = 16

// onlyError returns the first line of a result that is nothing but an error, or "".
// What was read, found or asked for is data, and may speak of errors: an object is an
// error by its values, a text by the words of a tool or of the command.
func (a *action) onlyError(r *result) string {
	line, rest, _ := strings.Cut(strings.TrimSpace(r.text), "\n")
	program, most := ofProgram.FindStringSubmatch(line), mostErrorLines
	if a.kind == reads {
		most = 4
	}
	switch {
	case r.object == failed && a.command == "" && a.kind != reads,
		r.object == unknown && strings.Count(rest, "\n") < most && (ownError.MatchString(line) && (a.command == "" || a.kind == searches) ||
			program != nil && (shells[program[1]] || slices.ContainsFunc(shellCommands(a.brief()), func(c shellCommand) bool {
				return len(c.words) > 0 && c.words[0][strings.LastIndexByte(c.words[0], '/')+1:] == program[1]
			}))):
		return line
	}
	return ""
}

var (
	shells = setOf("sh bash zsh dash fish")
	// ofProgram finds a complaint of a program of shell.
	ofProgram = regexp.MustCompile(`^(?:[\w.-]*/)*([\w-]+): \S`)
	// ownError finds the beginnings of errors as tools write them.
	ownError = regexp.MustCompile(`^(?:<(?:tool_use_)?error>|(?:(?:MCP|API|HTTP|Tool|Execution|Validation) )?(?i:error)(?: (?:\w+ing|in|from|code|during|when|calling)\b[^:\n]{0,60})?(?:\[\w+\])?(?::| -?\d)|` +
		`(?:[a-z_]\w*\.)*[A-Z]\w*(?:Error|Exception)(?::|\()|(?:ENOENT|EACCES|EPERM|EISDIR|ENOTDIR|EEXIST|ECONN\w+|ETIMEDOUT)\b|fatal: |panic: |[Nn]o such \w+|[Uu]nknown tool|[Ii]nvalid (?:tool|arg|param|input|request|path)\w*\b|` +
		`(?:[Pp]ermission|[Aa]ccess) denied(?:[:.,]| to\b|$)|(?i:(?:the )?(?:file|path|directory|folder)\b.{0,200}(?:not found|(?:does not|doesn't) exist))[.!]?(?::|$)|(?i:request|execution|tool(?: call| execution)?|command|operation|query) failed\b|` +
		`HTTP(?:/[\d.]+)? ?(?:[Ee]rror )?[45]\d\d\b|[45]\d\d (?:Client Error|Server Error|Bad |Unauthorized|Forbidden|Not Found|Too Many|Internal|Service)|(?:Fehler|エラー|錯誤|错误|失敗|失败|[Ee]rreur)(?::|：))`)
)

// ReportsFailure reports whether a result reports a failure.
func ReportsFailure(text string) bool {
	r := resultOf(text, runs)
	says, failure := lastWords(r.text)
	return r.coded && r.code != 0 || failingSummary.MatchString(says) || strings.Contains(failure, ":") || failure == "" && (&action{}).onlyError(&r) != ""
}
