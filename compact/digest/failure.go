package digest

import (
	"regexp"
	"slices"
	"strings"
)

// failureLine finds lines by which programs say that they failed.
var failureLine = regexp.MustCompile(`(?:^|[\s:\[(*>|])(?:(?:[a-z_]\w*\.)*[A-Z]\w*(?:\.\w+)*(?:Error|Exception)\b(?::|$|\[| in | at |\()|[Ee]rror(?:\[\w+\]| \w+\d+)?:|Error [1-9]|ERROR\b|ERR!|E[A-Z]{4,}\b:|` +
	`FAIL(?:ED|URE)?\b|[Ff]ailed\b|[Ff]ailure\b|failing\b|[Ff]atal(?: error)?:|FATAL\b|panic:|[Pp]anicked at|Exception in thread|[Pp]ermission denied|[Aa]ccess denied|not found\b|[Nn]o such file|[Dd]oes not exist|doesn't exist|` +
	`[Cc]annot \w+|[Cc]an't \w+|[Uu]ndefined (?:reference|symbol|variable|method|name)|undefined:|[Tt]imed out|[Tt]imeout|ETIMEDOUT|[Kk]illed\b|[Ss]egmentation fault|CONFLICT\b|not ok\b|[Cc]onnection refused|[Aa]bort(?:ed|ing)\b|` +
	`[Rr]efused\b|\[rejected\]|HTTP(?:/[\d.]+)? ?(?:[Ee]rror )?[45]\d\d|(?:status|code)(?: code)?:? [45]\d\d|Forbidden\b|Unauthorized\b|mismatch\b|password is required|[Nn]o space left|[Oo]ut of memory|core dumped|Fehler\b|fehlgeschlagen|[Ee]rreur\b)` +
	`|^npm error |^(?:\S+: )?[Ee]rror(?: from| response| in| at| while| during)|^\s*[✗✕✖✘×●] \S|エラー|失敗|错误|失败|^E  +assert\b|^(?:\S+): error\b`)

// noFailure finds lines that look like failures and are none.
var noFailure = regexp.MustCompile(`(?i)^WARN(?:ING)?\b|\(ignored\)|\bNOTICE: |, (?:skipping|ignoring|creating|using|building|falling back)\b|\(timeout |complete log of|should have failed|\bwould be |^failed (?:logins|attempts): \d|\bfail(?:ed|ures?)?(?:(?: \w+)? ?[:=] *| +)0 *(?:$|[|(])|│ *failed *│|(?:^| )[a-oq-z]\w*=[\d.]+ (?:failed|errors)=\d+ \w|\b(?:0|no|without) (?:errors?|fail(?:ed|ures?)|warnings?)|(?:errors?|failures?|failed|fail)[:=] *(?:0\b|\(?(?:none|null|nil|no|false)\)?\s*(?:$|[,;|}\])]))|✓|✔|--- PASS|\bPASS(?:ED\b|: *[a-z])|^ok\s|=== RUN|\.\.\. ok$|\w(?:Error|Exception): \d+$|^-- Looking for|^checking (?:for|whether) |error handling|if err|^\s*(?://|#|\*)|except \w+|^\s*\w+(?:(?:  +|\t| ?\| ?)-?[\d.,]+%?)+\s*$`)

// isFailure reports whether a line of a program's output says that something
// failed.
func isFailure(line string) bool {
	line = firstBytes(line, 2000)
	return failureLine.MatchString(line) && !noFailure.MatchString(line) && !sourceLine.MatchString(line)
}

// sourceLine finds lines of source code or of a diff that hold an error, rather than
// are one.
var sourceLine = regexp.MustCompile(`^\s*(?:\+|-[^ -]|--[^-]|(?:return|raise|throw|except|catch|try|import|from|func|def|class|const|let|var|type|assert|expect|self|this)\b(?:[^:]|:\S)*:?$)|(?:\{|",)\s*$|[=(].*;\s*$`)

// summaryLine finds the line in which a program sums up how it went, and in it that something
// failed.
var summaryLine = regexp.MustCompile(`(?i)^(.*?(?:^|[^:.,=\w])[1-9]\d* (?:(?:fail|failed|failing|failures?|errors?|problems? \([1-9]\d* errors?)\b|issues?:)|(?-i:FAIL(?:ED)?\b)|build failed|(?-i:[#ℹ] (?:fail|cancelled) [1-9]\d*$)|No tests found, exiting with code [1-9]|Failed! |(?:Apply|Destroy) cancelled|make: \*\*\*|test result: FAILED|Tests:.*\b(?:[1-9]\d* failed|(?:Errors|Failures): [1-9]))|` +
	`(?:^|[^:.,=\w])\d+ (?:(?:passed|fail|failed|passing|failing|failures?|errors?|issues?|problems?|warnings?)\b|tests?(?:$|[^\w ]| (?:in|run|ran|ok|were|passed|failed|completed?|successful|total)\b))|(?-i:^(?:OK|PASS(?:ED)?)(?:$|[^:\w]))|^test result:|^Tests:|^build succ|^Finished \x60|^(?:Plan: \d|(?:Apply|Destroy) complete!)|^Passed! |(?-i:^[#ℹ] pass [1-9]\d*$)|^ok\s+\S+\s|` +
	`\b[Cc]ompiled successfully|^\[[\w./-]+(?: \(root-commit\))? [0-9a-f]{7,}\]|Successfully (?:installed|built|tagged)|\bnothing to commit|Everything up-to-date`)

