package compact

import (
	"encoding/json"
	"strings"
)

// A Draft is a conversation being edited, as of one request point. It is all
// that a [Stage] sees, and its methods make only legal edits: pairs stay whole,
// protected and recent messages are out of reach, and an edit that does not
// save tokens is not made.
//
// A Draft is used by one goroutine.
type Draft struct {
	view       // the conversation as it is now
	books      // what was done to it, and why
	candidates // what stages may still edit
	gap        gap
	slot       *slotDraft // nil: no slot
	memory
	in  *input
	own []bool // messages whose parts and calls are no other list's

	// What the epoch aims at: it stops at land and landCount, and must not end
	// above budget. last is set once the last resort has begun.
	land, landCount, budget int
	last                    bool
}

func newDraft(in *input) *Draft {
	d := &Draft{
		view: newView(in),
		candidates: candidates{
			cursor:  make([]int, len(in.policy.Ladder)),
			repeats: repeats{byCall: map[callText]callResults{}, byText: map[string]Ref{}, byInstruction: map[string]int{}},
		},
		memory: memory{noted: make([]bool, len(in.msgs))},
		in:     in,
		own:    make([]bool, len(in.msgs)),
		gap:    gap{host: -1},
	}
	for _, s := range in.policy.Ladder {
		d.stageNames = append(d.stageNames, s.Name())
	}
	return d
}

// Total returns what the request costs now, in tokens.
func (d *Draft) Total() int { return d.total }

// Budget returns what the request may cost, in tokens.
func (d *Draft) Budget() int { return d.budget }

// Headroom returns how much of the budget the messages that must stay leave, in
// tokens.
func (d *Draft) Headroom() int { return max(0, d.budget-d.required) }

// Over returns how many tokens must still be saved until the draft has landed.
func (d *Draft) Over() int { return max(0, d.total-d.land) }

// OverMessages returns how many messages must still leave until the draft has
// landed.
func (d *Draft) OverMessages() int { return max(0, d.count-d.landCount) }

// Excess returns how many tokens the draft is above its budget, without those that
// only rounded the fixed cost up.
func (d *Draft) Excess() int { return max(0, d.total-d.rounded-d.budget) }

// Messages returns the number of visible messages.
func (d *Draft) Messages() int { return d.end }

// Message returns message i as it is now. It must not be changed.
func (d *Draft) Message(i int) *Message { return &d.msgs[i] }

// Exchange returns the bounds [start, end) of the exchange of message i.
func (d *Draft) Exchange(i int) (start, end int) {
	start = int(d.exchanges.start[i])
	return start, d.exchanges.endOf(start)
}

// Newest reports whether message i belongs to the newest exchange.
func (d *Draft) Newest(i int) bool { return d.newestAssistant >= 0 && i >= d.newestAssistant }

// CallOf returns the call that result i answers, or nil. In an exchange of very
// many calls only those near the result's place are compared, which keeps
// reading linear. The call must not be changed.
func (d *Draft) CallOf(i int) *Call {
	caller := int(d.exchanges.caller[i])
	const near = 64
	at, m, calls := i-caller-1, &d.msgs[i], d.msgs[caller].Calls
	for k := max(0, at-near); k < min(len(calls), at+near+1); k++ {
		if c := &calls[k]; m.Role.Result() && c.ID != "" && c.ID == m.Answers {
			return c
		}
	}
	return nil
}

// Call returns a call as it is now.
func (d *Draft) Call(r CallRef) Call { return d.msgs[r.Message].Calls[r.Call] }

// Part returns a part as it is now.
func (d *Draft) Part(r Ref) Part { return d.msgs[r.Message].Parts[r.Part] }

// Cost returns what a part costs now, in tokens.
func (d *Draft) Cost(r Ref) int {
	m := &d.msgs[r.Message]
	return d.in.counter.Part(m, &m.Parts[r.Part])
}

// Drop removes the exchange of message i; instructions and pins stay. Drop is for
// policies with their own rule of what leaves. It does not protect the task and the
// newest user message, and it does not check which roles become neighbours: see
// [Draft.DropOldest].
func (d *Draft) Drop(i int, why string) {
	start, end := d.Exchange(i)
	if !d.removed(start) && !d.pinned[start] && !d.msgs[start].Role.Instruction() {
		d.remove(start, end, d.reason(why))
	}
}

