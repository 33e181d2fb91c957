package agent

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"laconic/compact/quote"
)

// An Outcome is how a step ended.
type Outcome struct {
	Verdict Verdict
	Says    string // a few words of the program, or the reason of a refusal
}

// A Verdict says how a step ended. Those above [Passed] did not end well.
type Verdict uint8

const (
	Unknown Verdict = iota
	Passed
	Failed
	Refused // by the user
)

// OutcomeOf returns how an action ended, by what it returned. What was read, found or asked for
// is data, and may speak of errors: an object is an error by its values, a text by the words of
// a tool or of the shell, if it is nothing else.
func (a *Action) OutcomeOf(r *Result) Outcome {
	text := strings.TrimSpace(r.Text)
	if why, ok := a.refusal(text, r.Failed); ok && (a.Kind == Edits || !r.Coded) {
		return Outcome{Refused, why}
	}
	if r.Running != "" {
		return Outcome{}
	}
	says, fails := "", false
	line, rest, _ := strings.Cut(text, "\n")
	short := r.Object == Unknown && strings.Count(rest, "\n") < 4
	switch {
	case a.Kind == Edits:
		return a.edited(r)
	case a.Kind == Runs && !a.Shows:
		says, fails = summaryOf(text)
	case a.Kind > Runs && a.Kind != Tracks:
	case a.Command != "":
		fails = short && (shellComplains.MatchString(line) || strings.HasPrefix(line, "fatal: "))
	default:
		fails = short && (ownError.MatchString(line) || a.Tool != "" && strings.Contains(line, "'"+a.Tool+"' ") && barred.MatchString(line)) || r.Object == Failed && a.Kind != Reads
	}
	was := fails
	joins := strings.ContainsAny(shellQuote.ReplaceAllString(strings.TrimSpace(a.Command), ""), "|;\n")
	if r.Coded && (r.Code != 0 || !joins) && (r.Code != 1 || a.Kind != Searches) { // else it is the code of another program, or of a search that found nothing
		fails = r.Code != 0 || strings.HasPrefix(says, "FAIL")
	}
	if fails = fails || r.Failed; fails != was {
		says = ""
	}
	switch {
	case fails:
		if raised := traceback.FindAllStringSubmatch(text, -1); r.Object == Failed {
			line = text
		} else if len(raised) > 0 {
			line = raised[len(raised)-1][1]
		} else if last, _, _ := strings.Cut(strings.TrimSpace(text[strings.LastIndexByte(strings.TrimRight(text, " =-_*\n"), '\n')+1:]), "\n"); a.Kind == Runs && !strings.HasPrefix(last, "+ ") { // a program ends with what counts, PowerShell begins with it
			line = last
		}
		return failedWith(cmp.Or(strings.TrimSpace(placed.FindString(text)), says, line))
	case a.Kind == Reads, a.Kind == Searches, !r.Coded && says == "":
		return Outcome{}
	}
	return Outcome{Passed, says}
}

func failedWith(says string) Outcome {
	return Outcome{Failed, quote.OneLine(WithoutToolError(says), 200)}
}

// WithoutToolError returns a result without the marks around an error of a tool.
func WithoutToolError(text string) string {
	return strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(text), "<tool_use_error>"), "</tool_use_error>")
}

// What a result says of a refusal: a harness names what was refused.
var (
	refusedCall = regexp.MustCompile(`(?i)user (?:doesn't|does not) want to proceed|tool use was rejected|request interrupted by user|user did not allow|^\[operation cancelled\] reason: user denied execution|` +
		`user (?:has )?(?:rejected|denied|declined|cancell?ed)(?: to run)? (?:this|the) (?:terminal )?(?:operation|tool|action|command|call|edit|change|file)s?\b|` +
		`^permission to (?:run|use) .{0,260}(?:denied by user|has been denied)|^(?:tool|exec|command|operation|\[)[\w :.]{0,40}(?:rejected|denied|declined|cancell?ed) by (?:the )?user`)
	refusalReason = regexp.MustCompile(`(?is)^(?:.*?(?:the user said|provided the following (?:reason|feedback)[^:]{0,80}|reason(?: for (?:the )?rejection)?|feedback|said)\s*:\s*(?:<feedback>)?(.+)|.*?\. (.+))`)
)

