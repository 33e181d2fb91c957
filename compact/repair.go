package compact

import "slices"

// RepairMode says what happens to a call that nobody answered.
type RepairMode string

// The modes. Answer, the default, adds a fixed result: removing a call can
// break a signed thinking turn, and hides from the model that it acted.
const (
	RepairAnswer RepairMode = "answer"
	RepairDrop   RepairMode = "drop"
)

// NoResult is the text of a synthetic result. It is fixed, so that a repaired
// history is the same bytes at every turn.
const NoResult = "(no result: the call was interrupted or its result is not part of this conversation)"

// maxID is the longest id that OpenAI takes.
const maxID = 40

// Repair makes the pairs of a conversation legal: every call is answered
// exactly once, directly after its message, and no result stands without its
// call. It works by position, because ids repeat from round to round in real
// traffic. It is total, pure and idempotent; a legal list comes back as the
// same slice, and msgs is never changed.
//
// A round is an assistant message with calls, together with directly adjacent
// assistant messages with calls, and everything after them up to the next
// assistant message. Within a round: exact ids pair first (the nth call with
// an id and the nth result with it); then, if exactly one call is open and
// exactly one result of the run behind its message is left over, these two
// pair; results move behind their call, what stood between moves behind them;
// results left over leave; calls left open are answered or dropped by mode.
func Repair(msgs []Message, mode RepairMode) ([]Message, []Edit) {
	if legal(msgs) {
		return msgs, nil
	}
	r := repairer{mode: mode, out: make([]Message, 0, len(msgs)+4)}
	r.in = r.withoutEmptyCalls(msgs)
	for i := 0; i < len(r.in); {
		m := &r.in[i]
		switch {
		case m.Role == Assistant && len(m.Calls) > 0:
			i = r.round(i)
		case m.Role == Assistant && m.Empty():
			r.note(Edit{Op: OpDropMessage, Why: "assistant message without content", Origin: m.Origin})
			i++
		case m.Role.Result():
			r.note(Edit{Op: OpDropMessage, Why: "result without its call", Origin: m.Origin, ID: m.Answers})
			i++
		default:
			r.out = append(r.out, *m)
			i++
		}
	}
	return r.out, r.edits
}

// repairer is the state of one run.
type repairer struct {
	mode    RepairMode
	in, out []Message
	edits   []Edit
}

func (r *repairer) note(e Edit) {
	e.Stage = "repair"
	r.edits = append(r.edits, e)
}

// withoutEmptyCalls removes lists of calls that are empty: OpenAI refuses
// them.
func (r *repairer) withoutEmptyCalls(msgs []Message) []Message {
	in := slices.Clone(msgs)
	for i := range in {
		if m := &in[i]; m.EmptyCalls {
			m.EmptyCalls, m.Edited = false, true
			r.note(Edit{Op: OpDropEmptyCalls, Why: "tool_calls is empty", Origin: m.Origin})
		}
	}
	return in
}

// open marks a call without a result.
const open = -1

// caller is one message with calls within a round.
type caller struct {
	at      int   // index in r.in
	answers []int // per call: index in r.in of its result, or open
}

// round repairs the round that starts at i and gives the index behind it.
func (r *repairer) round(i int) int {
	var callers []caller
	j := i
	for ; j < len(r.in) && r.in[j].Role == Assistant && len(r.in[j].Calls) > 0; j++ {
		c := caller{at: j, answers: make([]int, len(r.in[j].Calls))}
		for k := range c.answers {
			c.answers[k] = open
		}
		callers = append(callers, c)
	}
	end := j
	for end < len(r.in) && r.in[end].Role != Assistant {
		end++
	}
	var going *Message
	if last := &r.in[j-1]; last.Open && j == len(r.in) {
		// The model is asked to go on with this message: its calls are not
		// answered yet, and must not be.
		callers, going = callers[:len(callers)-1], last
	}
	used := r.pairByID(callers, j, end)
	r.pairLeftover(callers, j, end, used)
	r.place(callers, j, end, used)
	if going != nil {
		r.out = append(r.out, *going)
	}
	return end
}

// pairByID pairs the nth call with an id and the nth result with it. used[k]
// tells whether result j+k has its call.
func (r *repairer) pairByID(callers []caller, j, end int) (used []bool) {
	used = make([]bool, end-j)
	queues := make(map[pairKey][]int)
	for k := j; k < end; k++ {
		if r.in[k].Role.Result() {
			key := resultKey(&r.in[k])
			queues[key] = append(queues[key], k)
		}
	}
	for _, c := range callers {
		for n := range c.answers {
			key := callKey(&r.in[c.at].Calls[n])
			if q := queues[key]; len(q) > 0 {
				c.answers[n], queues[key] = q[0], q[1:]
				used[q[0]-j] = true
			}
		}
	}
	return used
}

