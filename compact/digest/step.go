package digest

import (
	"strings"
)

// How much of a step's label is shown, in bytes: less where a part is small.
const (
	labelChars = 200
	leastLabel = 80
)

// step adds a call: what was done, how it ended, and the lines of its result that
// decide.
func (p *part) step(i int, e *event) {
	w := p.weights[i]
	label, score := e.label(min(labelChars, max(leastLabel, p.room/6))), float32(1.5)
	switch {
	case e.outcome.verdict == refused: // however long ago: the user still does not want it
		score, w = 14, 1
	case e.outcome.verdict == failed, e.acts(), e.kind == runs && (len(e.changes) > 0 || landmark(e.command)):
		score = 4
	}
	head := p.add(steps, i, 0, label, score*w, -1)
	if e.outcome.verdict == refused {
		return
	}
	if e.kind == runs && landmark(e.command) {
		if _, docs := heredocs(e.command); len(docs) > 0 { // what a commit or a release says
			p.says(prints, i, 1, firstBytes(docs[0].body, 2000), 1.6, max(300, p.room/16), head, false)
		}
	}
	switch e.kind {
	case asks:
		p.asked(i, e, head)
	case plans, thinks, reports:
		if e.kind == thinks {
			p.says(prose, i, 1, e.text, 0.9, p.room/6, head, false)
		} else {
			p.says(answers, i, 1, e.text, 1.6, p.room/4, head, false)
		}
	case sends:
		p.says(findings, i, 1, e.result.text, 0.9, p.room/5, head, false)
	case tracks, edits:
	case reads:
		p.source(i, e, head)
	case searches:
		p.found(i, e, head)
	default:
		p.printed(i, e, head)
	}
}

// landmarks are commands that tell how far the work is.
var landmarks = []string{"git commit", "git push", "git merge", "git rebase", "git checkout", "git revert", "git reset", "git tag", "git stash", "git cherry-pick", "gh pr", "npm publish", "deploy", "migrate", "release"}

func landmark(command string) bool {
	for _, l := range landmarks {
		if strings.Contains(command, l) {
			return true
		}
	}
	return false
}

// label returns the line of a step: what was done, and how it ended.
func (e *event) label(n int) string {
	b := ""
	switch e.kind {
	case runs:
		b = "$ " + e.subject(n)
	case reads:
		b = "read " + e.subject(n)
	case edits:
		b = "edit " + e.subject(n)
		if e.command != "" {
			b = "$ " + OneLine(e.brief(), n)
		}
	case searches:
		b = "search " + e.subject(n)
	case sends:
		b = "agent sent: " + e.subject(n)
	case asks:
		b = "asked the user"
	case plans:
		b = "plan"
	case thinks:
		b = "thought"
	case reports:
		b = "said at the end"
	default:
		if b = bar(quote(e.tool, 64) + " " + e.subject(n)); e.tool == "" {
			b = "result of a tool"
		}
	}
	if e.waits {
		b = "went on: $ " + OneLine(e.brief(), leastLabel)
	}
	return strings.TrimSpace(b) + e.ended()
}

// name returns a few words for a step: what was done, and to what.
func (e *event) name(inFolder func(string) string) (verb, name string) {
	switch {
	case e.kind == reads && e.command == "", e.kind == edits && e.command == "":
		name = e.path
		if len(e.changes) > 0 {
			name = e.changes[0].path
		}
		if name = inFolder(either(name, e.subject(nameChars))); len(name) > pathChars { // its end says most
			name = "…" + lastBytes(name, nameChars)
		}
		if name = OneLine(name, pathChars); e.kind == edits {
			return "edit ", name
		}
		return "read ", name
	case e.kind == searches:
		return "search ", OneLine(inFolder(e.subject(labelChars)), nameChars)
	case e.waits:
		return "went on: $ ", OneLine(e.brief(), nameChars)
	case e.command != "":
		return "$ ", OneLine(inFolder(e.brief()), nameChars)
	case e.kind == tracks, e.tool == "":
		return "", ""
	}
	return "", quote(e.tool, nameChars)
}

const (
	nameChars = 32
	pathChars = 64
)

