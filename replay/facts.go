package replay

import (
	"encoding/json"
	"iter"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"laconic/compact"
)

// fact is a concrete value that a tool call used and that appeared earlier in the
// conversation: the agent must not have forgotten it at that point.
type fact struct {
	// call is the index of the calling message, of that of the call in it.
	call, of int
	// value is a name, a number or a quoted word.
	value string
	// first and last are the indices of the messages that held it before.
	first, last int
	// around is its last occurrence with its surroundings.
	around string
}

const (
	// shortestValue is the least length of a fact, in bytes: shorter values turn
	// up by chance.
	shortestValue = 6
	// longestArgument is the length, in characters, of the longest string of
	// arguments that is searched: longer strings are files being written, whose
	// words the model makes up and does not recall.
	longestArgument = 4000
)

// factsOf finds the facts of a conversation, in the order of the calls and
// sorted by value within a call. It takes time linear in the text.
//
// A value is a run of letters, digits and _./:@$+- without the punctuation
// around it, at least six bytes long. It is a fact if it is a name, a number or
// quoted in the arguments of a call, and is also a value (not just the same
// characters within a longer one) of the text or the arguments of an earlier
// message, other than those that the model wrote in the turn of the call.
//
// Names and numbers have a digit, an underscore, a dot, a slash or an at sign in
// them, or a capital behind other letters, as parseConfig has. A plain word is
// quoted if it is a whole string of the arguments, or has quotes on both sides.
// The n of an escaped line end is not part of the word behind it. read are the
// texts of the messages: see [reading].
func factsOf(msgs []compact.Message, read [][]string) (facts []fact) {
	type sight struct{ first, last int }
	seen := map[string]sight{}
	turn := 0 // start of the current run of assistant messages
	for i := range msgs {
		m := &msgs[i]
		if m.Role != compact.Assistant || i > 0 && msgs[i-1].Role != compact.Assistant {
			turn = i
		}
		for c := range m.Calls {
			for _, v := range used(m.Calls[c].Arguments.String()) {
				if s, ok := seen[v]; ok && s.last < turn {
					facts = append(facts, fact{call: i, of: c, value: v, first: s.first, last: s.last, around: lastOccurrence(&msgs[s.last], read[s.last], v)})
				}
			}
		}
		for _, text := range texts(m) {
			for v := range values(text) {
				s, ok := seen[v]
				if !ok {
					s.first = i
				}
				s.last = i
				seen[v] = s
			}
		}
	}
	return facts
}

// texts returns the texts of a message that may hold a fact: its content and the
// arguments as sent.
func texts(m *compact.Message) (all []string) {
	for p := range m.Parts {
		if k := m.Parts[p].Kind; k == compact.KindText || k == compact.KindRefusal {
			all = append(all, m.Parts[p].Text.String())
		}
	}
	for c := range m.Calls {
		all = append(all, m.Calls[c].Arguments.String())
	}
	return all
}

// used returns the names, numbers and quoted values of a call's arguments,
// sorted, each once.
func used(arguments string) []string {
	texts := []string{arguments}
	d := json.NewDecoder(strings.NewReader(arguments))
	d.UseNumber()
	var decoded any
	if err := d.Decode(&decoded); err == nil && !d.More() {
		texts = nil
		walk("", decoded, func(_, text string) { texts = append(texts, text) })
	}
	var used []string
	for _, text := range texts {
		if utf8.RuneCountInString(text) > longestArgument {
			continue
		}
		for v, quoted := range values(text) {
			if quoted || concretePattern.MatchString(v) {
				used = append(used, v)
			}
		}
	}
	slices.Sort(used)
	return slices.Compact(used)
}

// walk calls each with the strings and numbers of a JSON value, in the order of the keys,
// and with the key of those that have one.
func walk(key string, v any, each func(key, text string)) {
	switch v := v.(type) {
	case string:
		each(key, v)
	case json.Number:
		each(key, v.String())
	case []any:
		for _, e := range v {
			walk("", e, each)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			walk(key, v[key], each)
		}
	}
}

// valuePattern is what a value may be written in, and concretePattern what makes one a
// name or a number: parseConfig and HTTPServer are names.
var (
	valuePattern    = regexp.MustCompile(`[0-9A-Za-z_./:@$+-]{6,}`)
	concretePattern = regexp.MustCompile(`[0-9_./@]|[a-z][A-Z]|[A-Z]{2}[a-z]`)
)

// values yields the values of a text, and whether each is quoted: the whole text,
// or between two quotes of the same kind.
func values(text string) iter.Seq2[string, bool] {
	return func(yield func(string, bool) bool) {
		for _, at := range valuePattern.FindAllStringIndex(text, -1) {
			from, to := at[0], at[1]
			if from > 0 && text[from-1] == '\\' && strings.IndexByte("nrt", text[from]) >= 0 { // as in "\nnext_line"
				from++
			}
			quoted := to-from == len(text) || from > 0 && to < len(text) && text[from-1] == text[to] && strings.IndexByte("\"'`", text[to]) >= 0
			if v := strings.Trim(text[from:to], "./:@$+-"); len(v) >= shortestValue && !yield(v, quoted) {
				return
			}
		}
	}
}

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
// characters around it in its line, without the escapes and the notation of JSON if the
// value stands in a text of JSON. read are the texts of the message without them.
func lastOccurrence(m *compact.Message, read []string, value string) string {
	found := value
	for _, text := range slices.Concat(texts(m), read) {
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

// holds reports whether a request contains a text, or a path from the folder from which a record
// says that it names files.
func holds(sent []compact.Message, text string) bool {
	for i := range sent {
		for _, t := range texts(&sent[i]) {
			if strings.Contains(t, text) || namesBelow(t, text) {
				return true
			}
		}
	}
	return false
}

// namesBelow reports whether a text with a record names a path from the folder of a part of it.
func namesBelow(text, path string) bool {
	for {
		_, rest, found := strings.Cut(text, "\nfiles below /")
		if !found {
			return false
		}
		root, _, _ := strings.Cut(rest, " are named from there")
		if name, below := strings.CutPrefix(path, root); below && strings.Contains(rest, name) {
			return true
		}
		text = rest
	}
}
