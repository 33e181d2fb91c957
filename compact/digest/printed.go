package digest

import (
	"regexp"
	"strings"
)

// printed adds the lines of a program's output that decide: all of a short one, of
// others the failures, the end and what the work is about.
func (p *part) printed(i int, e *event, head int32) {
	text := strings.TrimSpace(e.result.text)
	if text == "" || e.inLabel() && e.outcome.verdict != failed {
		return
	}
	b := p.bodies[i]
	n := len(b.lines)
	small := len(text) < shortOutput && n <= 40
	patch := isPatch(text)
	limit, most := max(400, p.room/10), 240
	if e.kind == other {
		limit = max(600, p.room/4)
	}
	if small && e.kind == runs && e.outcome.verdict != failed { // what a trial showed is told whole
		most = shortOutput
	}
	here := map[string]bool{}
	first := len(p.pieces)
	p.lines(prints, i, 1, b, most, func(k int) (float32, lineUse) {
		l := b.at(k)
		t := normal(l)
		s := 0.25 + min(b.interest(p.interest, k), 2.5)*0.55
		switch {
		case len(t) < 2 || strings.Trim(t, "=-*~^_. ") == "":
			return 0, blank
		case patch && strings.HasPrefix(t, "diff --git "):
			return 0.6, opens
		case strings.HasSuffix(t, ")") && rowKeys.MatchString(t):
			return 0.2, opens
		case here[t], isNoise(t),
			e.outcome.says != "" && strings.HasPrefix(e.outcome.says, OneLine(strings.Trim(t, "= "), 130)), // the label has it
			e.outcome.verdict == passed && passedTest.MatchString(t):                                       // one of many, and none failed
			return 0, skipped
		case patch && l[0] != '+' && l[0] != '-':
			s *= 0.4
		case patch:
		case isFailure(l):
			s += 2
		case expectation.MatchString(t):
			s += 1.5
		case small:
			s += 0.6
		case k >= n-3: // how it ended
			s += 0.5
		}
		here[t] = len(t) > 30
		return s, plainLine
	}, 0, p.weights[i], head, limit)
	for k := first; k < len(p.pieces); k++ {
		p.pieces[k].whole = most == shortOutput
	}
}

// shortOutput is the length of outputs that are told whole.
const shortOutput = 1200

// isPatch reports whether a text is the change that a program shows, as git diff
// does. What its lines say about failures is source code.
func isPatch(text string) bool {
	return strings.HasPrefix(text, "diff --git ") || strings.Contains(text, "\n@@ -") && strings.Contains(text, "\n+++ ")
}

// isNoise reports whether a line of output only says that work goes on.
func isNoise(t string) bool { return noise.MatchString(t) || progress.MatchString(t) }

var (
	noise = regexp.MustCompile(`^(?:Collecting |Downloading |Installing |Requirement already|Using cached|Preparing |WARNING: Running pip|\[notice\]|npm (?:warn|notice|http)|diff --git |index [0-9a-f]|--- a/|\+\+\+ b/|new file mode|=== (?:RUN|PAUSE|CONT)|remote: |Traceback \(most recent|\(use "git)`)
	// progress finds bars and rates that say how far a program is.
	progress = regexp.MustCompile(`███|━━━|%.*(?:[=#.>-]{3,}[ =#.>-]*[|\]]|\bETA\b)|\d%\||%.* [kMG]i?B/s`)
	// passedTest finds a test or a package that passed.
	passedTest = regexp.MustCompile(` PASSED|^ok |\[no test files\]$|^--- PASS`)
	// rowKeys finds the keys of rows that stand below.
	rowKeys = regexp.MustCompile(`^(?:[\w.]+: )?\([\w.-]+(?:, [\w.-]+)+\)$`)
	// expectation finds lines that say what was expected and what came.
	expectation = regexp.MustCompile(`\b(?:want(?:ed)?|got|[Rr]eceived) |[Ee]xpected|[Aa]ctual|^(?:left|right):|^(?:E  |[+-] )|^\S+\.\w+:\d+`)
)
