package digest

import (
	"regexp"
	"strings"
)

// printed adds the lines of a program's output that decide.
func (p *part) printed(i int, e *event, head int32) {
	text := strings.TrimSpace(e.result.text)
	if text == "" || e.inLabel() && e.outcome.verdict != failed {
		return
	}
	b := p.bodies[i]
	n := len(b.lines)
	long := n > 60
	here := map[uint64]bool{}
	frame, lastFrame := false, b.lastPlace()
	small := len(text) < shortOutput && n <= 40
	diff := isPatch(text)
	limit, most, w := max(400, p.room/10), 240, p.weights[i]
	if e.kind == other {
		limit = max(600, p.room/4)
	}
	if small && e.kind == runs && e.outcome.verdict != failed { // what a trial showed is told whole
		most = shortOutput
	}
	if e.outcome.verdict == failed && p.passedLater(e) {
		w *= 0.8
	}
	first := len(p.pieces)
	p.lines(prints, i, 1, b, most, func(k int) (float32, lineUse) {
		l := b.at(k)
		t := normal(l)
		if len(t) < 2 || strings.Trim(t, "=-*~^_. ") == "" {
			return 0, blank
		}
		if h := hashOf(t); len(t) > 30 {
			if here[h] {
				return 0, skipped
			}
			here[h] = true
		}
		if diff {
			return b.patchLine(p.interest, k)
		}
		if isNoise(t) {
			return 0, skipped
		}
		if strings.HasSuffix(t, ")") && rowKeys.MatchString(t) {
			return 0.2, opens
		}
		if e.outcome.says != "" && strings.HasPrefix(e.outcome.says, OneLine(strings.Trim(t, "= "), 130)) {
			return 0, skipped // the label has it
		}
		interest := min(b.interest(p.interest, k), 2.5)
		s := 0.25 + interest*0.55
		wasFrame := frame
		frame = isPlace(t)
		switch {
		case e.outcome.says != "" && (t == "FAIL" || strings.HasPrefix(t, "FAIL\t") || strings.HasPrefix(t, "exit status ")):
			return 0, skipped // the label says that
		case isFailure(l):
			s = 2.2 + interest*0.4
		case wasFrame && l[0] == ' ':
			if s = 1.2; k != lastFrame+1 && strings.HasPrefix(normal(b.at(k-1)), `File "`) {
				return 0, skipped
			}
		case frame:
			if s = 1.5 + interest*0.3; k != lastFrame && (strings.HasPrefix(t, `File "`) || strings.HasPrefix(t, "at ")) {
				return 0, skipped // of a trace the last place alone
			}
		case e.outcome.verdict == passed && (strings.Contains(t, " PASSED") || strings.HasPrefix(t, "ok ") || strings.HasSuffix(t, "[no test files]")):
			return 0, skipped // one test of many, and none failed
		case small:
			s += 0.6
		case strings.Trim(t, "0123456789., ") == "":
			s *= 0.2
		case len(t) < 8:
			s *= 0.3
		case (k < 5 || k >= n-40) && summaryLine.MatchString(t):
			s = 1.4
		case expectation(t):
			s = 1.8
		default:
			if k >= n-3 {
				s += 0.3
			}
			if k < 3 {
				s += 0.15
			}
			if long && s < 1 {
				s *= 0.6
			}
		}
		return s, plainLine
	}, 0, w, head, limit)
	for k := first; k < len(p.pieces); k++ {
		p.pieces[k].whole = most == shortOutput
	}
}

// shortOutput is the length of outputs that are told whole.
const shortOutput = 1200

// lastPlace returns the number of the last line that names a place in source of the
// work itself, rather than of what is installed; -1 if there is none.
func (b *body) lastPlace() int {
	for k := len(b.lines) - 1; k >= 0; k-- {
		if t := normal(b.at(k)); isPlace(t) && !containsAny(t, []string{"site-packages", "node_modules", "/usr/lib", "<frozen", "/lib/python", "node:internal"}) {
			return k
		}
	}
	return -1
}

// passedLater reports whether the command of an event passed later.
func (p *part) passedLater(e *event) bool {
	last := p.passes[e.brief()]
	return last != nil && last.origin > e.origin
}

// isPatch reports whether a text is the change that a program shows, as git diff
// does. What its lines say about failures is source code.
func isPatch(text string) bool {
	return strings.HasPrefix(text, "diff --git ") || strings.Contains(text, "\n@@ -") && strings.Contains(text, "\n+++ ")
}

// patchLine returns the score and the use of a line of a patch: files and places
// open the lines below them, and definitions that are new count most.
func (b *body) patchLine(x *interest, k int) (float32, lineUse) {
	l := b.at(k)
	switch {
	case strings.HasPrefix(l, "diff --git "):
		return 0.6, opens
	case strings.HasPrefix(l, "@@ "):
		return 0.05, blank
	case isNoise(normal(l)), strings.HasPrefix(l, "--- "), strings.HasPrefix(l, "+++ "):
		return 0, skipped
	}
	s := 0.15 + min(b.interest(x, k), 2)*0.4
	switch {
	case l[0] != '+' && l[0] != '-':
		s *= 0.4
	case isDefinition(l[1:]):
		s += 0.5
	case isComment(normal(l[1:])):
		s *= 0.5
	}
	return s, plainLine
}

// rowKeys finds the keys of rows that stand below.
var rowKeys = regexp.MustCompile(`^(?:[\w.]+: )?\([\w.-]+(?:, [\w.-]+)+\)$`)

// isNoise reports whether a line of output only says that work goes on.
func isNoise(t string) bool {
	for _, w := range noise {
		if strings.HasPrefix(t, w) {
			return true
		}
	}
	return strings.Contains(t, "███") || strings.Contains(t, "━━━") || strings.Contains(t, "%") && progress.MatchString(t)
}

// progress finds bars and rates that say how far a program is.
var progress = regexp.MustCompile(`[=#.>-]{3,}[ =#.>-]*[|\]]|\bETA\b|\d%\|| [kMG]i?B/s`)

var noise = []string{"Collecting ", "Downloading ", "Installing ", "Requirement already", "Using cached", "Preparing ", "WARNING: Running pip", "[notice]", "npm warn", "npm notice", "npm http", "diff --git ", "index ", "--- a/", "+++ b/", "new file mode", "=== RUN", "=== PAUSE", "=== CONT", "remote: ", "Traceback (most recent", "(use \"git"}

// isPlace reports whether a line names a place in source, as a trace or a compiler
// does.
func isPlace(t string) bool {
	if strings.HasPrefix(t, `File "`) || strings.HasPrefix(t, "at ") || strings.HasPrefix(t, "--> ") {
		return true
	}
	i := strings.IndexByte(t, ':')
	return i > 2 && i < 120 && i+1 < len(t) && class[t[i+1]] == digit && strings.IndexByte(t[:i], '.') > 0 && strings.IndexByte(t[:i], ' ') < 0
}

// expectation reports whether a line says what was expected and what came.
func expectation(t string) bool {
	for _, w := range expectations {
		if strings.Contains(t, w) {
			return true
		}
	}
	return strings.HasPrefix(t, "E  ") || strings.HasPrefix(t, "+ ") || strings.HasPrefix(t, "- ")
}

var expectations = []string{"want ", "wanted ", "expected", "Expected", "actual", "Actual", "got ", "received", "Received", "left:", "right:", "--- FAIL", "FAILED "}
