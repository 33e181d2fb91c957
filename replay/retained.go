package replay

import (
	"strings"
	"unicode/utf8"

	"laconic/compact"
)

// surroundings is how many characters on each side of a value must be kept for
// the value to count as verbatim.
const surroundings = 12

// memory holds the facts of a conversation and the text around their last
// occurrences.
type memory struct {
	facts  []Fact
	around []string // of each fact: its last occurrence with its surroundings
}

func remember(msgs []compact.Message, by extraction) *memory {
	m := &memory{facts: factsBy(by, msgs)}
	for i := range m.facts {
		f := &m.facts[i]
		m.around = append(m.around, lastOccurrence(&msgs[f.Last], f.Value))
	}
	return m
}

// retained counts which of the facts [from, to) are in a request: anywhere, and
// with the surroundings of their last occurrence. whole reports, for each message
// of the client's list, whether it is sent unchanged.
func (m *memory) retained(from, to int, sent []compact.Message, whole []bool) (recalled, verbatim int) {
	for i := from; i < to; i++ {
		switch f := &m.facts[i]; {
		case whole[f.Last]:
			recalled++
			verbatim++
		case whole[f.First] || holds(sent, f.Value):
			recalled++
			if holds(sent, m.around[i]) {
				verbatim++
			}
		}
	}
	return recalled, verbatim
}

// lastOccurrence returns the last occurrence of a value in a message with the
// characters around it, up to the ends of its text.
func lastOccurrence(m *compact.Message, value string) string {
	found := value
	for text := range texts(m) {
		at := strings.LastIndex(text, value)
		if at < 0 {
			continue
		}
		from, to := at, at+len(value)
		for range surroundings {
			_, n := utf8.DecodeLastRuneInString(text[:from])
			from -= n
			_, n = utf8.DecodeRuneInString(text[to:])
			to += n
		}
		found = text[from:to]
	}
	return found
}

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
