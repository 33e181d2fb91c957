package compact

import (
	"iter"
	"slices"
)

// Draft is a conversation being edited, as it stood at one request point. It
// is all that a stage sees, and its methods make only legal edits: pairs stay
// whole; pinned, head and recent messages are out of reach; what does not save
// is not done. The running total is always the exact sum of the parts.
type Draft struct {
	counter Counter
	msgs    []Message // the repaired list; an entry is replaced when edited
	whole   []int     // cost of each message before any edit, without bound thinking
	sum     []int     // sum[i] is the cost of the first i messages before any edit
	cost    []int     // cost of each message now
	parts   layout    // exchanges
	pinned  []bool

	// As of the request point that is being looked at.
	end     int // messages before it are visible
	total   int // cost of the request now: fixed (rounded up) and visible messages
	count   int // visible messages that are left
	first   int // index of the first user message, or -1
	newest  int // index of the newest user message, or -1
	calling int // index of the newest assistant message, or -1
	recent  int // first of the recent messages
	must    int // cost of what stays at every later request point: fixed, head, pins, first user message
	musts   int // the same, counted in messages
	stays   int // cost of what must stay at this one: must, the newest user message, the newest calls

	bound            []int // visible messages that still have their bound thinking
	unbinds          StageReport
	land, budget     int // tokens: stop at, never above
	landCount        int // messages: stop at
	excess           int // tokens above the budget when the last resort began in this epoch; 0: it did not
	stage, epoch     int
	cursor           []int // per stage: messages before it were offered already
	media            []Ref // images, sounds and files that are still there
	older            older
	large            []Ref // results that cut_oversize may still cut
	gap              gap
	slot             *slotDraft
	trail            []removal // what left and came back in this epoch, in order
	placement        Placement
	warmTo           int // where the gap ends that a slot would describe
	journal          []Edit
	rewrites, growth []int // per stage: edits made, exchanges removed
	saved            []int // per stage: tokens
	removedBy        []int32
	reasons          []Edit
	stageNames       []string
}

// Ref names one part of one message of a draft.
type Ref struct{ Message, Part int }

// Total returns the cost of the request now, in tokens.
func (d *Draft) Total() int { return d.total }

// Over is how many tokens are still to be saved until the draft has landed; 0
// when it has.
func (d *Draft) Over() int { return max(0, d.total-d.land) }

// Excess is how many tokens the draft is above its budget; 0 when it fits.
func (d *Draft) Excess() int { return max(0, d.total-d.budget) }

// Crowded is how many messages still have to leave; 0 when there are few
// enough.
func (d *Draft) Crowded() int { return max(0, d.count-d.landCount) }

// Results yields the texts of old tool results that may be edited, oldest
// first. Each is offered once to each stage in the life of a draft, so a stage
// must decide by the text alone. Stop early when the draft has landed.
func (d *Draft) Results() iter.Seq2[Ref, Part] {
	return d.once(func(m *Message) bool { return m.Role.Result() })
}

// Prose yields the old texts of assistant messages that may be edited, in the
// manner of Results. Messages that carry reasoning are not among them.
func (d *Draft) Prose() iter.Seq2[Ref, Part] {
	return d.once(func(m *Message) bool { return m.Role == Assistant && !m.Sealed && !m.Open })
}

// once yields the text parts of old messages that want accepts, from where
// this stage stopped last time.
func (d *Draft) once(want func(*Message) bool) iter.Seq2[Ref, Part] {
	return func(yield func(Ref, Part) bool) {
		stop := min(d.recent, d.end)
		for i := d.cursor[d.stage]; i < stop; i++ {
			d.cursor[d.stage] = i
			if d.removed(i) || d.pinned[i] || !want(&d.msgs[i]) {
				continue
			}
			for p := range d.msgs[i].Parts {
				if part := d.msgs[i].Parts[p]; part.Kind == KindText && !yield(Ref{i, p}, part) {
					return
				}
			}
		}
		d.cursor[d.stage] = max(d.cursor[d.stage], stop)
	}
}

