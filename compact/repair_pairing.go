package compact

import (
	"slices"
)

// round is an assistant message with calls, together with directly adjacent
// ones, and everything after them up to the next assistant message.
type round struct {
	start   int // index of its first message in repairer.in
	results int // index of the first message after those with calls
	end     int // index after its last message
	callers []caller
	going   bool // the model is to continue the last message with calls, which is no caller
}

// caller is one message with calls within a round.
type caller struct {
	at      int   // index in repairer.in
	answers []int // per call: index in repairer.in of its result, or open
}

// open marks a call without a result.
const open = -1

// pair finds the result of each call: see Repair.
func (r *repairer) pair() {
	r.owned = make([]bool, len(r.in))
	for i := 0; i < len(r.in); {
		if !r.in[i].calling() {
			i++
			continue
		}
		r.rounds = append(r.rounds, r.roundAt(i))
		i = r.rounds[len(r.rounds)-1].end
	}
	r.pairForward()
	ids := r.occurrences()
	r.pairBackward(ids)
	for i := range r.rounds {
		r.pairLeftover(&r.rounds[i], ids)
	}
}

// roundAt returns the round that starts at i.
func (r *repairer) roundAt(i int) round {
	o := round{start: i}
	j := i
	for ; j < len(r.in) && r.in[j].calling(); j++ {
		o.callers = append(o.callers, caller{j, slices.Repeat([]int{open}, len(r.in[j].Calls))})
	}
	o.results, o.end = j, j
	for o.end < len(r.in) && r.in[o.end].Role != Assistant {
		o.end++
	}
	if r.in[j-1].Open && j == len(r.in) {
		// The model is to continue this message: its calls are not answered
		// yet, and must not be.
		o.callers, o.going = o.callers[:len(o.callers)-1], true
	}
	return o
}

// waiting are the calls of one round with some id that are open, the last such round so
// far.
type waiting struct {
	in    *round
	calls []*int // where the answer of each goes
}

// pairForward pairs the nth call of a round that has some id with the nth result behind
// it that has it, up to the next round that calls with the id. An id that may not leave
// its round pairs within it.
func (r *repairer) pairForward() {
	last := make(map[string]*waiting) // per id
	for n := range r.rounds {
		o, next := &r.rounds[n], len(r.in)
		if n+1 < len(r.rounds) {
			next = r.rounds[n+1].start
		}
		for k := range o.callers {
			c := &o.callers[k]
			for n, call := range r.in[c.at].Calls {
				if w := last[call.ID]; w == nil || w.in != o {
					last[call.ID] = &waiting{in: o}
				}
				w := last[call.ID]
				w.calls = append(w.calls, &c.answers[n])
			}
		}
		for i := o.results; i < next; i++ {
			w := last[r.in[i].Answers]
			if r.in[i].Role.Result() && w != nil && len(w.calls) > 0 && (crosses(r.in[i].Answers) || w.in == o && i < o.end) {
				*w.calls[0], r.owned[i] = i, true
				w.calls = w.calls[1:]
			}
		}
	}
}

// occurrence counts the calls and results with some id, and has the index of
// the last such result.
type occurrence struct{ calls, results, result int }

func (r *repairer) occurrences() map[string]occurrence {
	all := make(map[string]occurrence)
	for i := range r.in {
		m := &r.in[i]
		for _, c := range m.Calls {
			o := all[c.ID]
			all[c.ID] = occurrence{o.calls + 1, o.results, o.result}
		}
		if m.Role.Result() {
			o := all[m.Answers]
			all[m.Answers] = occurrence{o.calls, o.results + 1, i}
		}
	}
	return all
}

// pairBackward pairs an open call with a result before it, if no other call and
// no other result has their id.
func (r *repairer) pairBackward(ids map[string]occurrence) {
	for i := range r.rounds {
		for j := range r.rounds[i].callers {
			c := &r.rounds[i].callers[j]
			for n, answer := range c.answers {
				id := r.in[c.at].Calls[n].ID
				if o := ids[id]; answer == open && crosses(id) && o.calls == 1 && o.results == 1 && !r.owned[o.result] {
					c.answers[n], r.owned[o.result] = o.result, true
				}
			}
		}
	}
}

// pairLeftover pairs the one open call of a round and the one unpaired result
// directly after its messages, if no call has the result's id. Where open calls are
// dropped, one of the two must lack an id: a result with another id is not the answer.
func (r *repairer) pairLeftover(o *round, ids map[string]occurrence) {
	if o.going {
		return
	}
	var c *caller
	call, result := open, open
	for i := range o.callers {
		for n, a := range o.callers[i].answers {
			if a == open {
				if c != nil {
					return
				}
				c, call = &o.callers[i], n
			}
		}
	}
	for k := o.results; k < o.end && r.in[k].Role.Result(); k++ {
		if !r.owned[k] {
			if result != open {
				return
			}
			result = k
		}
	}
	if c == nil || result == open || r.rules.OnceInList && r.in[c.at].Calls[call].Sealed { // a type that few outputs have
		return
	}
	id := r.in[result].Answers
	name, named := NameIn(id)
	of := r.in[c.at].Calls[call].ID
	if _, byName := NameIn(of); named != byName || name != "" && ids[id].calls > 0 || r.mode == RepairDrop && of != "" && name != "" {
		return
	}
	c.answers[call], r.owned[result] = result, true
}
