package compact

import "slices"

// A RepairMode says what happens to a call without a result.
type RepairMode string

// The modes. RepairAnswer, the default, adds a fixed result: removing a call,
// as RepairDrop does, can break a signed thinking turn, and hides from the model
// that it acted.
const (
	RepairAnswer RepairMode = "answer"
	RepairDrop   RepairMode = "drop"
)

// NoResult is the text of a synthetic result. It is fixed, so that a repaired
// list has the same bytes in every request.
const NoResult = "(no result: the call was interrupted or its result is not part of this conversation)"

// Repair returns a list whose pairs are legal, and the edits that made it so:
// every call is answered exactly once, directly after its message, and no result
// is without its call. Repair is pure, idempotent and never fails. It returns a
// legal list as the same slice, and never changes msgs. Its cost is linear.
//
// A round is an assistant message with calls, together with directly adjacent
// assistant messages with calls, and everything after them up to the next
// assistant message. Calls and results pair in three steps, each over the
// whole list before the next:
//
//  1. Within a round the nth call with an id pairs with the nth result with it:
//     ids repeat from round to round in real traffic.
//  2. A call that is still open takes the first unpaired result after it with
//     exactly its id, unless another round calls with that id in between. A
//     result before its call pairs with it only if no other call and no other
//     result of the list has that id.
//  3. The one open call of a round and the one unpaired result directly after
//     its messages pair, if no call of the list has the result's id. By RepairDrop
//     they do so only if the call or the result has no id.
//
// Legacy calls, which pair by name, and calls and results without an id stay
// out of step 2. The calls of a last message that is Open are not answered.
//
// Then results move directly after their call, and what was between follows
// them. Text that the model wrote with a call, and that a client put after the
// call, moves before it: an upstream would take it for the start of an answer.
//
// Nothing moves to before bound thinking, which was written after the list as
// it was repaired then. Each run between two answers with bound thinking is
// repaired on its own: a call that was open there keeps its synthetic result,
// its late result belongs to no call, and text after such an answer stays after
// its results.
//
// Results that belong to no call are removed; calls left open are answered or
// removed by mode. If only results would be left of a list, one user message
// quotes them. The result is empty only if the list says nothing.
func Repair(msgs []Message, mode RepairMode) ([]Message, []Edit) {
	return Rules{}.Repair(msgs, mode)
}

// Repair is [Repair] by the rules of an API.
func (rules Rules) Repair(msgs []Message, mode RepairMode) ([]Message, []Edit) {
	r := repairer{rules: rules, mode: mode, used: make(map[string]bool), out: make([]Message, 0, len(msgs)+4)}
	in := r.withoutFlaws(msgs)
	for len(in) > 0 {
		n := Frozen(in)
		r.run(in[:n:n])
		in = in[n:]
	}
	if len(r.out) == 0 {
		r.quote()
	}
	if len(r.edits) == 0 {
		return msgs, nil
	}
	return r.out, r.edits
}