// LastResort begins the last resort of a draft that is above its budget: the
// slot becomes smaller, and tool results, recent ones included, may be cut by
// Cut. It lists the texts of results that cost more than floor tokens, oldest
// first; nil where the draft fits. A result at or below the floor never comes
// back.
func (d *Draft) LastResort(floor int) []Ref {
	if d.Excess() == 0 {
		return nil
	}
	d.yieldSlot(d.Room() / slotYield)
	if d.Excess() > d.newestResults()/2 {
		d.yieldSlot(d.Room() / slotYieldMost)
	}
	kept := d.large[:0]
	for _, r := range d.large {
		if !d.removed(r.Message) && d.Cost(r) > floor {
			kept = append(kept, r)
		}
	}
	d.large = kept
	return kept
}

// removable is about how much may leave at this request point, in tokens.
func (d *Draft) removable() int {
	return d.total - max(d.stays, d.must+d.sum[d.end]-d.sum[d.recent])
}

// Newest reports whether message i belongs to the newest exchange: the newest
// assistant message, and what follows.
func (d *Draft) Newest(i int) bool { return d.calling >= 0 && i >= d.calling }

// Cost is what a part costs now, in tokens.
func (d *Draft) Cost(r Ref) int { return d.counter.Part(&d.msgs[r.Message].Parts[r.Part]) }

// Text is what a part says now.
func (d *Draft) Text(r Ref) Text { return d.msgs[r.Message].Parts[r.Part].Text }

// Rewrite replaces the text of an old part, if that saves tokens, and reports
// whether it did. why is the reason in a few words.
func (d *Draft) Rewrite(r Ref, text, why string) bool {
	return d.editable(r.Message, false) && d.textAt(r) && d.replace(r, Edit{Op: OpRewrite, Text: text, Why: why})
}

// Cut is Rewrite for results that LastResort listed, recent ones included. It
// does nothing once the draft fits.
func (d *Draft) Cut(r Ref, text, why string) bool {
	return d.editable(r.Message, true) && d.textAt(r) && d.replace(r, Edit{Op: OpRewrite, Text: text, Why: why, Last: d.lastly(r.Message)})
}

// newestResults is the cost of the results of the newest exchange now.
func (d *Draft) newestResults() (n int) {
	for i := d.calling + 1; i < d.end && d.calling >= 0 && d.msgs[i].Role.Result(); i++ {
		n += d.cost[i]
	}
	return n
}

// lastly reports whether an edit of message i is for the last resort alone, and
// notes how far above its budget the draft was when that began.
func (d *Draft) lastly(i int) bool {
	if i < d.recent {
		return false
	}
	d.excess = max(d.excess, d.Excess())
	return true
}

// textAt reports whether there is a text at r.
func (d *Draft) textAt(r Ref) bool {
	parts := d.msgs[r.Message].Parts
	return r.Part >= 0 && r.Part < len(parts) && parts[r.Part].Kind == KindText
}

// replace puts a new text into a part, if that saves.
func (d *Draft) replace(r Ref, e Edit) bool {
	m := &d.msgs[r.Message]
	old := m.Parts[r.Part]
	part := rewritten(old, e.Op, e.Text)
	e.Saved = d.counter.Part(&old) - d.counter.Part(&part)
	if e.Saved <= 0 {
		return false
	}
	m.Parts = slices.Clone(m.Parts)
	m.Parts[r.Part] = part
	e.Part, e.ID = r.Part, m.Answers
	d.note(r.Message, e)
	return true
}