// refusal returns why the user refused an action, as far as its result says so, and
// reports whether the user did.
func (a *Action) refusal(text string, failed bool) (why string, ok bool) {
	head := quote.First(text, 300)
	if !containsAny(strings.ToLower(head), []string{"use", "denied"}) {
		return "", false
	}
	at := refusedCall.FindStringIndex(head)
	ofFile := a.Kind == Reads || a.Kind == Searches && a.Command == "" // whose words they may be
	if at == nil || ofFile && !failed || strings.Contains(head, "utput so far") {
		return "", false
	}
	m := refusalReason.FindStringSubmatch(quote.First(text[at[0]:], 4000))
	if m != nil && !containsAny(m[1]+m[2], []string{"STOP what you are doing", "DO NOT attempt", "User denied execution"}) {
		why = strings.TrimSuffix(strings.TrimSpace(m[1]+m[2]), "</feedback>")
	}
	return quote.OneLine(WithoutElements(why, true), 900), true
}

// What a result says of an edit.
var (
	// notEdited finds that it was not made, and isEdited that it was.
	notEdited = regexp.MustCompile(`(?i)no replacement|(?:not|none of them|no edits|n't) (?:been |be |could be |were )?(?:applied|found|find|unique|exist|match|changed|performed|updated|made|allowed|edited|written|created|saved)|` +
		`multiple (?:matches|occurrences)|did not match|does(?: not|n't) (?:exist|match|appear)|already exists|modified since|has been (?:unexpectedly )?(?:modified|changed) since|must (?:be )?read|` +
		`not been read|\bfail|\berror|invalid|cannot|can't|unable|denied|rejected|refused|aborted|conflict|no (?:such|changes|[\w ]{0,24}\bmatch)|found \d+ (?:matches|occurrences)|occurs \d+ times|not once|nowhere|\b0 (?:times|matches|occurrences)|nothing to|out of (?:range|bounds)|` +
		`not a valid|outside|is a directory|nothing written|\b0 files|not done|no file was|\b(?:edit|change|file|write|patch)s?\b[^.;,]{0,60} (?:blocked|skipped|prevented)|(?:reverted|rolled back|undone) automatically|automatically (?:reverted|rolled back|undone)|read-only|permission|cancel|timed out|<tool_use_error>|Fehler|失败|失敗|错误|エラー|見つかり|找不到`)
	isEdited = regexp.MustCompile(`(?i)\b(?:success|successful|successfully|updated|applied|edited|wrote|written|created|saved|replaced|done|inserted|deleted|removed|modified|moved|renamed|copied|restored|reverted|undid|undone|ok)\b|has been|made the following changes|^A |^M |^\[File: |Here's the result|<file_edit|\bpatched\b|成功|更新`)
	// doubtful finds that it is not made yet, or was made otherwise than the call says, or in part,
	// someEdits how many of the edits of a call were made, and notAll that one of them was not.
	doubtful  = regexp.MustCompile(`(?i)\A.*\b(?:will be (?:applied|made|written)|queued|awaiting|waiting for|pending|dry run)\b|user_edits[:>]|\buser made the following (?:updates|changes|edits)|\buser (?:has )?modified (?:your\b|the .(?:content|new_string)\b)|unable to apply all|\bpartially (?:applied|updated)|部分(?:更新|应用|成功|完成)|处成功.{0,4}[1-9]\d* 处失败`)
	someEdits = regexp.MustCompile(`\b([1-9]\d*)(?: of |/)(\d+) (?:edits?|changes?|hunks?|blocks?|diffs?|replacements?)\b`)
	notAll    = regexp.MustCompile(`(?i)\bfail|not applied|not found|no match|reverted|rolled back|undone|rejected|skipped`)
	// nought finds that an object counts nothing.
	nought = regexp.MustCompile(`: (?:0|false|null)\b`)
	// openFile finds the name of the file that an editor has open.
	openFile = regexp.MustCompile(`(?m)^\[File: (\S+) \(`)
)

