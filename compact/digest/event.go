package digest

import (
	"regexp"
	"slices"
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
	answered bool
	told     bool // in a part
	moved    bool // it is told anew, with its result
	below    bool // the model still reads the message
}

func (r *Record) happened(e *event) *event {
	r.events = append(r.events, e)
	r.fresh++
	return e
}

// lose notes that a message left. answered says that the result of a call in its text follows.
func (r *Record) lose(m *message, answered bool) {
	awaits := r.awaits
	r.awaits = nil
	switch {
	case m.role == compact.User:
		call := awaits != nil && awaits.origin+1 == m.origin && (!inFence[awaits.tool] || m.holds)
		text, final := m.text, []string(nil)
		if call && strings.Contains(awaits.command, "final_answer(") {
			if final = finalAnswer.FindStringSubmatch(text); final != nil {
				text = final[1]
			}
		}
		said, data := saidIn(text, m.holds || call, call && awaits.answers())
		if m.holds || call {
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
		if undone := byUserRun.MatchString(m.text) || undoneByHand.MatchString(said); (undone || byHand.MatchString(said)) && !r.files.namedIn(said, m.origin) && undone {
			r.files.apply(&change{path: everyFile, how: touched}, &event{origin: m.origin})
		}
		if said != "" {
			r.happened(&event{by: byUser, origin: m.origin, words: said, who: m.name})
		}
		switch {
		case data == "":
		case strings.HasPrefix(data, continued):
			r.happened(&event{by: byAgent, origin: m.origin, words: data, final: true})
		default:
			path := "what the user attached"
			if strings.HasPrefix(data, agentsFile) {
				path = "AGENTS.md"
			}
			res := resultOf(data, reads)
			r.answer(r.happened(&event{by: byCall, origin: m.origin, action: &action{kind: reads, path: path}}), &res)
		}
	case m.role == compact.Assistant:
		text, actions := m.text, m.actions
		if m.inText && !answered && (inFence[actions[0].tool] || !strings.HasSuffix(strings.TrimSpace(m.whole), ">")) {
			text, actions = m.whole, nil // nobody ran it
		}
		if words := strings.TrimSpace(withoutElements(text)); words != "" {
			r.happened(&event{by: byAgent, origin: m.origin, words: words, final: len(actions) == 0})
		}
		for i, a := range actions {
			if m.inText {
				r.awaits = r.happened(&event{by: byCall, origin: m.origin, action: a})
			} else if c := r.calls.of(&m.calls[i], m.origin, a); c.event == nil { // else its result left before
				c.event = r.happened(&event{by: byCall, origin: m.origin, action: a})
			}
		}
	case m.role.Instruction(): // it leaves with the results that it stands behind
		if text := strings.TrimSpace(withoutElements(m.text)); text != "" {
			res := resultOf(text, reads)
			r.answer(r.happened(&event{by: byCall, origin: m.origin, action: &action{kind: reads, path: "a system message"}}), &res)
		}
	case m.result != nil:
		c := r.calls.answered(m)
		if c == nil {
			c = &indexedCall{action: &action{}}
		}
		if c.event == nil || c.event.answered {
			c.event = r.happened(&event{by: byCall, origin: m.origin, action: c.action})
		}
		c.event = r.answer(c.event, m.result)
		if m.said != "" {
			r.happened(&event{by: byUser, origin: m.origin, words: m.said})
		}
	}
}

// answer notes the result of a call, and what the call changed. It returns the event, a new
// one if it is told in a part already.
func (r *Record) answer(e *event, res *result) *event {
	if e.told {
		late := *e
		e.moved, late.told = true, false
		e = r.happened(&late)
	}
	e.answered, e.result, e.outcome = true, *res, outcome{}
	if of := r.running[e.values.member("sessionid bashid shellid taskid")]; of != nil && e.command == "" && !containsAny(e.verb, ending) {
		e.action = &action{kind: runs, tool: e.tool, values: e.values, command: of.command, commands: of.commands, shows: of.shows} // what it printed since
	}
	if e.kind == runs && e.result.session != "" {
		r.running[e.result.session] = e.action
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
	return e
}

// moving are parts of the names of tools that may change files other than the one that
// they name.
var moving = []string{"move", "delete", "rename", "restore", "revert", "undo", "copy"}

// byHand finds that users say that they changed something themselves.
var byHand = regexp.MustCompile(`(?i)\b(?:I|I've|we|we've|I have) (?:just |already |also |have )*(?:changed|edited|fixed|modified|renamed|reverted|updated|moved|rewrote|undid|restored|removed|deleted|added|replaced|put)\b|\bmyself\b|\bby hand\b|\bhabe\b.*\bge\pL|\bselbst\b|我.{0,12}(?:改|删|加)了`)

// undoneByHand finds that users say that they took changes back, or got others.
var undoneByHand = regexp.MustCompile(`(?i)\b(?:I|I've|we|we've|I have) (?:just |already |also |have )*(?:(?:reverted|undid|undone|restored|stashed|rebased|(?:discarded|reset|dropped|pulled|merged) (?:it|them|that|this|all|everything|(?:the|your|my) (?:\w+ )?(?:changes?|edits?|commits?|files?|branch|work)))|rolled (?:\w+ )*back|took (?:it|them|that|your \w+) back)\b|` +
	`\A\W*checkpoint restored|\b(?:he|hemos) (?:revertido|deshecho|descartado|restaurado)\b|\bai (?:annulé|rétabli|défait|restauré)|\b(?:zurückgesetzt|zurückgenommen|rückgängig gemacht|verworfen)\b|我.{0,12}(?:撤销|还原|回滚)了`)

// byUserRun finds a command that the user ran in Claude Code or Codex.
var byUserRun = regexp.MustCompile(`\A\s*<(?:bash-input|user_shell_command)>`)

// ending are parts of the names of tools that end what runs in a session.
var ending = []string{"kill", "stop", "cancel"}

// callIndex finds calls by what they share with their results. Ids may recur in
// later rounds.
type callIndex map[string][]indexedCall

type indexedCall struct {
	origin int
	action *action
	event  *event // once the call or its result left
}

// before returns how many calls of an id came before a message, and whether there is
// one in the message.
func (x callIndex) before(id string, origin int) (n int, has bool) {
	return slices.BinarySearchFunc(x[id], origin, func(c indexedCall, origin int) int { return c.origin - origin })
}

// of returns a call of a message. It adds the call, with what it does, if it is not
// there.
func (x callIndex) of(c *compact.Call, origin int, a *action) *indexedCall {
	i, has := x.before(c.ID, origin)
	if !has {
		x[c.ID] = slices.Insert(x[c.ID], i, indexedCall{origin: origin, action: a})
	}
	return &x[c.ID][i]
}

// answered returns the call that a result answers, the last one before it with
// its id, or nil.
func (x callIndex) answered(m *message) *indexedCall {
	i, _ := x.before(m.answers, m.origin)
	if i = max(0, i-1); i >= len(x[m.answers]) {
		return nil
	}
	return &x[m.answers][i]
}
