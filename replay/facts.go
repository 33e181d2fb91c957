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
	// Value is a name, a number or a quoted word.
	Value string `json:"value"`
	// First and Last are the indices of the messages that held it before.
	First int `json:"first"`
	Last  int `json:"last"`
	// LastRole is the role of the message Last.
	LastRole string `json:"last_role"`
	// Distance is the number of bytes of text between Last and Call.
	Distance int `json:"dist_bytes"`

	of int // the index of the call in its message
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

// Facts finds the facts of a conversation, in the order of the calls and
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
// The n of an escaped line end is not part of the word behind it.
func Facts(msgs []compact.Message) []Fact { return factsBy(standard, msgs) }

// extraction is a way to find facts.
type extraction struct {
	// values yields the values of a text, and whether each is quoted there.
	values func(text string) iter.Seq2[string, bool]
	// concrete reports whether a value is a name or a number, rather than a plain
	// word.
	concrete func(value string) bool
}

// standard is the extraction of Facts.
var standard = extraction{values, concrete}

// factsBy returns the facts that an extraction finds.
func factsBy(by extraction, msgs []compact.Message) []Fact {
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
			for _, v := range by.used(call.Arguments.String()) {
				s, ok := seen[v]
				if !ok || s.last >= turn {
					continue
				}
				facts = append(facts, Fact{
					Call: i, Name: call.Name, Value: v, First: s.first, Last: s.last,
					LastRole: msgs[s.last].RoleName(), Distance: sizes[i] - sizes[s.last+1], of: c,
				})
			}
		}
		size := 0
		for text := range texts(m) {
			size += len(text)
			for v := range by.values(text) {
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

// used returns the names, numbers and quoted values of a call's arguments,
// sorted, each once.
func (by extraction) used(arguments string) []string {
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
		for v, quoted := range by.values(text) {
			if quoted || by.concrete(v) {
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

// values yields the values of a text, and whether each is quoted: the whole text,
// or between two quotes of the same kind.
func values(text string) iter.Seq2[string, bool] {
	return func(yield func(string, bool) bool) {
		for end := 0; end < len(text); {
			from := end + indexFunc(text[end:], inValue)
			end = from + indexFunc(text[from:], notInValue)
			if escaped(text, from) {
				from++
			}
			v := strings.Trim(text[from:end], "./:@$+-")
			if len(v) >= shortestValue && !yield(v, end-from == len(text) || inQuotes(text, from, end)) {
				return
			}
		}
	}
}

// escaped reports whether a line end or a tab is written at an index, as in
// "\nnext_line".
func escaped(text string, at int) bool {
	return at > 0 && at < len(text) && text[at-1] == '\\' && strings.IndexByte("nrt", text[at]) >= 0
}

// inQuotes reports whether text[from:to] has the same quote on both sides.
func inQuotes(text string, from, to int) bool {
	return from > 0 && to < len(text) && text[from-1] == text[to] && strings.IndexByte("\"'`", text[to]) >= 0
}

// concrete reports whether a value is a name or a number.
func concrete(v string) bool {
	if strings.ContainsAny(v, "0123456789_./@") {
		return true
	}
	for i := 1; i < len(v); i++ {
		// parseConfig, HTTPServer
		if isUpper(v[i]) && (isLower(v[i-1]) || isUpper(v[i-1]) && i+1 < len(v) && isLower(v[i+1])) {
			return true
		}
	}
	return false
}

// indexFunc returns the index of the first character of which f is true, or the
// length of the text.
func indexFunc(text string, f func(rune) bool) int {
	if i := strings.IndexFunc(text, f); i >= 0 {
		return i
	}
	return len(text)
}

// inValue reports whether a character can be part of a value.
func inValue(c rune) bool {
	return isLower(c) || isUpper(c) || '0' <= c && c <= '9' || strings.ContainsRune("_./:@$+-", c)
}

func notInValue(c rune) bool { return !inValue(c) }

func isUpper[C rune | byte](c C) bool { return 'A' <= c && c <= 'Z' }
func isLower[C rune | byte](c C) bool { return 'a' <= c && c <= 'z' }
