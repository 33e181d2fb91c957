package digest

import (
	"regexp"
	"slices"
	"strings"

	"laconic/compact"
	"laconic/compact/agent"
	"laconic/compact/quote"
)

// An event is what happened in one message that left: words of the user or of the
// assistant, or a call with its result.
type event struct {
	class         purpose // userWords, answers, prose, or steps: a call
	origin        int
	words         string // what was said
	who           string // the name of the user, where the client says it
	*agent.Action        // of a call
	result        agent.Result
	outcome       agent.Outcome
	ran           bool // of a call in a text: what follows is its result
	left          bool // its call or its result left
	answered      bool
	missing       bool // the result: the client says so
	told          bool // in a part
	again         bool // the call had the same result the last time
	below         bool // the model still reads the message
	waits         bool // for the command of a call before
	times         int  // that it came in a row, with the same result
}

// happened notes an event, once.
func (r *Record) happened(e *event) *event {
	if !e.left {
		e.left = true
		r.events = append(r.events, e)
	}
	return e
}

// lose notes that a message left.
func (r *Record) lose(m *message) {
	says := func(e event) {
		if e.origin = m.Origin; e.words != "" {
			r.happened(&e)
		}
	}
	switch {
	case m.Origin <= r.examples && r.examples > 0:
		return
	case m.result != nil:
		e := m.call
		if e.answered {
			e = &event{class: steps, origin: m.Origin, Action: e.Action}
		}
		r.answer(r.happened(e), m.result)
		says(event{class: answers, words: m.answer})
	case m.Role == compact.Assistant:
		text, calls := m.text, m.events
		if m.whole != "" && !calls[0].ran {
			text, calls = m.whole, nil
		}
		class := prose
		if len(calls) == 0 {
			class = answers
		}
		says(event{class: class, words: strings.TrimSpace(agent.WithoutElements(text, false))})
		for _, e := range calls {
			r.happened(e) // or its result left before
			if m.ended {
				if f, c := r.files[e.Path], &e.Changes[0]; f != nil && f.how != agent.Removed && c.How == agent.Written { // it grows
					c.How = agent.Replaced
				}
				r.answer(e, &e.result)
			}
		}
	}
	byUserRun := m.Role == compact.User && userShell.MatchString(quote.First(m.text, 64))
	if (byUserRun || byHand.MatchString(m.said)) && !r.files.namedIn(m.said, m.Origin) {
		r.files.apply(&agent.Change{Path: agent.EveryFile, How: agent.Touched}, &event{origin: m.Origin})
	}
	says(event{class: userWords, words: m.said, who: m.Name})
	if m.data != "" {
		path, _ := agent.AttachedAs(m.data)
		if m.Role.Instruction() { // it leaves with the results that it stands behind
			path = "a system message"
		}
		r.answer(r.happened(&event{class: steps, origin: m.Origin, Action: &agent.Action{Kind: agent.Reads, Path: path}}), agent.ResultOf(m.data, agent.Reads))
	}
}

// answer notes the result of a call, and what the call changed. A call that is told in a part
// already is told anew.
func (r *Record) answer(e *event, res *agent.Result) {
	e.told, e.answered, e.result = false, true, *res
	if printed, repeats := strings.CutPrefix(e.result.Text+"\n", e.Command+"\n"); repeats && e.Command != "" { // some harnesses do
		e.result.Text = strings.TrimSuffix(printed, "\n")
	}
	e.outcome = e.OutcomeOf(&e.result)
	e.LinesFrom(&e.result)
	if (e.Kind == agent.Runs && !e.Shows || e.Kind == agent.Other) && e.outcome.Verdict != agent.Refused {
		call, output := hashOf(e.Command+"\n"+e.Name(agent.ToldChars, "")), hashOf(e.result.Text)
		e.again, r.outputs[call] = r.outputs[call] == output, output
	}
	if e.Kind == agent.Sends || e.Kind != agent.Reads && e.Command == "" && moving.MatchString(e.Verb) {
		r.files.namedIn(e.Values.Text+e.result.Text, e.origin)
	}
	changes := slices.Clone(e.Changes)
	for _, path := range e.Scripts() {
		if f := r.files[path]; f != nil && f.whole() && len(changes) < mostFiles { // the agent wrote it
			for _, c := range f.writes() {
				c.Path = e.Placed(c.Path)
				changes = append(changes, c)
			}
		}
	}
	for _, c := range changes {
		if e.Happened(&c, e.outcome, &e.result) {
			r.files.apply(&c, e)
		} else if e.Perhaps(&c, e.outcome, &e.result) {
			r.files.namedIn(c.Path, e.origin)
		}
	}
	if e.outcome.Verdict == agent.Failed && e.Kind != agent.Runs {
		e.result.Text = agent.WithoutToolError(e.result.Text)
	}
}

// userShell finds how clients show what users run themselves.
var userShell = regexp.MustCompile(`<bash-input>|<user_shell_command>`)

// moving finds the names of tools that may change files other than the one that they name.
var moving = regexp.MustCompile(`move|delete|rename|restore|revert|undo|copy`)

// byHand finds that users say that they changed something themselves, took it back, or got what
// others changed.
var byHand = regexp.MustCompile(`(?i)\b(?:I|I've|we|we've|I have) (?:just |already |also |have )*(?:changed|edited|fixed|modified|renamed|reverted|undid|undone|restored|stashed|rebased|discarded|reset|dropped|pulled|merged|rolled|took|updated|moved|rewrote|removed|deleted|added|replaced|put)\b|\bmyself\b|\bby hand\b|\A\W*checkpoint restored|\AI did .git reset --hard |` +
	`\bhabe\b.*\bge\pL|\bselbst\b|\b(?:he|hemos) (?:revertido|deshecho|descartado)\b|\bai (?:annulé|rétabli)|我.{0,12}(?:改|删|撤销)了`)