// note enters an edit of message i, which was made, into the books.
func (d *Draft) note(i int, e Edit) {
	m := &d.msgs[i]
	m.Edited = true
	d.cost[i] -= e.Saved
	d.total -= e.Saved
	d.saved[d.stage] += e.Saved
	d.rewrites[d.stage]++
	e.Stage, e.Epoch, e.Origin, e.At = d.stageNames[d.stage], d.epoch, m.Origin, i
	d.journal = append(d.journal, e)
}

// editable reports whether a stage may rewrite the texts and the arguments of
// message i. last: as the last resort, which reaches recent messages of a draft
// that is above its budget.
func (d *Draft) editable(i int, last bool) bool {
	if i < 0 || i >= d.end || i >= d.recent && !(last && d.Excess() > 0) {
		return false
	}
	m := &d.msgs[i]
	return (m.Role == Assistant || m.Role.Result()) && !d.removed(i) && !d.pinned[i] && !m.Sealed && !m.Open
}

// removed tells whether a message has left.
func (d *Draft) removed(i int) bool { return d.removedBy[i] != 0 }

// setRemoved takes a message out of the draft, or puts it back.
func (d *Draft) setRemoved(i int, by int32) {
	was := d.removedBy[i]
	switch {
	case (was == 0) == (by == 0):
		return // what is away stays so with its first reason
	case by != 0:
		d.total -= d.cost[i]
		d.count--
	default:
		d.total += d.cost[i]
		d.count++
	}
	d.trail = append(d.trail, removal{i, was})
	d.removedBy[i] = by
}

// layout says where the exchanges of a list are. An exchange is the smallest
// run that leaves together: an assistant message with its results, or one
// message alone.
type layout struct {
	start []int32 // per message: the first message of its exchange
	next  []int32 // per message: the first assistant message at or after it
	// latest is, per message, the largest Origin before it.
	latest []int32
	// calling: the list begins with a call, instructions apart.
	calling bool
}

func layoutOf(msgs []Message) layout {
	n := len(msgs)
	l := layout{start: make([]int32, n), next: make([]int32, n+1), latest: make([]int32, n)}
	latest := 0
	for i := range msgs {
		l.start[i], l.latest[i] = int32(i), int32(latest)
		latest = max(latest, msgs[i].Origin)
		if msgs[i].Role.Result() && i > 0 {
			l.start[i] = l.start[i-1]
		}
	}
	l.next[len(msgs)] = int32(len(msgs))
	if i := slices.IndexFunc(msgs, func(m Message) bool { return !m.Role.Head() }); i >= 0 {
		l.calling = len(msgs[i].Calls) > 0
	}
	for i := len(msgs) - 1; i >= 0; i-- {
		l.next[i] = l.next[i+1]
		if msgs[i].Role == Assistant {
			l.next[i] = int32(i)
		}
	}
	return l
}

// endOf is the index behind the exchange that starts at i.
func (l layout) endOf(i int) int {
	j := i + 1
	for j < len(l.start) && int(l.start[j]) == i {
		j++
	}
	return j
}

// Budget is what the request may cost at most, in tokens.
func (d *Draft) Budget() int { return d.budget }

// Room is what is left of the budget above what must stay, in tokens.
func (d *Draft) Room() int { return max(0, d.budget-d.stays) }

// HeadTokens is what stays of each result of the newest exchange, and of the
// arguments of each of its calls, at least: an agent that does not see what its
// call came to makes the call again.
const HeadTokens = 200

// newestStays is the cost of what must stay beside must at this request point:
// the newest user message, and the newest calls with arguments as short as they
// may become.
func (d *Draft) newestStays() (n int) {
	if i := d.newest; i >= 0 && i != d.first && !d.pinned[i] {
		n = d.whole[i]
	}
	a := d.calling
	if a < 0 || d.pinned[a] {
		return n
	}
	m := &d.msgs[a]
	n += d.whole[a]
	if !m.staysSealed() && !m.Open {
		for i := range m.Calls {
			n -= max(0, d.counter.Call(&m.Calls[i])-HeadTokens)
		}
	}
	return n
}
