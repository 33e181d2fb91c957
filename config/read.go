package config

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	yaml "go.yaml.in/yaml/v4"
)

// reading turns the nodes of a text into plain values, as the schema wants them:
// maps, lists, texts, numbers. It never stops at a problem: it notes it, leaves
// the value out and goes on.
type reading struct {
	src    *source
	lookup func(string) (string, bool) // nil: variables are not expanded
	config *Config
	only   []string // the keys of the file that are read; nil: all
	found  []Problem
	left   int  // nodes that may still be visited: aliases can multiply them
	depth  int  // of maps and lists in each other
	lost   bool // one of the two has run out
}

// mostNodes and deepest bound what aliases can make of a small file.
const (
	mostNodes = 100_000
	deepest   = 64
)

// absent is the value of a node that could not be read.
type absent struct{}

// enter counts a node that is visited, and reports whether there may be so many.
// Whoever gets true calls leave.
func (r *reading) enter(n *yaml.Node, path string) bool {
	if r.left--; r.left > 0 && r.depth < deepest {
		r.depth++
		return true
	}
	if !r.lost {
		r.lost = true
		r.fault(n, path, codeSyntax, "is nested too deeply, or repeats itself through its aliases", "")
	}
	return false
}

func (r *reading) leave() { r.depth-- }

// report notes a problem at a node.
func (r *reading) report(n *yaml.Node, code, message, hint string) {
	r.found = append(r.found, problemAt(r.src, n, code, message, hint))
}

// fault notes a problem with the value of a path, so that it is not checked again.
func (r *reading) fault(n *yaml.Node, path, code, message, hint string) any {
	r.report(n, code, cmp.Or(path, "the file")+" "+message, hint)
	p := r.config.places[path]
	p.broken = true
	r.config.places[path] = p
	return absent{}
}

// value reads a node as s wants it.
func (r *reading) value(n *yaml.Node, path string, s *schema) any {
	if !r.enter(n, path) {
		return absent{}
	}
	defer r.leave()
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	p := r.config.places[path]
	r.config.places[path] = place{src: r.src, key: p.key, node: n}
	switch {
	case s.Format == "stage":
		return r.rung(n, path)
	case s.Format == "options":
		return r.options(n, path)
	case s.Type == "object":
		return r.object(n, path, s)
	case s.Type == "array":
		return r.list(n, path, s)
	}
	return r.scalar(n, path, s)
}

func (r *reading) object(n *yaml.Node, path string, s *schema) any {
	if n.Kind != yaml.MappingNode {
		return r.noMap(n, path, "a map of settings")
	}
	values, suspect := map[string]any{}, false
	for _, p := range r.pairs(n, path) {
		name := p.key.Value
		child := s.Properties[name]
		suspect = suspect || secretPath(name)
		switch {
		case path == "" && !r.wanted(name):
			continue
		case path == "" && strings.HasPrefix(name, "x-"): // holds anchors
			continue
		case child == nil && s.Additional == nil:
			r.unknownKey(p, path, s, suspect)
			continue
		case child == nil:
			if child = s.Additional; !policyName.MatchString(name) {
				r.report(p.key, codeName, "a policy cannot be called "+quoted(name), "letters, digits, - and _, at most 64")
				continue
			}
		}
		at := join(path, name)
		r.config.places[at] = place{src: r.src, key: p.key, node: p.value}
		v := r.value(p.value, at, child)
		if v == (absent{}) && child == s.Additional {
			v = map[string]any{} // others may name it
		}
		if v != (absent{}) {
			values[name] = v
		}
	}
	return values
}

var policyName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`)

// noMap notes that a map was wanted.
func (r *reading) noMap(n *yaml.Node, path, want string) any {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		return r.fault(n, path, codeMissing, "has no value", "give it one, or remove the line")
	}
	hint := ""
	if path == "" {
		hint = "key: value, one setting in a line"
	}
	return r.fault(n, path, codeType, "must be "+want+", not "+kindWords(n), hint)
}

// unknownKey reports a key that does not exist. One that resembles no other may
// be a piece of a secret whose quotes were lost: then it is not shown.
func (r *reading) unknownKey(p pair, path string, s *schema, suspect bool) {
	key, hint := p.key, keyHint(p.key.Value, s.keys())
	suspect = suspect || p.value.Kind == yaml.ScalarNode && p.value.Value == ""
	name := " " + quoted(key.Value)
	if hint == "" && (suspect || !plainKey.MatchString(key.Value) || !harmless(key.Value+":")) {
		name = ""
	}
	r.report(key, codeUnknown, "unknown key"+name+within(path), hint)
}

var plainKey = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]{0,39}$`)