// edited returns how an edit ended, by the first words of its result. A path may say anything.
func (a *Action) edited(r *Result) Outcome {
	head, _, _ := strings.Cut(strings.TrimLeft(quote.First(r.Text, 240), "\n"), "\n\n")
	if m := openFile.FindStringSubmatch(quote.First(r.Text, 1000)); m != nil && len(a.Changes) == 0 {
		a.add(Change{Path: m[1], How: Changed})
	}
	words := head
	for _, c := range a.Changes {
		words = strings.ReplaceAll(words, c.Path, "")
	}
	line, _, _ := strings.Cut(words, "\n")
	line = noFailure.ReplaceAllString(line, "")
	not, yes, short := notEdited.FindStringIndex(line), isEdited.FindStringIndex(line), len(r.Text) <= 600
	if yes == nil && short {
		not = notEdited.FindStringIndex(head)
	}
	_, more, _ := strings.Cut(r.Text, "\n")
	m := someEdits.FindStringSubmatch(line)
	switch {
	case r.Failed:
	case doubtful.MatchString(words), yes != nil && m != nil && m[1] != m[2],
		len(a.Changes) > 1 && yes != nil && len(more) < 4000 && notAll.MatchString(more): // nobody knows which
		return Outcome{Unknown, quote.OneLine(r.Text, 200)}
	case r.Coded && r.Code != 0, not != nil && (yes == nil || not[0] < yes[1]+24):
	case yes == nil && strings.TrimSpace(line) != "" && short && !strings.Contains(r.Text, "@@ -") && (r.Object != Passed || nought.MatchString(r.Text)): // who knows
		return Outcome{Unknown, quote.OneLine(head, 200)}
	default:
		return Outcome{Verdict: Passed}
	}
	return failedWith(head)
}

// Happened reports whether an action made a change. A command that fails may have made it
// before that. It did not if the only line of its output says so, or is one of commands that
// print nothing when they work, or if the shell or the program that changes files complains.
// A text for the shell to write is written before a program fails.
func (a *Action) Happened(c *Change, o Outcome, r *Result) bool {
	text := strings.TrimSpace(r.Text)
	switch {
	case o.Verdict == Refused:
		return false
	case a.Kind == Edits:
		return o.Verdict == Passed
	case strings.HasPrefix(text, "<tool_use_error>"), r.Unrun, len(text) < 300 && strings.IndexByte(text, '\n') < 0 && (!r.Coded || r.Code != 0) && (heldBack.MatchString(text) ||
		a.mute && text != "" && !isEdited.MatchString(text) && !noOutput.MatchString(text)):
		return false
	case o.Verdict != Failed:
		return true
	case c.last:
		return false
	case c.Old == "" && c.New != "":
		return !shellComplains.MatchString(quote.First(r.Text, 1000))
	}
	return !complains.MatchString(quote.First(r.Text, 1000)) && !complains.MatchString(lastBytes(r.Text, 400))
}

// Perhaps reports whether an action may have made a change of which nobody knows that it happened.
func (a *Action) Perhaps(c *Change, o Outcome, r *Result) bool {
	return (o.Verdict == Unknown || c.last && !r.Coded) && !heldBack.MatchString(r.Text)
}

var (
	// heldBack finds that a harness did not run a command, and complains that one of its programs
	// did not work.
	heldBack = regexp.MustCompile(`(?i)^<tool_use_error>|^execution error: io\(|\brequires? (?:\w+ )?approval\b|\bwaiting for (?:the )?(?:user(?:'s)? )?approval|` +
		`^\W*(?:error: )?(?:the |this |your )?(?:\w+ )?(?:command|tool|call|operation)\b[^,;\n]{0,60}\b(?:blocked|rejected|denied|cancell?ed|not (?:allowed|approved|executed|run))\b|^user (?:cancell?ed|rejected|denied)`)
	// mute are commands that print nothing if they work, and noOutput finds how harnesses say so.
	mute           = setOf("rm unlink mv git-mv cp install ln touch mkdir rmdir chmod chown cd sed perl sponge true")
	noOutput       = regexp.MustCompile(`(?i)\b(?:no|without) (?:any )?(?:std)?(?:out|output|errors?)\b|^\W*(?:none|null)\W*$|\bcwd\b|\b(?:completed|executed|finished|succe\w+|empty|no content)\b`)
	shellComplains = regexp.MustCompile(`(?m)^(?:/?(?:\w+/)*(?:bash|sh|zsh)|cat|tee)\b: |FullyQualifiedErrorId`)
	complains      = regexp.MustCompile(`(?m)^(?:Add|Copy|Get|Move|New|Out|Remove|Rename|Set|Test)-[A-Z]\w+ ?: |^(?:/?(?:\w+/)*(?:bash|sh|zsh)|sudo|sed|perl|tee|cp|mv|rm|cat|touch|patch|install|git|apply_patch)\b: |^error: |patch does not apply|^fatal: |FullyQualifiedErrorId|^Traceback |Invalid patch|command not found`)
)

