package promises

import (
	"slices"

	"laconic/compact"
)

// met: the list that is sent meets the demands, as rewriting it once more shows, says
// all that the folded list says, in its order, and costs no more than was charged for it.
func (k *checker) met() {
	if cost, charged := compact.CostAll(k.c, k.sent), compact.CostAll(k.charged, k.out); cost > charged {
		k.fail("met", "the rewritten list costs %d tokens, and is charged %d", cost, charged)
	}
	if again, edits := k.plan.Demands.Rewrite(k.sent); len(edits) > 0 || len(again) != len(k.sent) {
		k.fail("idempotent", "rewriting the list again makes %d more edits", len(edits))
	}
	k.says()
}

// movable reports whether a message is an instruction that is only text.
func movable(m *compact.Message) bool {
	return m.Role.Instruction() && m.Seal == 0 && !m.Holds && !slices.ContainsFunc(m.Parts, func(p compact.Part) bool { return p.Kind != compact.KindText })
}

// says compares what the folded list says with what is sent: the parts and the
// calls of each turn, in their order. A call may stand after results of the same
// turn, text of an instruction in any message of its turn, and nothing moves past
// an answer. What was added says nothing of its own.
func (k *checker) says() {
	if k.plan.Demands == 0 {
		return
	}
	turn := 0 // where the messages after the last answer begin
	for n, next := 0, 0; n < len(k.out); n++ {
		m := &k.out[n]
		if movable(m) {
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
			m.Origin == compact.Added && !contains(k.sent[i].Parts, m.Parts)) {
			i++
		}
		if i == len(k.sent) {
			k.fail("met", "message %d (%s) is gone or out of its order", m.Origin, m.Role)
			return
		}
		k.same(m, i)
		next = max(next, i+1)
		if m.Role == compact.Assistant {
			turn = next
		}
	}
}

// same: message i that is sent is m, with texts before and after its own, and m's
// calls, of which later ones may follow in messages of their own.
func (k *checker) same(m *compact.Message, i int) {
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
	if !slices.EqualFunc(calls, m.Calls, func(a, b compact.Call) bool { a.ID = b.ID; return a.Equal(b) }) {
		k.fail("met", "message %d lost calls", m.Origin)
	}
}

// holds reports whether the turn that begins at index at has the texts of m.
func (k *checker) holds(m *compact.Message, at int) bool {
	said := slices.DeleteFunc(slices.Clone(m.Parts), func(p compact.Part) bool { return p.Text.Len() == 0 })
	for ; at < len(k.sent); at++ {
		s := &k.sent[at]
		if contains(s.Parts, said) {
			return true
		}
		if s.Role == compact.Assistant && !s.Rest && s.Origin != compact.Added {
			return false
		}
	}
	return false
}

// contains reports whether parts has run as a run.
func contains(parts, run []compact.Part) bool {
	for len(parts) >= len(run) && !slices.EqualFunc(parts[:len(run)], run, compact.Part.Equal) {
		parts = parts[1:]
	}
	return len(parts) >= len(run)
}