func (r *reading) list(n *yaml.Node, path string, s *schema) any {
	if n.Kind != yaml.SequenceNode {
		hint := ""
		switch {
		case n.Kind == yaml.ScalarNode && n.Tag == "!!null":
			return r.fault(n, path, codeMissing, "has no value", "write [] for an empty list, or remove the line")
		case n.Kind == yaml.MappingNode && s.Items.Type == "object":
			hint = `one row per pattern: - match: "gpt-4o*"`
		case n.Kind == yaml.ScalarNode:
			hint = "put [ ] around it"
		}
		return r.fault(n, path, codeType, "must be a list, not "+kindWords(n), hint)
	}
	items := []any{}
	for i, item := range n.Content {
		v := r.value(item, fmt.Sprintf("%s[%d]", path, i), s.Items)
		if v == (absent{}) { // keeps the places of the others
			v = nil
		}
		items = append(items, v)
	}
	return items
}

// scalar reads a plain value: its variables are expanded, and what they hold may
// be of any type.
func (r *reading) scalar(n *yaml.Node, path string, s *schema) any {
	want, tags := s.form()
	if n.Kind != yaml.ScalarNode {
		return r.fault(n, path, codeType, "must be "+want+", not "+kindWords(n), "")
	}
	if n.Tag == "!!null" {
		return r.fault(n, path, codeMissing, "has no value", "give it one, or remove the line")
	}
	text, expanded, ok := r.expand(n, path)
	if !ok {
		return absent{}
	}
	if !expanded && n.Tag != "" && !slices.Contains(tags, n.Tag) {
		hint := ""
		switch {
		case path == "listen" || path == "admin":
			hint = "write host:port, such as 127.0.0.1:7280"
		case tags[0] == "!!str":
			hint = "put it in quotes"
		case n.Tag == "!!str" && n.Style != 0:
			hint = "without quotes"
		}
		return r.fault(n, path, codeType, "must be "+want+", not "+kindWords(n), hint)
	}
	v, number, err := s.parse(text)
	if err != nil {
		return r.fault(n, path, codeType, err.Error(), "")
	}
	if !s.inRange(number) && text != "auto" {
		return r.fault(n, path, codeRange, "must be "+s.rangeWords(), "")
	}
	known := s.names()
	if known == nil || slices.Contains(known, text) {
		return v
	}
	if s.Format != "" {
		v := r.fault(n, path, codeName, "", "")
		f := &r.found[len(r.found)-1]
		f.Message, f.Hint = unknownName(s.Format, quoted(n.Value), text, known, expanded)
		return v
	}
	switch {
	case len(known) == 1 || secretPath(path):
		return r.fault(n, path, codeName, "can only be "+strings.Join(known, " or "), "")
	case expanded:
		return r.fault(n, path, codeName, "cannot be "+quoted(n.Value), "it is one of "+strings.Join(known, ", "))
	}
	return r.fault(n, path, codeName, "cannot be "+quoted(text), DidYouMean(text, known))
}

// expand returns the text of a value with its variables replaced.
func (r *reading) expand(n *yaml.Node, path string) (text string, expanded, ok bool) {
	text, expanded, faults := n.Value, false, []envFault(nil)
	if r.lookup != nil {
		text, expanded, faults = expand(n.Value, r.lookup)
	}
	p := r.config.places[path]
	p.src, p.node, p.expanded, p.broken = r.src, n, expanded, len(faults) > 0
	r.config.places[path] = p
	for _, e := range faults {
		r.report(n, codeEnv, path+": "+e.message, e.hint)
	}
	return text, expanded, len(faults) == 0
}

// kindWords returns the kind of a node in words of the file.
func kindWords(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a map"
	case yaml.SequenceNode:
		return "a list"
	}
	switch n.Tag {
	case "!!int":
		return "a number"
	case "!!float":
		return "a number with a fraction"
	case "!!bool":
		return "true or false"
	case "!!timestamp":
		return "a date"
	case "!!null":
		return "nothing"
	}
	return "text"
}

// join returns the path of a key in a map.
func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// within returns the map that a key is in, as the end of a sentence.
func within(path string) string {
	if path == "" {
		return ""
	}
	return " in " + path
}