var (
	// failureNeedles are in every line that can be a failure: most lines have none.
	failureNeedles = []string{
		"rror", "ERR", "FAIL", "ail", "atal", "anic", "xception", "enied", "ot found", "o such", "ot exist", "annot", "an't", "ndefined", "imed out", "IMEDOUT", "imeout", "illed", "egmentation",
		"CONFLICT", "required", "✗", "✕", "✖", "✘", "×", "●", "not ok", "Fehler", "fehlgeschlagen", "エラー", "失敗", "错误", "失败", "erreur", "efused", "bort", "rejected", "HTTP", "E: ", "unrecognized", "Forbidden", "nauthorized", "mismatch", "o space", "of memory", "ore dumped", "E  ", "- alert",
	}

	// failureLine finds lines by which programs say that they failed.
	failureLine = regexp.MustCompile(`(?:^|[\s:\[(*>|])(?:(?:[a-z_]\w*\.)*[A-Z]\w*(?:\.\w+)*(?:Error|Exception)\b(?::|$|\[| in | at |\()|[Ee]rror(?:\[\w+\]| \w+\d+)?:|Error [1-9]|ERROR\b|ERR!|E[A-Z]{4,}\b:|` +
		`FAIL(?:ED|URE)?\b|[Ff]ailed\b|[Ff]ailure\b|failing\b|[Ff]atal(?: error)?:|FATAL\b|panic:|[Pp]anicked at|Exception in thread|[Pp]ermission denied|[Aa]ccess denied|not found\b|[Nn]o such file|[Dd]oes not exist|doesn't exist|` +
		`[Cc]annot \w+|[Cc]an't \w+|[Uu]ndefined (?:reference|symbol|variable|method|name)|undefined:|[Tt]imed out|[Tt]imeout|ETIMEDOUT|[Kk]illed\b|[Ss]egmentation fault|CONFLICT\b|not ok\b|[Cc]onnection refused|[Aa]bort(?:ed|ing)\b|` +
		`[Rr]efused\b|\[rejected\]|HTTP(?:/[\d.]+)? ?(?:[Ee]rror )?[45]\d\d|(?:status|code)(?: code)?:? [45]\d\d|Forbidden\b|Unauthorized\b|mismatch\b|password is required|[Nn]o space left|[Oo]ut of memory|core dumped|Fehler\b|fehlgeschlagen|[Ee]rreur\b)` +
		`|^[a-z_]\w*\.error: [(\[]|^npm error |^(?:\S+: )?[Ee]rror(?: from| response| in| at| while| during)|^\s*[✗✕✖✘×●] \S|^\s*- alert\b|エラー|失敗|错误|失败|^E  +assert\b|^(?:\S+): error\b|^E: [A-Z][a-z]+ [a-z]|: unrecognized service$`)
	// noFailure finds lines that look like failures and are none.
	noFailure = regexp.MustCompile(`(?i)^WARN(?:ING)?\b|\(ignored\)|\bNOTICE: |, (?:skipping|ignoring|creating|using|building|falling back)\b|\(timeout |complete log of|should have failed|\bwould be |^failed (?:logins|attempts): \d|\bfail(?:ed|ures?)?(?:(?: \w+)? ?[:=] *| +)0 *(?:$|[|(])|│ *failed *│|(?:^| )[a-oq-z]\w*=[\d.]+ (?:failed|errors)=\d+ \w|\b(?:0|no|without) (?:errors?|fail(?:ed|ures?)|warnings?)|(?:errors?|failures?|failed|fail)[:=] *(?:0\b|\(?(?:none|null|nil|no|false)\)?\s*(?:$|[,;|}\])]))|✓|✔|--- PASS|\bPASS(?:ED\b|: *[a-z])|^ok\s|=== RUN|\.\.\. ok$|\w(?:Error|Exception): \d+$|^-- Looking for|^checking (?:for|whether) |error handling|if err|^\s*(?://|#|\*)|except \w+|^\s*\w+(?:(?:  +|\t| ?\| ?)-?[\d.,]+%?)+\s*$`)
	// sourceLine finds lines of source code or of a diff that hold an error, rather than
	// are one.
	sourceLine = regexp.MustCompile(`^\s*(?:\+|-[^ -]|--[^-]|(?:return|raise|throw|except|catch|try|import|from|func|def|class|const|let|var|type|assert|expect|self|this)\b(?:[^:]|:\S)*:?$)|(?:\{|",)\s*$|[=(].*;\s*$`)
)

