package compact

// legal reports whether a list needs no repair. It allocates nothing for lists
// as real clients send them.
func legal(msgs []Message) bool {
	for i := 0; i < len(msgs); {
		m := &msgs[i]
		if m.EmptyCalls || m.Role.Result() || (m.Role == Assistant && m.Empty()) {
			return false
		}
		i++
		if !m.calling() || (m.Open && i == len(msgs)) {
			continue
		}
		n := len(m.Calls)
		if i+n > len(msgs) || !answered(m.Calls, msgs[i:i+n]) {
			return false
		}
		i += n
	}
	return true
}

// answered reports whether results answer calls one to one, in any order.
func answered(calls []Call, results []Message) bool {
	if len(calls) <= 16 {
		for i := range calls {
			for j := range i {
				if sameID(&calls[i], &calls[j]) {
					return false
				}
			}
			found := false
			for j := range results {
				if matches(&calls[i], &results[j]) {
					found = true
					break
				}
			}
			if !found {
				return false
			}
		}
		return true
	}
	open := make(map[pairKey]bool, len(calls))
	for i := range calls {
		k := callKey(&calls[i])
		if open[k] || k.id == "" && !k.legacy {
			return false
		}
		open[k] = true
	}
	for i := range results {
		k := resultKey(&results[i])
		if !open[k] {
			return false
		}
		delete(open, k)
	}
	return len(open) == 0
}

// calling reports whether the message has calls to be answered.
func (m *Message) calling() bool { return m.Role == Assistant && len(m.Calls) > 0 }

// pairKey is what a call and its result have in common.
type pairKey struct {
	legacy bool
	id     string
}

func callKey(c *Call) pairKey {
	if c.Kind == CallLegacy {
		return pairKey{true, c.Name}
	}
	return pairKey{false, c.ID}
}

// resultKey is the key of a result, and one that no call has for any other
// message.
func resultKey(m *Message) pairKey {
	switch m.Role {
	case Tool:
		return pairKey{false, m.Answers}
	case Function:
		return pairKey{true, m.Answers}
	}
	return pairKey{true, "\x00not a result"}
}

func sameID(a, b *Call) bool { return callKey(a) == callKey(b) }

func matches(c *Call, m *Message) bool {
	k := callKey(c)
	return m.Role.Result() && (k.id != "" || k.legacy) && k == resultKey(m)
}