// ended returns how a step ended, as its label says it.
func (e *event) ended() string {
	says := ""
	if e.outcome.says != "" {
		says = ": " + e.outcome.says
	}
	text := strings.TrimSpace(e.result.text)
	switch e.outcome.verdict {
	case refused:
		if says != "" {
			says = `, who said: "` + e.outcome.says + `"`
		}
		return e.hint() + " → refused by the user" + says
	case missing:
		return " → no result"
	case failed:
		if e.result.coded && e.result.code != 0 {
			return " → exit " + itoa(e.result.code) + says
		}
		return " → failed" + says
	}
	switch {
	case e.kind == edits && e.outcome.verdict == passed:
		return e.hint() + " → done"
	case e.kind == edits:
		return e.hint() + " → " + e.outcome.says
	case e.command != "" && goesOn.MatchString(firstBytes(text, 200)):
		return " → went on"
	case text == "":
		if e.kind == runs && e.result.coded {
			return " → exit 0, no output"
		}
		return " → no output"
	case e.inLabel():
		return " → " + OneLine(text, shortResult)
	case e.outcome.verdict == passed && (e.result.coded || e.outcome.says != ""):
		if e.result.coded {
			return " → exit 0" + says
		}
		return " → " + e.outcome.says
	case e.kind == reads:
		if from, n := e.result.first, countLines(text); from > 1 {
			return " (lines " + itoa(from) + "–" + itoa(from+n-1) + ")"
		} else {
			return " (" + count(n, "line") + ")"
		}
	}
	return " →"
}

// hint returns what an edit touches: how many lines, the first line that is new,
// and the names of the definitions after it.
func (e *event) hint() string {
	added, gone, first, names := 0, 0, "", ""
	all := "" // that was added
	for k := range e.changes {
		c := &e.changes[k]
		if c.how != replaced && c.how != inserted && c.how != written {
			continue
		}
		was := setOfLines(c.old)
		if c.old != "" {
			gone += len(was)
		}
		for l := range strings.SplitSeq(c.new, "\n") {
			if was[l] {
				gone--
				delete(was, l)
				continue
			}
			added++
			if len(all) < shortEdit {
				all = joined(all, " ⏎ ", strings.TrimSpace(l))
			}
			if t := strings.TrimSpace(l); first == "" && len(t) > 6 && !isComment(t) {
				first = t
			} else if name := definedIn(t); name != "" && len(names) < namesChars {
				names += ", " + name
			}
		}
	}
	if added+gone == 0 {
		return ""
	}
	hint := " (+" + itoa(added) + " −" + itoa(max(gone, 0))
	if len(all) < shortEdit && all != "" {
		return hint + ": " + OneLine(all, shortEdit) + ")"
	}
	if first != "" {
		hint += ": " + OneLine(first, 80)
	}
	if names != "" {
		hint += "; also " + names[2:]
	}
	return hint + ")"
}

// shortEdit is the length of edits that are told by all that they add.
const shortEdit = 140

// namesChars is the length from which on no more names are told of.
const namesChars = 120

// inLabel reports whether a result is so short that the label has it.
func (e *event) inLabel() bool {
	text := strings.TrimSpace(e.result.text)
	return len(text) <= shortResult && strings.IndexByte(text, '\n') < 0
}

// shortResult is the length of results that are part of their step's label.
const shortResult = 140

// asked adds what the user was asked, with the options, and what the user
// answered.
func (p *part) asked(i int, e *event, head int32) {
	var b strings.Builder
	e.values.each("", func(key, text string) {
		if plainKey(key) != "header" {
			b.WriteString(OneLine(text, 400) + "\n")
		}
	})
	question := p.add(answers, i, 1, b.String(), 9*p.weights[i], head)
	if text := strings.TrimPrefix(strings.TrimSpace(e.result.text), "User has answered your questions: "); text != "" {
		text, _, _ = strings.Cut(text, " You can now continue with")
		p.add(userWords, i, isAnswer, cutAt(strings.Join(strings.Fields(text), " "), 1200), 25, question)
	}
}

// found adds what a search found: lines that name what matters.
func (p *part) found(i int, e *event, head int32) {
	b := p.bodies[i]
	if b == nil || e.inLabel() {
		return
	}
	p.lines(prints, i, 1, b, 200, func(k int) (float32, lineUse) {
		l := b.at(k)
		if strings.TrimSpace(l) == "" {
			return 0, blank
		}
		return 0.1 + b.interest(p.interest, k)*0.7, plainLine
	}, 0, p.weights[i]*0.5, head, p.room/14)
}
