package compact

import "slices"

// singleCalls splits messages with several calls: each call is directly followed
// by its own result, and the text stays with the first.
func singleCalls(msgs []Message, note func(Edit)) []Message {
	last := len(msgs) - 1 // whose calls have no results yet, if the model is to continue them
	if last < 1 || !slices.ContainsFunc(msgs[:last], func(m Message) bool { return len(m.Calls) > 1 }) {
		return msgs
	}
	out := make([]Message, 0, len(msgs)+8)
	for i := 0; i < len(msgs); {
		m := msgs[i]
		n := len(m.Calls)
		if n < 2 || i == last {
			out = append(out, m)
			i++
			continue
		}
		note(Edit{Op: OpSplit, Why: "several calls where the template takes one", Origin: m.Origin})
		results := make(map[string]int, n)
		for k := i + 1; k <= i+n; k++ {
			results[msgs[k].Answers] = k
		}
		for k := range m.Calls {
			one := m
			if k > 0 {
				one = Message{Role: Assistant, Shape: Null, Origin: m.Origin, Rest: true}
			}
			one.Calls, one.Edited = m.Calls[k:k+1:k+1], true
			out = append(out, one, msgs[results[m.Calls[k].ID]])
		}
		i += n + 1
	}
	return out
}

// chargeCalls: each call but the first gets a message of its own.
func chargeCalls(c Counter, m *Message) int {
	return max(0, len(m.Calls)-1) * c.Envelope(&Message{Role: Assistant, Shape: Null, Edited: true})
}
