package replay

import (
	"strings"
	"unicode/utf8"

	"laconic/compact"
)

// surroundings is how many characters of its line on each side of a value must be
// kept for the value to count as verbatim.
const surroundings = 12

// memory holds the facts of a conversation and the text around their last
// occurrences.
type memory struct {
	facts  []Fact
	around []string // of each fact: its last occurrence with its surroundings
}

func remember(msgs []compact.Message) *memory {
	m := &memory{facts: Facts(msgs)}
	for i := range m.facts {
		f := &m.facts[i]
		m.around = append(m.around, lastOccurrence(&msgs[f.Last], f.Value))
	}
	return m
}

// retained counts which of the facts [from, to) are in a request: anywhere, and
// with the surroundings of their last occurrence. whole reports, for each message
// of the client's list, whether it is sent unchanged.
func (m *memory) retained(from, to int, sent []compact.Message, whole []bool) Kept {
	k := Kept{Facts: to - from}
	missed := false // by the call of the fact
	for i := from; i < to; i++ {
		f := &m.facts[i]
		if i == from || f.Call != m.facts[i-1].Call || f.of != m.facts[i-1].of {
			k.Calls++
			k.CallsWhole++
			missed = false
		}
		if whole[f.Last] {
			k.Recalled++
			k.Verbatim++
			continue
		}
		k.Hard++
		switch {
		case whole[f.First] || holds(sent, f.Value):
			k.HardRecalled++
			if holds(sent, m.around[i]) {
				k.HardVerbatim++
			}
		case !missed:
			missed = true
			k.CallsWhole--
		}
	}
	k.Recalled += k.HardRecalled
	k.Verbatim += k.HardVerbatim
	return k
}

// lastOccurrence returns the last occurrence of a value in a message with the
// characters around it in its line.
func lastOccurrence(m *compact.Message, value string) string {
	found := value
	for text := range texts(m) {
		at := strings.LastIndex(text, value)
		if at < 0 {
			continue
		}
		from, to := at, at+len(value)
		for range surroundings {
			if r, n := utf8.DecodeLastRuneInString(text[:from]); !endsLine(r) && !strings.HasSuffix(text[:from], `\n`) {
				from -= n
			}
			if r, n := utf8.DecodeRuneInString(text[to:]); !endsLine(r) && !strings.HasPrefix(text[to:], `\n`) {
				to += n
			}
		}
		found = strings.TrimSpace(text[from:to])
	}
	return found
}

// endsLine reports whether a line begins or ends at a character: what is beside
// it is another line, or the line's number.
func endsLine(r rune) bool { return r == '\n' || r == '\r' || r == '\t' || r == '→' }

// holds reports whether a request contains a text.
func holds(sent []compact.Message, text string) bool {
	for i := range sent {
		for t := range texts(&sent[i]) {
			if strings.Contains(t, text) {
				return true
			}
		}
	}
	return false
}