// IsFailure reports whether a line of a program's output says that something
// failed.
func IsFailure(line string) bool {
	line = quote.First(line, 2000)
	return containsAny(line, failureNeedles) && failureLine.MatchString(line) && !noFailure.MatchString(line) && !sourceLine.MatchString(line)
}

// IsPlaced reports whether a line names a test that failed, or the place or the code of an error.
func IsPlaced(line string) bool { return placed.MatchString(line) && !noFailure.MatchString(line) }

// committed matches how git tells of a commit.
const committed = `^\[[\w./-]+(?: \(root-commit\))? [0-9a-f]{7,}\]`

// IsCommit reports whether a line is how git tells of a commit.
func IsCommit(line string) bool { return commit.MatchString(line) }

var commit = regexp.MustCompile(committed)

// summaryOf returns what an output says of how all went, in one of its last lines, or a
// failure that stands there, and whether something failed: not both, for the failure may be
// another program's.
func summaryOf(text string) (says string, fails bool) {
	if end := ended.FindString(text); end != "" {
		return end, true
	}
	failure, lines := "", strings.Split(lastBytes(text, 2000), "\n")
	lines = lines[max(0, len(lines)-12):]
	for k, l := range slices.Backward(lines) {
		t := strings.Trim(l, " =-\t*")
		switch m := summaryLine.FindStringSubmatch(t); {
		case strings.Contains(t, "ttempt "): // there may be others
		case m != nil && len(t) < 200:
			if bad := m[1] != "" && !mended.MatchString(t); len(says) <= len("FAILED") || bad && !fails {
				says, fails = quote.OneLine(t, 140), bad
			}
		case k >= len(lines)-6 && says+failure == "" && IsFailure(l) && (!clock.MatchString(l) || ownError.MatchString(t)) && !strings.HasSuffix(t, ":"):
			failure = l
		}
	}
	switch {
	case failure == "" && says == "" && !applied.MatchString(text):
		return planned.FindString(text), false
	case failure == "":
		return says, fails
	case says == "", fails, ownError.MatchString(strings.TrimSpace(failure)):
		return failure, true
	}
	return "", false
}

