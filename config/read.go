package config

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	yaml "go.yaml.in/yaml/v4"
)

// reading turns the nodes of a text into plain values, as the schema wants them:
// maps, lists, texts, numbers. It never stops at a problem: it notes it, leaves
// the value out and goes on. No problem repeats a value, which may be a secret.
type reading struct {
	from   string // see place
	config *Config
	found  []Problem
}

// absent is the value of a node that could not be read.
type absent struct{}

// report notes a problem at a node.
func (r *reading) report(n *yaml.Node, message, hint string) {
	r.found = append(r.found, problemAt(r.from, n, message, hint))
}

// fault notes a problem with the value of a path, so that it is not checked again.
func (r *reading) fault(n *yaml.Node, path, message, hint string) any {
	r.report(n, cmp.Or(path, "the file")+" "+message, hint)
	return r.broken(path)
}

// broken marks the value of a path as one that could not be read.
func (r *reading) broken(path string) any {
	p := r.config.places[path]
	p.broken = true
	r.config.places[path] = p
	return absent{}
}

// value reads a node as s wants it. key is nil for an item of a list.
func (r *reading) value(key, n *yaml.Node, path string, s *schema) any {
	r.config.places[path] = place{from: r.from, key: key, node: n}
	switch {
	case n.Tag == "!!null" && s.is("array"):
		return r.fault(n, path, "has no value", "write [] for an empty list, or remove the line")
	case n.Tag == "!!null" && s.Format != "stage" && s.Format != "options":
		return r.fault(n, path, "has no value", "give it one, or remove the line")
	case s.Format == "stage":
		return r.rung(n, path)
	case s.Format == "options":
		return r.options(n, path)
	case s.is("object"):
		return r.object(n, path, s)
	case s.is("array"):
		return r.list(n, path, s)
	}
	return r.scalar(n, path, s)
}

// pair is one key of a map with its value.
type pair struct{ key, value *yaml.Node }

// pairs returns the keys of a map.
func (r *reading) pairs(n *yaml.Node, path string) (all []pair) {
	lines := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		switch {
		case k.Kind != yaml.ScalarNode:
			r.report(k, "a key must be a word", "")
		case lines[k.Value] > 0:
			r.report(k, "this key is set twice"+within(path), fmt.Sprintf("first in line %d", lines[k.Value]))
		default:
			lines[k.Value] = k.Line
			all = append(all, pair{k, n.Content[i+1]})
		}
	}
	return all
}

func (r *reading) object(n *yaml.Node, path string, s *schema) any {
	if n.Kind != yaml.MappingNode {
		return r.fault(n, path, "must be a map of settings", "key: value, one setting in a line")
	}
	values := map[string]any{}
	for _, p := range r.pairs(n, path) {
		name := p.key.Value
		child := s.Properties[name]
		switch {
		case child == nil && s.Additional == nil:
			r.unknownKey(p.key, path, s)
			continue
		case child == nil:
			if child = s.Additional; !policyName.MatchString(name) {
				r.report(p.key, "a policy cannot be called this", "letters, digits, - and _, at most 64")
				continue
			}
		}
		at := join(path, name)
		v := r.value(p.key, p.value, at, child)
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

// unknownKey reports a key that does not exist. One that resembles no other may
// be a piece of a secret whose quotes were lost: it is not shown.
func (r *reading) unknownKey(key *yaml.Node, path string, s *schema) {
	name := ""
	if Nearest(key.Value, s.keys()) != "" {
		name = " " + strconv.Quote(key.Value)
	}
	r.report(key, "unknown key"+name+within(path), DidYouMean(key.Value, s.keys()))
}

func (r *reading) list(n *yaml.Node, path string, s *schema) any {
	if n.Kind != yaml.SequenceNode {
		return r.fault(n, path, "must be a list", "an item stands behind a dash, or between [ and ]")
	}
	items := []any{}
	for i, item := range n.Content {
		v := r.value(nil, item, fmt.Sprintf("%s[%d]", path, i), s.Items)
		if v == (absent{}) { // keeps the places of the others
			v = nil
		}
		items = append(items, v)
	}
	return items
}

// scalar reads a plain value.
func (r *reading) scalar(n *yaml.Node, path string, s *schema) any {
	want, tags := s.form()
	if n.Tag == faulty {
		return r.broken(path)
	}
	text := n.Value
	if n.Kind != yaml.ScalarNode || n.Tag != "" && !slices.Contains(tags, n.Tag) {
		hint := ""
		switch {
		case n.Kind != yaml.ScalarNode:
		case tags[0] == "!!str":
			hint = "put it in quotes"
		case n.Style != 0:
			hint = "without quotes"
		}
		return r.fault(n, path, "must be "+want, hint)
	}
	v, number, err := s.parse(text)
	if err != nil {
		return r.fault(n, path, err.Error(), "")
	}
	if !s.inRange(number) && text != "auto" {
		return r.fault(n, path, "must be "+s.rangeWords(), "")
	}
	known := s.Enum
	if len(s.AnyOf) > 0 {
		known = s.AnyOf[0].Enum
	}
	if known != nil && !slices.Contains(known, text) {
		return r.fault(n, path, unknownName, DidYouMean(text, known))
	}
	return v
}

// unknownName says that a value is not one of the names that it may be.
const unknownName = "is not a known name"

// join returns the path of a key in a map.
func join(path, key string) string { return strings.TrimPrefix(path+"."+key, ".") }

// within returns the map that a key is in, as the end of a sentence.
func within(path string) string {
	if path == "" {
		return ""
	}
	return " in " + path
}
