package replay

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"laconic/compact"
)

// Fact is a concrete value that a tool call used and that had appeared in the
// conversation before: what an agent must not have forgotten at that point.
type Fact struct {
	// Call is the index of the message that calls, Name the tool.
	Call int    `json:"call"`
	Name string `json:"name"`
	// Value is the id, path, number or name.
	Value string `json:"value"`
	// First and Last are the indices of the messages that held it before.
	First int `json:"first"`
	Last  int `json:"last"`
	// LastRole is the role of the message Last.
	LastRole string `json:"last_role"`
	// Distance is how many bytes of text are between Last and Call.
	Distance int `json:"dist_bytes"`
}

const (
	// shortestValue is the shortest token that can be a fact, in bytes: shorter
	// ones turn up by chance.
	shortestValue = 6
	// shortestName is the shortest capitalised word that counts as a name.
	shortestName = 8
	// longestArgument is the longest string of arguments that is looked at, in
	// characters: longer ones are whole files being written, whose words are
	// made by the model, not recalled.
	longestArgument = 4000
)

// Facts finds the facts of a conversation, in the order of the calls and
// sorted by value within a call. It takes time linear in the text.
//
// A value is a run of letters, digits and _./:@$+- of at least six characters,
// taken both as written and without a leading or trailing . / or :, that has
// a digit, an underscore, a dot, a slash or an at sign in it, or is a word of
// at least eight characters that starts with a capital. It counts if the same
// run (not just the same characters within a longer one) stood in the text or
// the arguments of an earlier message; what the model itself wrote in the turn
// of the call was not recalled.
func Facts(msgs []compact.Message) []Fact {
	type sight struct{ first, last int }
	seen := map[string]sight{}
	sizes := make([]int, len(msgs)+1)
	var facts []Fact
	turn := 0 // start of the run of assistant messages
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
		eachText(m, func(text string) bool {
			size += len(text)
			eachValue(text, func(v string) {
				s, ok := seen[v]
				if !ok {
					s.first = i
				}
				s.last = i
				seen[v] = s
			})
			return true
		})
		for c := range m.Calls {
			size += len(m.Calls[c].Name)
		}
		sizes[i+1] = sizes[i] + size
	}
	return facts
}

// eachText yields the texts of a message that may hold a fact: its content and
// the arguments as they are sent. It reports whether yield wanted all of them.
func eachText(m *compact.Message, yield func(string) bool) bool {
	for p := range m.Parts {
		if k := m.Parts[p].Kind; k != compact.KindText && k != compact.KindRefusal {
			continue
		}
		if !yield(m.Parts[p].Text.String()) {
			return false
		}
	}
	for c := range m.Calls {
		if !yield(m.Calls[c].Arguments.String()) {
			return false
		}
	}
	return true
}

// usedValues returns the concrete values of a call's arguments, sorted, each once.
func usedValues(arguments string) []string {
	var values []string
	collect := func(text string) {
		if len(text) > longestArgument && len([]rune(text)) > longestArgument {
			return
		}
		eachValue(text, func(v string) {
			if concrete(v) {
				values = append(values, v)
			}
		})
	}
	d := json.NewDecoder(bytes.NewReader([]byte(arguments)))
	d.UseNumber()
	var decoded any
	if err := d.Decode(&decoded); err != nil || d.More() {
		collect(arguments)
	} else {
		eachString(decoded, collect)
	}
	slices.Sort(values)
	return slices.Compact(values)
}

// eachString yields the strings and numbers of a JSON value, keys apart.
func eachString(v any, yield func(string)) {
	switch v := v.(type) {
	case string:
		yield(v)
	case json.Number:
		yield(v.String())
	case []any:
		for _, e := range v {
			eachString(e, yield)
		}
	case map[string]any:
		for _, e := range v {
			eachString(e, yield)
		}
	}
}

// eachValue yields every run of value characters that is long enough, as written
// and without the punctuation around it.
func eachValue(text string, yield func(string)) {
	for i := 0; i < len(text); {
		if !valueByte[text[i]] {
			i++
			continue
		}
		start := i
		for i < len(text) && valueByte[text[i]] {
			i++
		}
		if i-start < shortestValue {
			continue
		}
		v := text[start:i]
		yield(v)
		if bare := strings.Trim(v, "./:"); len(bare) < len(v) && len(bare) >= shortestValue {
			yield(bare)
		}
	}
}

// concrete reports whether a value is an id, a path, a number or a name, and not a
// plain word.
func concrete(v string) bool {
	return strings.ContainsAny(v, "0123456789_./@") || len(v) >= shortestName && 'A' <= v[0] && v[0] <= 'Z'
}

// valueByte holds the bytes that a value is made of.
var valueByte = func() (in [256]bool) {
	for c := range in {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
			in[c] = true
		}
	}
	for _, c := range "_./:@$+-" {
		in[c] = true
	}
	return in
}()
