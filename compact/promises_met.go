package compact

import "slices"

// met: the list that is sent meets the demands, says all that the folded list
// says, in its order, and costs no more than was charged for it.
func (k *checker) met() {
	d := k.plan.Demands
	for n := range demands {
		if row := &demands[n]; d.Has(row.is) && row.broken != nil {
			for i := range k.sent {
				if row.broken(k.sent, i) {
					k.fail("met", "message %d breaks the demand %q", i, row.name)
				}
			}
		}
	}
	if charged := CostAll(d.counter(k.c), k.out); CostAll(k.c, k.sent) > charged {
		k.fail("met", "the rewritten list costs %d tokens, and is charged %d", CostAll(k.c, k.sent), charged)
	}
	if again, edits := d.Rewrite(k.sent); len(edits) > 0 || len(again) != len(k.sent) {
		k.fail("idempotent", "rewriting the list again makes %d more edits", len(edits))
	}
	k.says()
}

// says compares what the folded list says with what is sent: the parts and the
// calls of each turn, in their order. A call may stand after results of the same
// turn, text of an instruction in any message of its turn, and nothing moves past
// an answer. What was added says nothing of its own.
func (k *checker) says() {
	if !k.plan.Demands.rewrites() {
		return
	}
	turn := 0 // where the messages after the last answer begin
	for n, next := 0, 0; n < len(k.out); n++ {
		m := &k.out[n]
		if movable(*m) {
			if !k.holds(m, turn) {
				k.fail("met", "the text of instruction %d is gone, or beyond an answer", m.Origin)
			}
			continue
		}
		i := next
		if m.Role.Result() {
			i = turn
		}
		for i < len(k.sent) && (k.sent[i].Origin != m.Origin || k.sent[i].Role != m.Role || k.sent[i].Rest ||
			m.Origin == Added && !contains(k.sent[i].Parts, m.Parts)) {
			i++
		}
		if i == len(k.sent) {
			k.fail("met", "message %d (%s) is gone or out of its order", m.Origin, m.Role)
			return
		}
		k.same(m, i)
		next = max(next, i+1)
		if m.Role == Assistant {
			turn = next
		}
	}
}

// same: message i that is sent is m, with texts before and after its own, and m's
// calls, of which later ones may follow in messages of their own.
func (k *checker) same(m *Message, i int) {
	is := &k.sent[i]
	if len(m.Parts) > 0 && !contains(is.Parts, m.Parts) {
		k.fail("met", "message %d lost text of its own", m.Origin)
	}
	calls := is.Calls
	for n := i + 1; len(calls) < len(m.Calls) && n < len(k.sent); n++ {
		if k.sent[n].Rest && k.sent[n].Origin == m.Origin {
			calls = append(slices.Clip(calls), k.sent[n].Calls...)
		}
	}
	if !slices.EqualFunc(calls, m.Calls, func(a, b Call) bool { a.ID = b.ID; return a.Equal(b) }) {
		k.fail("met", "message %d lost calls", m.Origin)
	}
}

// holds reports whether the turn that begins at index at has the texts of m.
func (k *checker) holds(m *Message, at int) bool {
	said := slices.DeleteFunc(slices.Clone(m.Parts), func(p Part) bool { return p.Text.Len() == 0 })
	for ; at < len(k.sent); at++ {
		s := &k.sent[at]
		if contains(s.Parts, said) {
			return true
		}
		if s.Role == Assistant && !s.Rest && s.Origin != Added {
			return false
		}
	}
	return false
}

// contains reports whether parts has run as a run.
func contains(parts, run []Part) bool {
	for i := 0; i+len(run) <= len(parts); i++ {
		if slices.EqualFunc(parts[i:i+len(run)], run, Part.Equal) {
			return true
		}
	}
	return false
}
