package replay

import (
	"encoding/json"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"laconic/compact"
)

// Fact is a concrete value that a tool call used and that appeared earlier in the
// conversation: the agent must not have forgotten it at that point.
type Fact struct {
	// Call is the index of the calling message, Name the name of the tool.
	Call int    `json:"call"`
	Name string `json:"name"`
	// Value is an id, path, number or name.
	Value string `json:"value"`
	// First and Last are the indices of the messages that held it before.
	First int `json:"first"`
	Last  int `json:"last"`
	// LastRole is the role of the message Last.
	LastRole string `json:"last_role"`
	// Distance is the number of bytes of text between Last and Call.
	Distance int `json:"dist_bytes"`
}

const (
	// shortestValue is the least length of a fact, in bytes: shorter values turn
	// up by chance.
	shortestValue = 6
	// shortestName is the least length of a capitalised word that counts as a name.
	shortestName = 8
	// longestArgument is the length, in characters, of the longest string of
	// arguments that is searched: longer strings are files being written, whose
	// words the model makes up and does not recall.
	longestArgument = 4000
)

// Facts finds the facts of a conversation, in the order of the calls and
// sorted by value within a call. It takes time linear in the text.
//
// A value is a run of letters, digits and _./:@$+- of at least six characters,
// taken both as written and without a leading or trailing . / or :, that has
// a digit, an underscore, a dot, a slash or an at sign in it, or is a word of
// at least eight characters that starts with a capital. A value is a fact if the
// same run (not just the same characters within a longer one) occurs in the text
// or the arguments of an earlier message, other than those that the model wrote
// in the turn of the call.
func Facts(msgs []compact.Message) []Fact {
	type sight struct{ first, last int }
	seen := map[string]sight{}
	sizes := make([]int, len(msgs)+1)
	var facts []Fact
	turn := 0 // start of the current run of assistant messages
	for i := range msgs {
		m := &msgs[i]
		if m.Role != compact.Assistant || i > 0 && msgs[i-1].Role != compact.Assistant {
			turn = i
		}
		for c := range m.Calls {
			call := &m.Calls[c]
			for _, v := range usedValues(call.Arguments.String()) {
				s, ok := seen[v]
				if !ok || s.last >= turn {
					continue
				}
				facts = append(facts, Fact{
					Call: i, Name: call.Name, Value: v, First: s.first, Last: s.last,
					LastRole: msgs[s.last].Role.String(), Distance: sizes[i] - sizes[s.last+1],
				})
			}
		}
		size := 0
		for text := range texts(m) {
			size += len(text)
			for v := range values(text) {
				s, ok := seen[v]
				if !ok {
					s.first = i
				}
				s.last = i
				seen[v] = s
			}
		}
		for c := range m.Calls {
			size += len(m.Calls[c].Name)
		}
		sizes[i+1] = sizes[i] + size
	}
	return facts
}

// texts yields the texts of a message that may hold a fact: its content and the
// arguments as sent.
func texts(m *compact.Message) iter.Seq[string] {
	return func(yield func(string) bool) {
		for p := range m.Parts {
			if k := m.Parts[p].Kind; (k == compact.KindText || k == compact.KindRefusal) && !yield(m.Parts[p].Text.String()) {
				return
			}
		}
		for c := range m.Calls {
			if !yield(m.Calls[c].Arguments.String()) {
				return
			}
		}
	}
}

// usedValues returns the concrete values of a call's arguments, sorted, each once.
func usedValues(arguments string) []string {
	texts := []string{arguments}
	d := json.NewDecoder(strings.NewReader(arguments))
	d.UseNumber()
	var decoded any
	if err := d.Decode(&decoded); err == nil && !d.More() {
		texts = appendStrings(nil, decoded)
	}
	var used []string
	for _, text := range texts {
		if utf8.RuneCountInString(text) > longestArgument {
			continue
		}
		for v := range values(text) {
			if concrete(v) {
				used = append(used, v)
			}
		}
	}
	slices.Sort(used)
	return slices.Compact(used)
}

// appendStrings appends the strings and numbers of a JSON value, without keys.
func appendStrings(all []string, v any) []string {
	switch v := v.(type) {
	case string:
		all = append(all, v)
	case json.Number:
		all = append(all, v.String())
	case []any:
		for _, e := range v {
			all = appendStrings(all, e)
		}
	case map[string]any:
		for _, e := range v {
			all = appendStrings(all, e)
		}
	}
	return all
}

// values yields every run of value characters that is long enough, as written
// and without the punctuation around it.
func values(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for v := range strings.FieldsFuncSeq(text, notOfValue) {
			if len(v) < shortestValue {
				continue
			}
			if !yield(v) {
				return
			}
			if bare := strings.Trim(v, "./:"); len(bare) < len(v) && len(bare) >= shortestValue && !yield(bare) {
				return
			}
		}
	}
}

// concrete reports whether a value is an id, a path, a number or a name, rather
// than a plain word.
func concrete(v string) bool {
	return strings.ContainsAny(v, "0123456789_./@") || len(v) >= shortestName && 'A' <= v[0] && v[0] <= 'Z'
}

// notOfValue reports whether a character cannot be part of a value.
func notOfValue(c rune) bool {
	switch {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		return false
	}
	return !strings.ContainsRune("_./:@$+-", c)
}