// pairLeftover pairs the one open call of a message and the one result left
// over in the run of results directly behind it.
func (r *repairer) pairLeftover(callers []caller, j, end int, used []bool) {
	if len(callers) == 0 {
		return
	}
	c := callers[len(callers)-1]
	if c.at != j-1 {
		return
	}
	call, result := open, open
	for n, a := range c.answers {
		if a == open {
			if call != open {
				return
			}
			call = n
		}
	}
	for k := j; k < end && r.in[k].Role.Result(); k++ {
		if !used[k-j] {
			if result != open {
				return
			}
			result = k
		}
	}
	if call == open || result == open {
		return
	}
	if legacy := r.in[c.at].Calls[call].Kind == CallLegacy; legacy != (r.in[result].Role == Function) {
		return
	}
	c.answers[call] = result
	used[result-j] = true
}

// place writes a round in its legal order: each message with calls, its
// results, and behind the last of them everything else that stood in the
// round. Results that already stood directly behind their message keep their
// order.
func (r *repairer) place(callers []caller, j, end int, used []bool) {
	for n, c := range callers {
		m := r.in[c.at]
		if r.mode == RepairDrop {
			m, c.answers = r.withoutOpen(m, c.answers)
			if len(c.answers) == 0 {
				if m.Empty() {
					r.note(Edit{Op: OpDropMessage, Why: "nothing left but unanswered calls", Origin: m.Origin})
				} else {
					r.out = append(r.out, m)
				}
				continue
			}
		}
		r.rename(&m, c.answers)
		at := len(r.out)
		r.out = append(r.out, m)
		order, moved := c.answers, true
		if n == len(callers)-1 {
			order, moved = r.standing(c.answers, j)
		}
		for _, k := range order {
			if k == open {
				continue
			}
			r.out = append(r.out, r.in[k])
			if moved {
				r.note(Edit{Op: OpMove, Why: "result put directly behind its call", Origin: r.in[k].Origin, ID: r.in[k].Answers})
			}
		}
		r.align(&r.out[at], c.answers, r.out[at+1:], order)
		for n, k := range c.answers {
			if k == open {
				r.answer(&r.out[at], n)
			}
		}
	}
	for k := j; k < end; k++ {
		switch m := &r.in[k]; {
		case used[k-j]:
		case m.Role.Result():
			r.note(Edit{Op: OpDropMessage, Why: "result without its call", Origin: m.Origin, ID: m.Answers})
		default:
			r.out = append(r.out, *m)
		}
	}
}

// standing gives the results of a message in the order in which they stand,
// when all of them stand in the run of results directly behind it (it starts
// at j); else in call order, and then they move.
func (r *repairer) standing(answers []int, j int) (order []int, moved bool) {
	run := j
	for run < len(r.in) && r.in[run].Role.Result() {
		run++
	}
	for _, k := range answers {
		if k != open && k >= run {
			return answers, true
		}
	}
	order = slices.Clone(answers)
	slices.Sort(order)
	return order, false
}

// withoutOpen removes the calls that have no result.
func (r *repairer) withoutOpen(m Message, answers []int) (Message, []int) {
	var calls []Call
	var kept []int
	for n, k := range answers {
		if k == open {
			r.note(Edit{Op: OpDropCall, Why: "call without a result", Origin: m.Origin, Part: n, ID: m.Calls[n].ID})
			continue
		}
		calls = append(calls, m.Calls[n])
		kept = append(kept, k)
	}
	if len(kept) < len(answers) {
		m.Calls, m.Edited = calls, true
	}
	return m, kept
}

// answer adds a synthetic result for call n of m.
func (r *repairer) answer(m *Message, n int) {
	c := &m.Calls[n]
	role := Tool
	if c.Kind == CallLegacy {
		role = Function
	}
	key := callKey(c)
	r.note(Edit{Op: OpAnswer, Why: "call without a result", Origin: m.Origin, Part: n, ID: key.id})
	r.out = append(r.out, Message{
		Role: role, Shape: String, Parts: []Part{{Text: Plain(NoResult)}},
		Answers: key.id, Origin: Added, Edited: true,
	})
}
