package digest

import (
	"regexp"
	"strings"

	"laconic/compact"
)

// by says whose an event is.
type by uint8

const (
	byUser by = iota
	byAgent
	byCall
)

// An event is what happened in one message that left: words of the user or of the
// assistant, or a call with its result.
type event struct {
	by       by
	origin   int
	words    string // what was said
	who      string // the name of the user, where the client says it
	final    bool   // the assistant said it to the user, without a call
	*action         // of a call
	result   result
	outcome  outcome
	left     bool // its call or its result left
	answered bool
	told     bool // in a part
	moved    bool // it is told anew, with its result
	below    bool // the model still reads the message
}

func (r *Record) happened(e *event) *event {
	e.left = true
	r.events = append(r.events, e)
	r.fresh++
	return e
}

// shown notes that a message holds a text that nobody said.
func (r *Record) shown(m *message, path, text string) {
	res := resultOf(text, reads)
	r.answer(r.happened(&event{by: byCall, origin: m.origin, action: &action{kind: reads, path: path}}), &res)
}

// lose notes that a message left. answered says that the result of a call in its text follows.
func (r *Record) lose(m *message, answered bool) {
	awaits := r.awaits
	r.awaits = nil
	switch {
	case m.role == compact.User && strings.HasPrefix(m.text, relays):
		r.relay(m)
	case m.role == compact.User:
		call := awaits != nil && awaits.origin+1 == m.origin && (!inFence[awaits.tool] || m.holds)
		text, final := m.text, []string(nil)
		if call && strings.Contains(awaits.command, "final_answer(") {
			if final = finalAnswer.FindStringSubmatch(text); final != nil {
				text = final[1]
			}
		}
		said, data := m.said, m.data
		if m.holds || call {
			if said, data = "", text; call && awaits.answers() {
				said, data = saidIn(text, true)
			}
			if !call {
				awaits = r.happened(&event{by: byCall, origin: m.origin, action: &action{}})
			}
			res := resultOf(data, awaits.kind)
			r.answer(awaits, &res)
			data = ""
		}
		if final != nil {
			r.happened(&event{by: byAgent, origin: m.origin, words: final[2], final: true})
			said = final[3]
		}
		if (byUserRun.MatchString(m.text) || byHand.MatchString(said)) && !r.files.namedIn(said, m.origin) {
			r.files.apply(&change{path: everyFile, how: touched}, &event{origin: m.origin})
		}
		if said != "" {
			r.happened(&event{by: byUser, origin: m.origin, words: said, who: m.name})
		}
		if data != "" {
			path := "what the user attached"
			if strings.HasPrefix(data, agentsFile) {
				path = "AGENTS.md"
			}
			r.shown(m, path, data)
		}
	case m.role == compact.Assistant:
		text, calls := m.text, m.events
		if m.inText && !answered && (inFence[calls[0].tool] || !strings.HasSuffix(strings.TrimSpace(m.whole), ">")) {
			text, calls = m.whole, nil // nobody ran it
		}
		if words := strings.TrimSpace(withoutElements(text)); words != "" {
			r.happened(&event{by: byAgent, origin: m.origin, words: words, final: len(calls) == 0})
		}
		for _, e := range calls {
			if !e.left { // else its result left before
				r.happened(e)
			}
			if m.inText {
				r.awaits = e
			}
		}
	case m.role.Instruction(): // it leaves with the results that it stands behind
		if text := strings.TrimSpace(withoutElements(m.text)); text != "" {
			r.shown(m, "a system message", text)
		}
	case m.result != nil:
		e := m.call
		if e.answered {
			e = &event{by: byCall, origin: m.origin, action: e.action}
		}
		if !e.left {
			r.happened(e)
		}
		r.answer(e, m.result)
		if m.said != "" {
			r.happened(&event{by: byUser, origin: m.origin, words: m.said})
		}
	}
}

// answer notes the result of a call, and what the call changed. A call that is told in a part
// already is told anew.
func (r *Record) answer(e *event, res *result) {
	if e.told {
		late := *e
		e.moved, late.told = true, false
		e = r.happened(&late)
	}
	e.answered, e.result, e.outcome = true, *res, outcome{}
	if e.command != "" { // which some harnesses repeat
		e.result.text = strings.TrimPrefix(e.result.text, e.command+"\n")
	}
	e.outcome = e.outcomeOf(&e.result)
	if e.kind == sends || e.command == "" && containsAny(e.verb, moving) {
		r.files.namedIn(e.values.text+e.result.text, e.origin)
	}
	for i := range e.changes {
		c := &e.changes[i]
		if e.happened(c, e.outcome, &e.result) {
			r.files.apply(c, e)
		} else if (e.outcome.verdict == unknown || c.last && !e.result.coded) && !heldBack.MatchString(e.result.text) {
			r.files.namedIn(c.path, e.origin)
		}
	}
}

// moving are parts of the names of tools that may change files other than the one that
// they name.
var moving = []string{"move", "delete", "rename", "restore", "revert", "undo", "copy"}

// byHand finds that users say that they changed something themselves, took it back, or got what
// others changed.
var byHand = regexp.MustCompile(`(?i)\b(?:I|I've|we|we've|I have) (?:just |already |also |have )*(?:changed|edited|fixed|modified|renamed|reverted|undid|undone|restored|stashed|rebased|discarded|reset|dropped|pulled|merged|rolled|took|updated|moved|rewrote|removed|deleted|added|replaced|put)\b|\bmyself\b|\bby hand\b|\A\W*checkpoint restored|` +
	`\bhabe\b.*\bge\pL|\bselbst\b|\b(?:zurückgesetzt|zurückgenommen|rückgängig gemacht|verworfen)\b|\b(?:he|hemos) (?:revertido|deshecho|descartado|restaurado)\b|\bai (?:annulé|rétabli|défait|restauré)|我.{0,12}(?:改|删|加|撤销|还原|回滚)了`)

// byUserRun finds a command that the user ran in Claude Code or Codex.
var byUserRun = regexp.MustCompile(`\A\s*<(?:bash-input|user_shell_command)>`)