// Frozen returns the length of the run at the start of a list whose repair no
// later message may change: up to the first answer with bound thinking, other
// than one at the start. Assistant messages in a row are one answer.
func Frozen(msgs []Message) int {
	answer := 0 // start of the answer that message i belongs to
	for i := 1; i < len(msgs); i++ {
		if msgs[i].Role != Assistant || msgs[i-1].Role != Assistant {
			answer = i
		}
		if msgs[i].Bound() && answer > 0 {
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
			r.placeText(o)
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
	rules   Rules
	used    map[string]bool // ids of calls of messages before, where they may not recur
	next    int             // number of the next id that is made
	mode    RepairMode
	in, out []Message
	edits   []Edit
	rounds  []round
	owned   []bool     // per message of in: a result with a call, or text that is written already
	lost    []*Message // results without a call
}

func (r *repairer) note(e Edit) {
	e.Stage = repairStage
	e.ID, _ = NameIn(e.ID)
	r.edits = append(r.edits, e)
}

// withoutFlaws returns msgs without what the API refuses and no model reads.
func (r *repairer) withoutFlaws(msgs []Message) []Message {
	if !slices.ContainsFunc(msgs, func(m Message) bool { return m.Flawed }) {
		return msgs
	}
	in, why := slices.Clone(msgs), "tool_calls is empty"
	if r.rules.OnceInList {
		why = "id used twice, or output of another type than its call's"
	}
	for i := range in {
		if m := &in[i]; m.Flawed {
			m.Flawed, m.Edited = false, true
			r.note(Edit{Op: OpMend, Why: why, Origin: m.Origin})
		}
	}
	return in
}

// placeText writes, before a round, the assistant messages without calls that
// are between its calls and their first results. What users said in between is
// left for after the results.
func (r *repairer) placeText(o *round) {
	if slices.ContainsFunc(o.callers, func(c caller) bool { return r.in[c.at].Bound() }) {
		return // its thinking was written after what is before it
	}
	if slices.ContainsFunc(r.in[o.results:o.end], func(m Message) bool { return m.Role.Result() }) {
		return
	}
	i := o.end
	for i < len(r.in) && !r.in[i].Role.Result() && !r.in[i].calling() && !r.in[i].Open {
		i++
	}
	if i == o.end || i == len(r.in) || !slices.ContainsFunc(o.callers, func(c caller) bool { return slices.Contains(c.answers, i) }) {
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

// keep writes message i, which has no calls, unless it is a result or says
// nothing. A result with a call is written with its call.
func (r *repairer) keep(i int) {
	switch m := &r.in[i]; {
	case r.owned[i]:
	case m.Role.Result():
		r.lost = append(r.lost, m)
		e := Edit{Op: OpDropMessage, Why: "result without its call, and without content", Origin: m.Origin, ID: m.Answers}
		if m.Says() {
			e.Op, e.Why = OpDropResult, "no call can own this result"
		}
		r.note(e)
	case m.Role == Assistant && m.Empty():
		r.note(Edit{Op: OpDropMessage, Why: "assistant message without content", Origin: m.Origin})
	default:
		r.out = append(r.out, *m)
	}
}

// place writes a round in its legal order: each message with calls and its
// results, and then everything else of the round. Results that all directly
// follow their message keep their order.
func (r *repairer) place(o *round) {
	for n, c := range o.callers {
		m := r.in[c.at]
		if r.mode == RepairDrop {
			m, c.answers = r.withoutOpen(m, c.answers)
			if len(c.answers) == 0 {
				if m.Says() {
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
		order := make([]int, 0, len(c.answers)) // the calls that have a result
		for n, k := range c.answers {
			if k != open {
				order = append(order, n)
			}
		}
		moved := n < len(o.callers)-1 || !r.inOrder(order, c.answers, o.results)
		for _, n := range order {
			result := r.in[c.answers[n]]
			r.out = append(r.out, result)
			if moved {
				r.note(Edit{Op: OpMove, Why: "result put directly behind its call", Origin: result.Origin, ID: result.Answers})
			}
		}
		for i, n := range order {
			if res, id := &r.out[at+1+i], r.out[at].Calls[n].ID; res.Answers != id {
				res.Answers, res.Edited = id, true
				r.note(Edit{Op: OpSetID, Why: "result takes the id of its call", Origin: res.Origin, ID: id})
			}
		}
		for n, k := range c.answers {
			if k == open {
				id := r.out[at].Calls[n].ID
				r.note(Edit{Op: OpAnswer, Why: "call without a result", Origin: m.Origin, Part: n, ID: id})
				r.out = append(r.out, Message{
					Role: Tool, Shape: String, Parts: []Part{{Text: Plain(NoResult)}}, Answers: id, Origin: Added, Edited: true,
				})
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

// inOrder puts the calls of a message in the order of their results if all of those are
// in the run of results that starts at j, directly after the message, and reports
// whether they are. Otherwise the results take the order of the calls, and move.
func (r *repairer) inOrder(calls, answers []int, j int) bool {
	run := j
	for run < len(r.in) && r.in[run].Role.Result() {
		run++
	}
	if slices.ContainsFunc(calls, func(n int) bool { return answers[n] < j || answers[n] >= run }) {
		return false
	}
	slices.SortFunc(calls, func(a, b int) int { return answers[a] - answers[b] })
	return true
}

// withoutOpen returns the message without the calls that have no result, and the
// results of the others.
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
		if !slices.ContainsFunc(calls, func(c Call) bool { return c.Sealed }) {
			m.Seal &^= SealCalls
		}
	}
	return m, kept
}
