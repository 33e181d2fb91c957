package replay

import (
	"strings"
	"unicode/utf8"

	"laconic/compact"
)

// surroundings is how many characters on each side of a value must be kept for
// it to count as verbatim: 24 together.
const surroundings = 12

// memory knows the facts of a conversation and where they came from.
type memory struct {
	originals []compact.Message
	facts     []Fact
	around    []string // of each fact: its last occurrence with its surroundings, once looked up
}

func remember(msgs []compact.Message) *memory {
	facts := Facts(msgs)
	return &memory{originals: msgs, facts: facts, around: make([]string, len(facts))}
}

// retained counts which of the facts [from, to) are in a request: anywhere,
// and with the surroundings of their last occurrence. whole says of every
// message of the client's list whether it is sent as it came.
func (m *memory) retained(from, to int, sent []compact.Message, whole []bool) (recalled, verbatim int) {
	for i := from; i < to; i++ {
		f := &m.facts[i]
		if whole[f.Last] {
			recalled++
			verbatim++
			continue
		}
		if whole[f.First] || holds(sent, f.Value) {
			recalled++
			if holds(sent, m.surrounded(i)) {
				verbatim++
			}
		}
	}
	return recalled, verbatim
}

// surrounded returns the last occurrence of a fact with its surroundings.
func (m *memory) surrounded(i int) string {
	if m.around[i] == "" {
		m.around[i] = lastOccurrence(&m.originals[m.facts[i].Last], m.facts[i].Value)
	}
	return m.around[i]
}

// lastOccurrence returns the last place of a value in a message, with the
// characters around it, clipped at the ends of its text.
func lastOccurrence(m *compact.Message, value string) string {
	found := value
	eachText(m, func(text string) bool {
		at := strings.LastIndex(text, value)
		if at < 0 {
			return true
		}
		from, to := at, at+len(value)
		for range surroundings {
			_, n := utf8.DecodeLastRuneInString(text[:from])
			from -= n
			_, n = utf8.DecodeRuneInString(text[to:])
			to += n
		}
		found = text[from:to]
		return true
	})
	return found
}

// holds reports whether a text is somewhere in what is sent.
func holds(sent []compact.Message, text string) bool {
	for i := range sent {
		if !eachText(&sent[i], func(t string) bool { return !strings.Contains(t, text) }) {
			return true
		}
	}
	return false
}
