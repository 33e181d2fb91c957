package digest

import (
	"regexp"
	"strconv"
	"strings"

	"laconic/compact/agent"
	"laconic/compact/quote"
)

// printed adds the lines of a program's output that decide: all of a short one, of
// others the failures, the end and what the work is about; of what a search found those
// that name what matters.
func (p *part) printed(i int, e *event, head int) {
	text := strings.TrimSpace(e.result.Text)
	if text == "" || e.inLabel() && e.outcome.Verdict != agent.Failed {
		return
	}
	b := p.bodies[i]
	small := len(text) < shortOutput && len(b.lines) <= 40
	limit, most := max(400, p.room/10), 240
	c, w, asked := prints, p.weights[i], e.AsksData()
	if e.Kind == agent.Other && (e.result.Made || !strings.Contains(text, "\n@@ -")) || e.result.Rows > 0 { // else a diff
		c, w = data, 1 // however long ago
		limit = max(600, p.room/4)
		rows := 1 // of a table that is a text
		for k := range b.lines {
			switch l := b.at(k); {
			case (strings.ContainsAny(l, "\t|") || strings.Contains(l, "  ")) && cells.MatchString(l) && number.MatchString(l):
				rows++
			case asked && !endsSentence(l):
				rows += withoutNames
			}
		}
		w = min(w, fewRows/float32(max(rows, e.result.Rows)))
	}
	found := e.Kind == agent.Searches && e.outcome.Verdict != agent.Failed
	if found {
		limit, most, w = min(p.room/10, mostFound), 200, w*0.8
	}
	listing := found && (e.Query == "" && e.Command == "" || e.Lists())
	document := c == data && len(text) > shortObject && longSentences.MatchString(text) && e.result.Listed*2 < len(text)
	page := c == prints && strings.Contains(text, "</body>")
	first := float32(opening)
	here := map[string]bool{} // lines that came before, in the label too
	if c == data && !strings.Contains(p.pieces[head].text, "…") {
		e.Values.Each(func(text string) {
			for l := range strings.SplitSeq(text, "\n") {
				here[strings.TrimSpace(l)] = len(l) > longEnough
			}
		})
	}
	p.lines(piece{class: c, event: i, need: head}, b, layout{most: most, limit: limit, weight: w}, func(k int) (float32, lineUse) {
		l := b.at(k)
		t := strings.TrimSpace(l)
		_, value, _ := strings.Cut(t, ": ")
		s := 0.1 + min(b.interest(p.interest, k), 2.5)*0.55
		switch {
		case len(t) < 2 || strings.Trim(t, "=-*~^_.|:+│ ") == "":
			return 0, blank
		case listing && folder.MatchString(t), strings.HasPrefix(t, diffHead), // of ls -R
			found && k+1 < len(b.lines) && grouped.MatchString(t+"\n"+b.at(k+1)):
			return 0, leads
		case found:
			if s = 0.1 + b.interest(p.interest, k)*0.7; listing && s < leastRead {
				return 0, skipped
			}
			return s, plainLine
		case tableHead.MatchString(l):
			return 0, header
		case here[t], here[value], page && element.MatchString(t), strings.HasPrefix(t, `(use "git `),
			e.outcome.Says != "" && strings.HasPrefix(e.outcome.Says, quote.OneLine(strings.Trim(t, "= "), 130)), // the label has it
			e.outcome.Verdict == agent.Passed && passedTest.MatchString(t):                                       // one of many, and none failed
			return 0, skipped
		case agent.IsPlaced(t):
			if s += 6 * max(1, 1/w); c == prints { // however long ago
				return s, single
			}
		case agent.IsFailure(l):
			s += 5
		case strings.ContainsAny(t, ":%CDFGPRSU") && noise.MatchString(t):
			s *= little
		case e.Shows && binds(l): // of a file that a command shows
			s = (s + ofRule) * max(1, heldWeight/w)
		case small && c == prints:
			s += 0.6
		}
		here[t] = len(t) > longEnough
		if c == prints {
			return s, plainLine
		}
		if s += 0.8 * float32(min(specifics(l), 8)); e.Kind == agent.Other || asked {
			s *= returned
		}
		switch {
		case document && ofDocument.MatchString(t):
			return s * little, single
		case document && w == 1: // a text has facts without names, too
			if s += 0.8 * float32(min(len(withDigits.FindAllString(t, 4)), 4)); endsSentence(t) { // the longer, the more it says
				s, first = (s+first)*max(1, float32(len(t))/longSentence), first/2
			}
			if len(t) > longSentence {
				return s, single
			}
		}
		return s, plainLine
	})
}

// folder finds the name of a folder above what is in it.
var folder = regexp.MustCompile(`^[\w./-]+:$`)

// grouped finds the name of a file above the lines that a search found in it.
var grouped = regexp.MustCompile(`^[^\s:│]+\.\w+:?\n(?:│|\s+\S|L?\d+[:\t -])`)

// ofDocument finds a line of an object with several of its members.
var ofDocument = regexp.MustCompile(`^(?:\w+: )?[\w.-]+: (?:[^.]|\.\S)*, [\w.-]+: (?:[^.]|\.\S)*$`)

// longSentences finds a long line that ends with a sentence.
var longSentences = regexp.MustCompile(`(?m)^.{` + strconv.Itoa(longSentence) + `,}` + endOfSentence)

// noise finds how programs tell that they go on: what they fetch, and how much of it.
var noise = regexp.MustCompile(`(?:^|\t|Z )(?:go: downloading|Collecting|Downloading|Downloaded|Fetching|Get:\d+|Unpacking|Preparing to unpack|Setting up|Selecting previously|Requirement already satisfied:|Compiling|Using cached|npm http fetch) \S|\d%.*[=#━█>]{4}|[=#━█>]{4}.*\d%`)

var (
	// cells finds a row of a table, and number a cell that is one.
	cells  = regexp.MustCompile(`\S(?:  +|\t| ?\| ?)\S`)
	number = regexp.MustCompile(`(?:^|[\s|])[-+]?\d[\d.,/]*%?(?:[\s|]|$)`)
	// tableHead finds the names of the columns of a table that was a list of objects.
	tableHead = regexp.MustCompile(`^(?:[\w.]+: )?\((?:[^,()]+, )+[^,()]+\)$`)
)

// withDigits finds the words of a line that have digits.
var withDigits = regexp.MustCompile(`\S*\d\S*`)

// passedTest finds a test or a package that passed.
var passedTest = regexp.MustCompile(` PASSED|^ok |^[✓✔] |\[no test files\]$|^--- PASS`)
