package config

import (
	"cmp"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	yaml "go.yaml.in/yaml/v4"
)

// pair is one key of a map with its value.
type pair struct{ key, value *yaml.Node }

// pairs gives the keys of a map, with what it merges by <<. A key of the map
// itself wins over a merged one, an earlier merge over a later one.
func (r *reading) pairs(n *yaml.Node, path string) []pair {
	if n.Kind != yaml.MappingNode {
		hint := ""
		if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
			r.fault(n, path, codeMissing, "has no value", "give it one, or remove the line")
			return nil
		}
		if path == "" {
			hint = "key: value, one setting in a line"
		}
		r.report(n, codeType, cmp.Or(path, "the file")+" must be a map of settings, not "+kindWords(n), hint)
		r.spoil(path)
		return nil
	}
	var own, merged []pair
	lines := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if k.Kind == yaml.AliasNode {
			k = k.Alias
		}
		switch {
		case k.Tag == "!!merge":
			r.src.show(k)
			merged = append(merged, r.merged(v, path)...)
		case k.Kind != yaml.ScalarNode:
			r.report(k, codeType, "a key must be a word, not "+kindWords(k), "")
		case lines[k.Value] > 0:
			name := "a key"
			if plainKey.MatchString(k.Value) {
				name = quoted(k.Value)
				r.src.show(k)
			}
			r.report(k, codeDuplicate, name+" is set twice"+within(path), fmt.Sprintf("first in line %d", lines[k.Value]))
		default:
			lines[k.Value] = max(k.Line, 1)
			own = append(own, pair{k, v})
		}
	}
	for _, m := range merged {
		if lines[m.key.Value] == 0 {
			lines[m.key.Value] = max(m.key.Line, 1)
			own = append(own, m)
		}
	}
	return own
}

func (r *reading) merged(v *yaml.Node, path string) []pair {
	if !r.enter(v, path) {
		return nil
	}
	defer r.leave()
	if v.Kind == yaml.AliasNode {
		r.src.show(v)
		v = v.Alias
	}
	switch v.Kind {
	case yaml.MappingNode:
		return r.pairs(v, path)
	case yaml.SequenceNode:
		var all []pair
		for _, item := range v.Content {
			all = append(all, r.merged(item, path)...)
		}
		return all
	}
	r.report(v, codeType, "<< merges a map, not "+kindWords(v), "")
	return nil
}

// fields reads a map into a struct.
func (r *reading) fields(n *yaml.Node, path string, v reflect.Value) {
	names, suspect := keysOf(v.Type()), false
	for _, p := range r.pairs(n, path) {
		name := p.key.Value
		at := join(path, name)
		i := slices.Index(names, name)
		suspect = suspect || secretPath(name)
		switch {
		case path == "" && strings.HasPrefix(name, "x-"):
			r.src.show(p.key) // holds anchors
		case i < 0 || name == "":
			r.unknownKey(p, path, names, suspect)
		default:
			r.src.show(p.key)
			r.config.places[at] = place{src: r.src, key: p.key, node: p.value}
			r.value(p.value, at, v.Field(i))
		}
	}
}

// unknownKey reports a key that does not exist. One that resembles no other may
// be a piece of a secret whose quotes were lost: then it is not shown.
func (r *reading) unknownKey(p pair, path string, names []string, suspect bool) {
	key, hint := p.key, keyHint(p.key.Value, path, names)
	suspect = suspect || p.value.Kind == yaml.ScalarNode && p.value.Value == ""
	if hint == "" && (suspect || !plainKey.MatchString(key.Value) || swallowed(key.Value+":")) {
		r.report(key, codeUnknown, "unknown key"+within(path), "")
		return
	}
	r.src.show(key)
	r.report(key, codeUnknown, "unknown key "+quoted(key.Value)+within(path), hint)
}

var plainKey = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]{0,39}$`)

// keysOf lists the keys of a struct of the configuration, by field.
func keysOf(t reflect.Type) []string {
	var names []string
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		names = append(names, name) // "" for fields that are no keys
	}
	return names
}

// list reads a list. What it held before is gone: lists are not merged.
func (r *reading) list(n *yaml.Node, path string, v reflect.Value) {
	if n.Kind != yaml.SequenceNode {
		hint := ""
		switch {
		case n.Kind == yaml.ScalarNode && n.Tag == "!!null":
			r.fault(n, path, codeMissing, "has no value", "write [] for an empty list, or remove the line")
			return
		case n.Kind == yaml.MappingNode && v.Type() == reflect.TypeFor[[]Model]():
			hint = `one row per pattern: - match: "gpt-4o*"`
		case n.Kind == yaml.ScalarNode:
			hint = "put [ ] around it"
		}
		r.showBelow(n, path)
		r.fault(n, path, codeType, "must be a list, not "+kindWords(n), hint)
		return
	}
	items := reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content))
	for i, item := range n.Content {
		r.value(item, fmt.Sprintf("%s[%d]", path, i), items.Index(i))
	}
	v.Set(items)
}
