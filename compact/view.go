package compact

import "slices"

// view is the repaired list as of one request point, edits and removals
// included.
//
// Invariants: messages from end on are invisible, and nothing depends on them.
// total is the fixed cost, the cost of every visible message that was not
// removed, and the size of the slot; count is the number of these messages, and
// one more for a slot that is a message of its own. whole and sum never change,
// so that an edit moves no later decision.
type view struct {
	msgs      []Message // an entry is replaced when it is edited
	whole     []int     // cost of each message before any edit, without bound thinking
	sum       []int     // sum[i] is the sum of whole[:i]
	cost      []int     // cost of each message now
	exchanges layout
	pinned    []bool
	removedBy []int32 // per message: 1 + the index in books.reasons, or 0

	end             int // number of visible messages
	length          int // of the client's list, as far as it is visible
	total, count    int // cost of the request, and number of messages left
	rounded         int // tokens of total that the request does not have
	task            task
	newestUser      int   // index, or -1
	newestAssistant int   // the first message of the newest exchange, or -1
	newestReplaces  int   // the newest message that replaces those before it, or -1
	recent          int   // index of the first recent message
	bound           []int // visible messages that still have their bound thinking

	// permanent is the cost of what stays at every later request point: the
	// fixed cost, instructions, pins and the task; permanentCount
	// is their number. required adds what must stay at this point: the newest
	// user message and the newest calls.
	permanent, permanentCount int
	required                  int
}

func newView(in *input) view {
	n, fixed, exchanges := len(in.msgs), in.fixed(), layoutOf(in.msgs)
	v := view{
		msgs: slices.Clone(in.msgs), whole: slices.Clone(in.costs), cost: slices.Clone(in.costs),
		sum: make([]int, n+1), exchanges: exchanges, pinned: in.policy.Pins.mask(in.msgs, exchanges.start), removedBy: make([]int32, n),
		total: fixed, rounded: fixed - max(0, in.conv.Fixed), permanent: fixed, required: fixed, task: task{-1, -1, -1}, newestUser: -1, newestAssistant: -1, newestReplaces: -1,
	}
	for i := range v.whole {
		if m := &in.msgs[i]; m.Bound() {
			bare := m.Unbound()
			v.whole[i] = Cost(in.counter, &bare)
		}
		v.sum[i+1] = v.sum[i] + v.whole[i]
	}
	return v
}

// show makes message i, the next one, visible.
func (v *view) show(i int) {
	m := &v.msgs[i]
	v.total += v.cost[i]
	v.count++
	if m.Bound() {
		v.bound = append(v.bound, i)
	}
	switch m.Role {
	case User:
		v.newestUser = i
	case Assistant:
		v.newestAssistant = int(v.exchanges.start[i])
	}
	if m.Replaces {
		v.newestReplaces = i
	}
	if v.instructs(i) || v.pinned[i] {
		v.stays(i)
	}
	v.end, v.length = i+1, max(v.length, m.Origin+1)
}

// stays adds message i to what stays at every later request point.
func (v *view) stays(i int) {
	v.permanent += v.whole[i]
	v.permanentCount++
}

// instructs reports whether message i is an instruction that stays. One behind
// results is a note of its exchange.
func (v *view) instructs(i int) bool {
	return v.msgs[i].Role.Instruction() && int(v.exchanges.start[i]) == i
}

// answers reports whether an exchange with an answer begins with message i.
func (v *view) answers(i int) bool {
	return v.msgs[i].Role == Assistant && int(v.exchanges.start[i]) == i
}

// removed reports whether message i was removed.
func (v *view) removed(i int) bool { return v.removedBy[i] != 0 }

// HeadTokens is what at least stays of each result of the newest exchange, and
// of the arguments of each of its calls: an agent that does not see what its
// call returned makes the call again.
const HeadTokens = 200

// newestRequired returns the cost of what must stay beside the permanent
// messages at this request point: the newest user message, and the newest calls
// with arguments as short as they may become.
func (v *view) newestRequired(c Counter) (n int) {
	if i := v.newestUser; i >= 0 && !v.tells(i) && !v.pinned[i] {
		n = v.whole[i]
	}
	a := v.newestAssistant
	if a < 0 || v.pinned[a] {
		return n
	}
	for i := a; i < v.end && int(v.exchanges.start[i]) == a; i++ {
		m := &v.msgs[i]
		if m.Role.Result() || v.pinned[i] {
			continue
		}
		n += v.whole[i]
		if v.whole[i] > HeadTokens && m.Seal&^SealBound == 0 && !m.Open { // else no call costs more
			for k := range m.Calls {
				n -= max(0, c.Call(&m.Calls[k])-HeadTokens)
			}
		}
	}
	return n
}

// newestResults returns what the results of the newest exchange cost now.
func (v *view) newestResults() (n int) {
	for i := v.newestAssistant + 1; i < v.end && int(v.exchanges.start[i]) == v.newestAssistant; i++ {
		if v.msgs[i].Role.Result() {
			n += v.cost[i]
		}
	}
	return n
}

