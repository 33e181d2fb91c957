package replay

import "laconic/compact"

// legalPairs reports whether a strict upstream takes the pairs of a request:
// every call is answered exactly once, directly behind its message, and every
// result answers one of the calls directly before it. It is written apart from
// the repair it checks, and knows nothing but the list.
func legalPairs(msgs []compact.Message) bool {
	type name struct{ kind, id string }
	waiting := map[name]bool{}
	for i := range msgs {
		m := &msgs[i]
		switch m.Role {
		case compact.Tool, compact.Function:
			n := name{"call", m.Answers}
			if m.Role == compact.Function {
				n.kind = "legacy"
			}
			if !waiting[n] {
				return false // nobody asked, or it was answered before
			}
			delete(waiting, n)
			continue
		}
		if len(waiting) > 0 {
			return false // the conversation goes on before the answer
		}
		if m.EmptyCalls {
			return false // OpenAI refuses an empty list
		}
		if m.Open && i == len(msgs)-1 {
			continue // the model is asked to go on writing this message
		}
		for c := range m.Calls {
			n := name{"call", m.Calls[c].ID}
			if m.Calls[c].Kind == compact.CallLegacy {
				n = name{"legacy", m.Calls[c].Name}
			}
			if n.id == "" || waiting[n] {
				return false // no id, or one id for two calls
			}
			waiting[n] = true
		}
	}
	return len(waiting) == 0
}
