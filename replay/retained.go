package replay

import (
	"strings"
	"unicode/utf8"

	"laconic/compact"
)

// surroundings is how many characters of its line on each side of a value must be
// kept for the value to count as verbatim.
const surroundings = 12

// retained counts which facts are in a request: anywhere, and with the surroundings of
// their last occurrence. whole reports, for each message of the client's list, whether
// it is sent unchanged.
func retained(facts []fact, sent []compact.Message, whole []bool) Kept {
	k := Kept{Facts: len(facts)}
	missed := false // by the call of the fact
	for i := range facts {
		f := &facts[i]
		if i == 0 || f.call != facts[i-1].call || f.of != facts[i-1].of {
			k.Calls++
			k.CallsWhole++
			missed = false
		}
		if whole[f.last] {
			k.Recalled++
			k.Verbatim++
			continue
		}
		k.Hard++
		switch {
		case whole[f.first] || holds(sent, f.value):
			k.HardRecalled++
			if holds(sent, f.around) {
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