// withoutOld returns what the request costs once everything old has left, as
// far as it may: what stages other than the last resort cannot get below.
func (v *view) withoutOld() int {
	n := v.permanent
	for i := v.recent; i < v.end; i++ {
		if !v.instructs(i) && !v.pinned[i] && !v.tells(i) {
			n += v.cost[i]
		}
	}
	if u := v.newestUser; u >= 0 && u < v.recent && !v.tells(u) && !v.pinned[u] {
		n += v.cost[u]
	}
	return n
}

// recentAt returns the index of the first recent message. It measures by what
// messages cost before any edit, so that an edit does not move it. A share of
// headroom tokens and of the messages left in the budget may be recent, because
// thousands of very short messages are few tokens. Unless free, the newest
// exchange is recent whatever it costs.
func (v *view) recentAt(k KeepRecent, headroom, messages int, free bool) int {
	if k.Messages > 0 {
		r := max(0, v.end-k.Messages) // it may be within an exchange
		if v.newestAssistant >= 0 && !free {
			r = min(r, v.newestAssistant)
		}
		return r
	}
	s := positive(k.Share, DefaultKeepShare)
	limit := min(positive(k.Tokens, DefaultKeepTokens), share(s, headroom))
	r, _ := slices.BinarySearchFunc(v.sum[:v.end+1], v.sum[v.end]-limit, func(a, b int) int { return a - b })
	r = max(r, v.end-share(s, messages))
	for r < v.end && int(v.exchanges.start[r]) != r {
		r++ // the exchange that r is in does not fit whole
	}
	at := v.end
	for least := positive(k.Exchanges, DefaultKeepExchanges); least > 0 && at > 0; least-- {
		for at--; at > 0 && !v.answers(at); at-- {
		}
	}
	return min(r, at)
}

// layout says where the exchanges of a list are.
type layout struct {
	start  []int32 // per message: the first message of its exchange
	next   []int32 // per message: the first exchange with an answer at or after it
	caller []int32 // per message: the last assistant message at or before it, or 0
	latest []int32 // per message: the largest Origin before it
	// Per message: the nearest one before and after it that is no instruction, or
	// -1 and the length of the list.
	before, after []int32
	// startsWithCall is set if the first message that is no instruction has
	// calls.
	startsWithCall bool
}

func layoutOf(msgs []Message) layout {
	n := len(msgs)
	l := layout{
		start: make([]int32, n), next: make([]int32, n+1), caller: make([]int32, n), latest: make([]int32, n), before: make([]int32, n), after: make([]int32, n),
	}
	latest, speaker, caller := 0, int32(-1), int32(0)
	for i := range msgs {
		if l.before[i] = speaker; !msgs[i].Role.Instruction() {
			speaker = int32(i)
		}
		l.start[i], l.latest[i] = int32(i), int32(latest)
		latest = max(latest, msgs[i].Origin)
		if i > 0 && l.continues(msgs, i) {
			l.start[i] = l.start[i-1]
		}
		if msgs[i].Role == Assistant {
			caller = int32(i)
		}
		l.caller[i] = caller
	}
	l.next[n], speaker = int32(n), int32(n)
	for i := n - 1; i >= 0; i-- {
		if l.after[i] = speaker; !msgs[i].Role.Instruction() {
			speaker = int32(i)
		}
		l.next[i] = l.next[i+1]
		if msgs[i].Role == Assistant && int(l.start[i]) == i {
			l.next[i] = int32(i)
		}
	}
	l.startsWithCall = int(speaker) < n && len(msgs[speaker].Calls) > 0
	return l
}

// continues reports whether message i belongs to the exchange of the one before it:
// a result, the rest of an answer, or an instruction behind results.
func (l layout) continues(msgs []Message, i int) bool {
	switch m := &msgs[i]; {
	case m.Role == Assistant:
		return m.Joined && msgs[l.start[i-1]].Role == Assistant
	case m.Role.Instruction():
		return msgs[i-1].Role.Result() || msgs[i-1].Role.Instruction() && int(l.start[i-1]) < i-1
	}
	return msgs[i].Role.Result()
}

// endOf returns the index after the exchange that starts at i.
func (l layout) endOf(i int) int {
	j := i + 1
	for j < len(l.start) && int(l.start[j]) == i {
		j++
	}
	return j
}

// tells reports whether message i is one of the task's that stay.
func (v *view) tells(i int) bool {
	return i >= v.task.from && i <= v.task.last && v.msgs[i].Role == User
}

// settleTask decides, at the first request point with a user message, which messages
// of the task stay: the last one, and of those before it the newest that cost no more
// than most together with it. If something else opens the list, none may leave without
// giving an answer a new neighbour; then the task is the first message alone.
func (v *view) settleTask(most int) {
	if v.task.last >= 0 || v.newestUser < 0 {
		return
	}
	t := &v.task
	t.first, t.last = Task(v.msgs[:v.end])
	t.from = t.last
	cost := v.whole[t.last]
	for i := t.last - 1; i >= t.first; i-- {
		if v.msgs[i].Role != User {
			continue
		}
		if cost += v.whole[i]; cost > most {
			break
		}
		t.from = i
	}
	if t.from > t.first && v.exchanges.before[t.first] >= 0 {
		t.from, t.last = t.first, t.first
	}
	for i := t.from; i <= t.last; i++ {
		if v.tells(i) && !v.pinned[i] {
			v.stays(i)
		}
	}
}