var (
	// summaryLine finds the line in which a program sums up how it went, and in it that something
	// failed.
	summaryLine = regexp.MustCompile(`(?i)^(.*?(?:^|[^:.,=\w])[1-9]\d* (?:(?:fail|failed|failing|failures?|errors?|problems? \([1-9]\d* errors?)\b|issues?:)|(?-i:FAIL(?:ED)?\b)|build failed|\[FAILED\] Took |(?-i:[#ℹ] (?:fail|cancelled) [1-9]\d*$)|No tests found, exiting with code [1-9]|Failed! |(?:Apply|Destroy) cancelled|make: \*\*\*|test result: FAILED|Tests:.*\b(?:[1-9]\d* failed|(?:Errors|Failures): [1-9]))|` +
		`(?:^|[^:.,=\w])\d+ (?:(?:passed|fail|failed|passing|failing|failures?|errors?|issues?|problems?|warnings?)\b|tests?(?:$|[^\w ]| (?:in|run|ran|ok|were|passed|failed|completed?|successful|total)\b))|(?-i:^(?:OK|PASS(?:ED)?)(?:$|[^:\w]))|^test result:|^Tests:|^build succ|^Finished \x60|^(?:Plan: \d|(?:Apply|Destroy) complete!)|^Passed! |^\[SUCCESS\] Took |(?-i:^[#ℹ] pass [1-9]\d*$)|^ok\s+\S+\s|` +
		`\b[Cc]ompiled successfully|` + committed + `|Successfully (?:installed|built|tagged)|\bnothing to commit|Everything up-to-date`)
	// planned finds what Terraform says that it would do, far above the end, and applied that it does.
	planned = regexp.MustCompile(`(?m)^Plan: \d+ to \w+, .*`)
	applied = regexp.MustCompile(`: (?:Creat|Modify|Destroy)ing\.\.\.`)
	// ownError finds the beginnings of errors as tools write them.
	ownError = regexp.MustCompile(`^(?:<(?:tool_use_)?error>|(?:(?:MCP|API|HTTP|Tool|Execution|Validation) )?(?i:error)(?: (?:\w+ing|in|from|code|during|when|calling)\b[^:\n]{0,60})?(?:\[\w+\])?(?::| -?\d)|` +
		`(?:[a-z_]\w*\.)*[A-Z]\w*(?:Error|Exception)(?::|\()|(?:fatal|(?:ba|z|da)?sh): |panic: |[Nn]o such \w+|(?i:denied|rejected|declined|refused|blocked) by \S|` +
		`(?:[Pp]ermission|[Aa]ccess) denied(?:[:.,]|$)|(?i:(?:the )?(?:file|path|directory|folder)\b.{0,200}(?:not found|(?:does not|doesn't) exist))[.!]?(?::|$)|` +
		`(?:HTTP(?:/[\d.]+)?|(?:[Rr]eceived )?(?:[Rr]esponse|[Ss]tatus) code) ?(?:[Ee]rror )?[45]\d\d\b|(?:Fehler|エラー|错误|失败|[Ee]rreur)(?::|：))`)
	// traceback finds an exception of Python, and barred how harnesses say that a tool may not be used.
	traceback = regexp.MustCompile(`(?m)Traceback \(most recent call last\):\n(?:[ \t].*\n|\n)*(\S.*)`)
	barred    = regexp.MustCompile(`^.{0,80}\b(?:is|was) (?:blocked|disabled|not (?:allowed|available|permitted))\b`)
	// ended finds how harnesses say that a program was ended, and a package with a test that failed.
	ended = regexp.MustCompile(`(?m)^(?:Error: )?(?i:the )?(?i:command|process|tool) timed out\b.*|^FAIL[ \t]+[\w.-]+/\S+.*`)
	// placed finds a line that names a test that failed, or the place or the code of an error.
	placed = regexp.MustCompile(`(?m)^[ \t]*(?:(?:\S+: )?(?:error: )?(?:[Uu]nknown|[Uu]nrecognized|[Ii]nvalid|[Ii]llegal) (?:shorthand )?(?:flag|option|argument|command)s?\b|--- FAIL: |│ Error: |# [A-Z]\w*Error: |FAILED \S+[:.]|FAIL: |! \[(?:remote )?rejected\] |[✕✗✖✘×] |not ok |FAIL +\S+ > |● .* › |error\[\w+\]: |\[ERROR\] +[\w./]+:\[?\d|Failed [\w.]+ \[|\S+\.\w+[:(]\d+(?:[:,]\d+)?\)?: (?:fatal |syntax )?error\b|test \S+ \.\.\. FAILED|[\w.$]+ > .* FAILED$).*`)
	// clock finds a time of day, as in lines of a log. A program that logs an error may go on.
	clock = regexp.MustCompile(`\d\d:\d\d:\d\d`)
	// mended finds commits, tests that passed, and what was fixed: they may speak of failures.
	mended = regexp.MustCompile(`^[✔✓√] |^ok \d+ |^(?:\[[\w./-]+(?: \(root-commit\))? )?[0-9a-f]{7,}\b|\bfixed\b.*\b0 (?:remaining|left)\b`)
)
