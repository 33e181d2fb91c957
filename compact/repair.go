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

// Repair makes the pairs of a conversation legal: every call is answered
// exactly once, directly after its message, and no result is without its call.
// It is total, pure and idempotent; a legal list comes back as the same slice,
// and msgs is never changed. Its cost is linear.
//
// A round is an assistant message with calls, together with directly adjacent
// assistant messages with calls, and everything after them up to the next
// assistant message. Calls and results pair in three steps, each over the
// whole list before the next:
//
//  1. Within a round the nth call with an id pairs with the nth result with it:
//     ids repeat from round to round in real traffic.
//  2. A call that is still open takes the first unpaired result behind it with
//     exactly its id, unless another message calls with that id in between. A
//     result before its call pairs with it only if no other call and no other
//     result of the list has that id.
//  3. The one open call of a round and the one unpaired result directly behind
//     its messages pair, if no call of the list has the result's id.
//
// Legacy calls, which pair by name, and calls and results without an id stay
// out of step 2. The calls of a last message that is Open are not answered.
//
// Then results move directly behind their call, and what was between follows
// them; but what the model said with a call, and a client wrote behind that,
// goes before it, so that the list does not end with words of the model that
// an upstream would take for the start of an answer. Nothing is moved to before
// bound thinking, which was written behind the list as it was repaired then: each
// run between two such answers is repaired for itself, so that a call which was
// open there keeps its stand-in, and its late result is one that nothing can own;
// and words behind such an answer stay behind its results. Results that nothing can
// own are removed; calls left open are answered or removed by mode. Where only
// results would be left of a list, one user message quotes them. The result is
// empty only if the list says nothing.
func Repair(msgs []Message, mode RepairMode) ([]Message, []Edit) {
	if legal(msgs) {
		return msgs, nil
	}
	r := repairer{mode: mode, out: make([]Message, 0, len(msgs)+4)}
	in := r.withoutEmptyCalls(msgs)
	for len(in) > 0 {
		n := frozen(in)
		r.run(in[:n:n])
		in = in[n:]
	}
	if len(r.out) == 0 {
		r.quote()
	}
	return r.out, r.edits
}

// frozen is the length of the run at the start of a list whose repair nothing
// behind it may change: up to the first answer, but the one it starts with, whose
// bound thinking has seen the run as it was repaired then. Messages in a row that
// an assistant wrote are one answer.
func frozen(msgs []Message) int {
	answer := 0 // where the answer starts that message i belongs to
	for i := 1; i < len(msgs); i++ {
		if msgs[i].Role != Assistant || msgs[i-1].Role != Assistant {
			answer = i
		}
		if msgs[i].Bound && answer > 0 {
			return answer
		}
	}
	return len(msgs)
}

// run repairs a run of the list.
func (r *repairer) run(in []Message) {
	r.in, r.rounds = in, nil
	r.pair()
	rounds := r.rounds
	for i := 0; i < len(r.in); {
		if len(rounds) > 0 && rounds[0].start == i {
			o := &rounds[0]
			r.spoken(o)
			r.place(o)
			i, rounds = o.end, rounds[1:]
			continue
		}
		r.keep(i)
		i++
	}
}

// repairer is the state of one run.
type repairer struct {
	mode    RepairMode
	in, out []Message
	edits   []Edit
	rounds  []round
	owned   []bool     // per message of in: a result that has its call, or words that are written
	lost    []*Message // results that nothing can own
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

// spoken writes the assistant messages without calls that are between the calls
// of a round and the first results of those, before the calls. What users said
// in between is left for behind the results.
func (r *repairer) spoken(o *round) {
	if slices.ContainsFunc(o.callers, func(c caller) bool { return r.in[c.at].Bound }) {
		return // its thinking has seen what stands before it
	}
	for i := o.results; i < o.end; i++ {
		if r.in[i].Role.Result() {
			return
		}
	}
	i := o.end
	for i < len(r.in) && !r.in[i].Role.Result() && !r.in[i].calling() && !r.in[i].Open {
		i++
	}
	if i == o.end || i == len(r.in) || !o.owns(i) {
		return
	}
	for k := o.end; k < i; k++ {
		if m := &r.in[k]; m.Role == Assistant && !m.Empty() {
			r.note(Edit{Op: OpMove, Why: "words put before the call that they came with", Origin: m.Origin})
			r.keep(k)
			r.owned[k] = true
		}
	}
}

// owns reports whether the result at i answers a call of the round.
func (o *round) owns(i int) bool {
	return slices.ContainsFunc(o.callers, func(c caller) bool { return slices.Contains(c.answers, i) })
}

// keep writes message i, which has no calls, unless it is a result or says
// nothing. A result that has its call is written behind that.
func (r *repairer) keep(i int) {
	switch m := &r.in[i]; {
	case r.owned[i]:
	case m.Role.Result():
		r.lost = append(r.lost, m)
		e := Edit{Op: OpDropMessage, Why: "result without its call, and without content", Origin: m.Origin, ID: m.Answers}
		if m.says() {
			e.Op, e.Why = OpDropResult, "no call can own this result"
		}
		r.note(e)
	case m.Role == Assistant && m.Empty():
		r.note(Edit{Op: OpDropMessage, Why: "assistant message without content", Origin: m.Origin})
	default:
		r.out = append(r.out, *m)
	}
}

// place writes a round in its legal order: each message with calls, its
// results, and behind the last of them everything else of the round. Results
// that are all directly behind their message keep their order.
func (r *repairer) place(o *round) {
	for n, c := range o.callers {
		m := r.in[c.at]
		if r.mode == RepairDrop {
			m, c.answers = r.withoutOpen(m, c.answers)
			if len(c.answers) == 0 {
				if m.says() {
					r.out = append(r.out, m)
				} else {
					r.note(Edit{Op: OpDropMessage, Why: "nothing left but unanswered calls", Origin: m.Origin})
				}
				continue
			}
		}
		r.rename(&m, c.answers)
		at := len(r.out)
		r.out = append(r.out, m)
		order, moved := c.answers, true
		if n == len(o.callers)-1 {
			order, moved = r.standing(c.answers, o.results)
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
	for k := o.results; k < o.end; k++ {
		r.keep(k)
	}
	if o.going {
		r.out = append(r.out, r.in[o.results-1])
	}
}

// standing returns the results of a message in the order of the list if all of
// them are in the run of results that starts at j, directly behind the message;
// else in call order, and then they move.
func (r *repairer) standing(answers []int, j int) (order []int, moved bool) {
	run := j
	for run < len(r.in) && r.in[run].Role.Result() {
		run++
	}
	for _, k := range answers {
		if k != open && (k < j || k >= run) {
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
		if m.SealedByCalls && !slices.ContainsFunc(calls, func(c Call) bool { return c.Sealed }) {
			m.Sealed, m.SealedBeside, m.SealedByCalls = m.Bound, false, false
		}
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
