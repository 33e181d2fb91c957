package compact

import (
	"hash/fnv"
	"slices"
	"strconv"
)

// idLetters is the length of the ids that Mistral's templates and servers demand.
const idLetters = 9

// nineLetters renames the ids of calls that are not nine letters and digits, and
// their results with them. The same id always gets the same name.
func nineLetters(msgs []Message, note func(Edit)) []Message {
	if !slices.ContainsFunc(msgs, func(m Message) bool { return slices.ContainsFunc(m.Calls, renamed) }) {
		return msgs
	}
	out := slices.Clone(msgs)
	names := make(map[string]string)
	for i := range out {
		m := &out[i]
		switch {
		case m.calling():
			clear(names)
			m.Calls = slices.Clone(m.Calls)
			taken := make(map[string]bool, len(m.Calls))
			for n := range m.Calls {
				taken[m.Calls[n].ID] = true
			}
			for n := range m.Calls {
				c := &m.Calls[n]
				if !renamed(*c) {
					continue
				}
				was := c.ID
				c.ID = nineLettersOf(was, taken)
				taken[c.ID], names[was], m.Edited = true, c.ID, true
				note(Edit{Op: OpRename, Why: "an id that is not nine letters", Origin: m.Origin, Part: n, ID: c.ID})
			}
		case m.Role == Tool:
			if name, ok := names[m.Answers]; ok {
				m.Answers, m.Edited = name, true
			}
		}
	}
	return out
}

// renamed reports whether the template refuses the id of a call.
func renamed(c Call) bool {
	_, named := NameIn(c.ID)
	return !named && (len(c.ID) != idLetters || !alphanumeric(c.ID))
}

// nineLettersOf returns the name of an id: a hash, or the next one if that is
// taken in the same message.
func nineLettersOf(id string, taken map[string]bool) string {
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(id)) // it does not fail
	for h := hash.Sum64(); ; h += 1 << 16 {
		s := "000000000" + strconv.FormatUint(h>>16, 36) // 48 bits are ten digits at most
		if s = s[len(s)-idLetters:]; !taken[s] {
			return s
		}
	}
}

// chargeIDs: the names cost what they cost, if no two of a message are the same.
func chargeIDs(c Counter, m *Message) (n int) {
	if m.Role == Tool {
		named := *m
		named.Answers = nineLettersOf(m.Answers, nil)
		return max(0, c.Envelope(&named)-c.Envelope(m))
	}
	for i := range m.Calls {
		named := m.Calls[i]
		named.ID = nineLettersOf(named.ID, nil)
		n += max(0, c.Call(&named)-c.Call(&m.Calls[i]))
	}
	return n
}