// DropUserRun removes the user messages directly before the newest one, oldest
// first, until the draft fits. The newest then follows what the whole run
// followed, so no role gets a new neighbour.
func (d *Draft) DropUserRun(why string) {
	over := func() bool { return d.Excess() > 0 || d.OverMessages() > 0 }
	if !over() || d.newestUser < 0 {
		return
	}
	start := d.newestUser
	for start > 0 && d.msgs[start-1].Role == User {
		start--
	}
	by := d.reason(why)
	for i := start; i < d.newestUser && over(); i++ {
		if !d.tells(i) && !d.pinned[i] && !d.removed(i) {
			d.setRemoved(i, by)
		}
	}
}

// DropRepeated removes instructions that a later message repeats word for word,
// as clients leave them that send their instructions anew each turn. The newest
// copy stays, and so do the instructions at the head of the list.
func (d *Draft) DropRepeated(why string) {
	by := d.reason(why)
	for _, i := range d.repeatedInstructions() {
		d.setRemoved(i, by)
		if d.instructs(i) {
			d.permanent -= d.whole[i]
			d.permanentCount--
		}
	}
}

// Rewrite replaces the text of an old part, if that saves tokens, and reports
// whether it did. A part that [Draft.Media] lists becomes text. In the last resort
// of a draft that does not fit, a recent result may be rewritten, too. why is the
// reason in a few words.
func (d *Draft) Rewrite(r Ref, text, why string) bool {
	i := r.Message
	if i < 0 || i >= d.end || r.Part < 0 || r.Part >= len(d.msgs[i].Parts) {
		return false
	}
	m, e := &d.msgs[i], Edit{Op: OpRewrite, Part: r.Part, Text: text, Why: why}
	switch kind := m.Parts[r.Part].Kind; {
	case kind.Media() && i < d.recent && i != d.newestUser && !d.removed(i) && !d.keepsMedia(i):
		e.Op = OpMedia
	case kind == KindText && d.editable(i, SealText):
		e.Last = d.isLast(i)
	default:
		return false
	}
	part := rewritten(m.Parts[r.Part], e.Op, text)
	if e.Saved = d.Cost(r) - d.in.counter.Part(m, &part); e.Saved <= 0 {
		return false
	}
	e.ID, _ = NameIn(m.Answers)
	d.enter(i, e)
	return true
}

// RewriteArguments replaces the arguments of an old call, if that saves tokens,
// and reports whether it did; in the last resort those of a recent one, too. A JSON
// object must stay one: upstreams refuse anything else, or silently empty it.
func (d *Draft) RewriteArguments(r CallRef, arguments, why string) bool {
	i := r.Message
	if !d.editable(i, SealArguments) || r.Call < 0 || r.Call >= len(d.msgs[i].Calls) {
		return false
	}
	old, last := d.msgs[i].Calls[r.Call], d.isLast(i)
	call := old
	call.Arguments = Plain(arguments)
	saved := d.in.counter.Call(&old) - d.in.counter.Call(&call)
	if old.Sealed || saved <= 0 || IsObject(old.Arguments.String()) && !IsObject(arguments) {
		return false
	}
	id, _ := NameIn(old.ID)
	d.enter(i, Edit{Op: OpArguments, Part: r.Call, ID: id, Text: arguments, Why: why, Saved: saved, Last: last})
	return true
}

// isLast reports whether an edit of message i is for the last resort alone, and
// notes how far above its budget the draft was when that began.
func (d *Draft) isLast(i int) bool {
	if i < d.recent {
		return false
	}
	d.excess = max(d.excess, d.Excess())
	return true
}

// IsObject reports whether a text is a JSON object.
func IsObject(text string) bool {
	return strings.HasPrefix(strings.TrimLeft(text, " \t\r\n"), "{") && json.Valid([]byte(text))
}

// hasTask reports whether the task is in what is left of the list.
func (d *Draft) hasTask() bool { return d.task.last >= 0 && !d.removed(d.task.last) }