// summaryOf returns what an output says of how all went, in one of its last lines, or a
// failure that stands there, and whether something failed: not both, for the failure may be
// another program's.
func summaryOf(text string) (says string, fails bool) {
	if end := ended.FindString(text); end != "" {
		return end, true
	}
	failure, lines := "", strings.Split(lastBytes(text, 2000), "\n")
	for k, l := range slices.Backward(lines) {
		if k < len(lines)-12 {
			break
		}
		t := strings.Trim(l, " =-\t*")
		switch m := summaryLine.FindStringSubmatch(t); {
		case strings.Contains(t, "ttempt "): // there may be others
		case m != nil && len(t) < 200:
			if bad := m[1] != "" && !mended.MatchString(t); len(says) <= len("FAILED") || bad && !fails {
				says, fails = OneLine(t, 140), bad
			}
		case k >= len(lines)-6 && says+failure == "" && isFailure(l) && (!clock.MatchString(l) || ownError.MatchString(t)) && !strings.HasSuffix(t, ":"):
			failure = l
		}
	}
	switch {
	case failure == "":
		return says, fails
	case says == "", fails, ownError.MatchString(strings.TrimSpace(failure)):
		return failure, true
	}
	return "", false
}

var (
	// ended finds how harnesses say that a program was ended, and a package whose tests failed:
	// others may pass after it.
	ended = regexp.MustCompile(`(?m)^(?:Error: )?(?i:the )?(?i:command|process|tool) timed out\b.*|^FAIL[ \t]+[\w.-]+/\S+.*`)
	// placed finds a line that names a test that failed, or the place or the code of an error.
	placed = regexp.MustCompile(`(?m)^[ \t]*(?:--- FAIL: |# [A-Z]\w*Error: |FAILED \S+[:.]|FAIL: |! \[(?:remote )?rejected\] |[✕✗✖✘×] |not ok |FAIL +\S+ > |● .* › |error\[\w+\]: |\[ERROR\] +[\w./]+:\[?\d|Failed [\w.]+ \[|\S+\.\w+[:(]\d+(?:[:,]\d+)?\)?: (?:fatal |syntax )?error\b|test \S+ \.\.\. FAILED|[\w.$]+ > .* FAILED$).*`)
	// clock finds a time of day, as in lines of a log. A program that logs an error may go on.
	clock = regexp.MustCompile(`\d\d:\d\d:\d\d`)
	// mended finds commits, tests that passed, and what was fixed: they may speak of failures.
	mended = regexp.MustCompile(`^[✔✓√] |^ok \d+ |^(?:\[[\w./-]+(?: \(root-commit\))? )?[0-9a-f]{7,}\b|\bfixed\b.*\b0 (?:remaining|left)\b`)
)

// onlyError returns the first line of a result that is nothing but an error, or "".
// What was read, found or asked for is data, and may speak of errors: an object is an
// error by its values, a text by the words of a tool or of the shell.
func (a *action) onlyError(r *result) string {
	first, rest, _ := strings.Cut(strings.TrimSpace(r.text), "\n")
	short := r.object == unknown && strings.Count(rest, "\n") < 4
	if a.command != "" && short && (shellComplains.MatchString(first) || strings.HasPrefix(first, "fatal: ")) ||
		a.command == "" && (short && ownError.MatchString(first) || r.object == failed && a.kind != reads) {
		return first
	}
	return ""
}

// ownError finds the beginnings of errors as tools write them.
var ownError = regexp.MustCompile(`^(?:<(?:tool_use_)?error>|(?:(?:MCP|API|HTTP|Tool|Execution|Validation) )?(?i:error)(?: (?:\w+ing|in|from|code|during|when|calling)\b[^:\n]{0,60})?(?:\[\w+\])?(?::| -?\d)|` +
	`(?:[a-z_]\w*\.)*[A-Z]\w*(?:Error|Exception)(?::|\()|(?:ENOENT|EACCES|EPERM|EISDIR|ENOTDIR|EEXIST|ECONN\w+|ETIMEDOUT)\b|(?:fatal|(?:ba|z|da)?sh): |panic: |[Nn]o such \w+|[Uu]nknown tool|[Ii]nvalid (?:tool|arg|param|input|request|path)\w*\b|(?i:denied|rejected|declined|refused|blocked) by \S|` +
	`(?:[Pp]ermission|[Aa]ccess) denied(?:[:.,]| to\b|$)|(?i:(?:the )?(?:file|path|directory|folder)\b.{0,200}(?:not found|(?:does not|doesn't) exist))[.!]?(?::|$)|(?i:request|execution|tool(?: call| execution)?|command|operation|query) failed\b|` +
	`(?:HTTP(?:/[\d.]+)?|(?:[Rr]eceived )?(?:[Rr]esponse|[Ss]tatus) code) ?(?:[Ee]rror )?[45]\d\d\b|[45]\d\d (?:Client Error|Server Error|Bad |Unauthorized|Forbidden|Not Found|Too Many|Internal|Service)|(?:Fehler|エラー|錯誤|错误|失敗|失败|[Ee]rreur)(?::|：))`)

// ReportsFailure reports whether a result reports a failure. A word alone may be the state
// of something.
func ReportsFailure(text string) bool {
	r := resultOf(text, runs)
	o := (&action{kind: runs}).outcomeOf(&r)
	return o.verdict == failed && (r.code != 0 || strings.Contains(o.says, ":") || summaryLine.MatchString(o.says))
}
