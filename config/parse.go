package config

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	yaml "go.yaml.in/yaml/v4"
)

// Parse makes a Config of the bytes of a file and what overrides it, and checks
// it. Errors call the file by name; lookup finds the variables of the environment.
func Parse(name string, src []byte, lookup func(string) (string, bool), over ...Override) (*Config, error) {
	return parse(name, src, lookup, nil, over)
}

// parse is Parse, but that of the file and of over it reads the keys of only alone; nil:
// all. It checks nothing between keys then.
func parse(name string, src []byte, lookup func(string) (string, bool), only []string, over []Override) (*Config, error) {
	c := Default()
	c.file, c.sum, c.places = name, sha256.Sum256(src), map[string]place{}
	src = bytes.TrimPrefix(src, []byte("\uFEFF"))
	s := &source{name: name, lines: SplitLines(strings.ToValidUTF8(string(src), "\uFFFD")), shown: map[*yaml.Node]bool{}}
	doc, fault := parseYAML(s, src)
	if fault != nil {
		return c, problems([]finding{*fault})
	}
	r := &reading{src: s, lookup: lookup, config: c, only: only, left: mostNodes}
	values := map[string]any{}
	if doc != nil {
		s.collect(doc)
		if v, ok := r.value(doc, "", root).(map[string]any); ok {
			values = v
		}
	}
	for _, o := range over {
		if r.wanted(o.Key) {
			r.override(values, o)
		}
	}
	policies, _ := values["policies"].(map[string]any)
	delete(values, "policies")
	decode(values, c)
	r.extend(policies)
	for _, name := range []string{clientsBase, clientsKey} {
		if v, _ := lookup(name); v != "" && !(name == clientsBase && c.leadsRight(v)) {
			c.unread = append(c.unread, name)
		}
	}
	if c.Admin == "off" {
		c.Admin = ""
	}
	if only != nil {
		return c, problems(r.found)
	}
	return c, problems(append(r.found, c.check()...))
}

// override reads one value over the file's. What holds the value keeps its
// place in the file.
func (r *reading) override(values map[string]any, o Override) {
	n := &yaml.Node{Kind: yaml.ScalarNode, Value: o.Value} // no tag: of whatever type is wanted
	one := &reading{src: &source{name: o.From}, config: r.config, left: mostNodes}
	defer func() { r.found = append(r.found, one.found...) }()
	s := schemaAt(o.Key)
	if s == nil {
		one.unknownKey(pair{&yaml.Node{Value: o.Key}, n}, "", root, false)
		return
	}
	r.config.places[o.Key] = place{}
	v := one.value(n, o.Key, s)
	if v == (absent{}) {
		return
	}
	keys := strings.Split(o.Key, ".")
	for _, k := range keys[:len(keys)-1] {
		inner, ok := values[k].(map[string]any)
		if !ok {
			inner = map[string]any{}
			values[k] = inner
		}
		values = inner
	}
	values[keys[len(keys)-1]] = v
}

// decode puts values that fit the schema into a struct of the configuration.
func decode(values map[string]any, into any) {
	raw, err := json.Marshal(values)
	if err == nil {
		err = json.Unmarshal(raw, into)
	}
	if err != nil {
		panic("BUG: the schema takes what the configuration does not: " + err.Error())
	}
}

// extend puts each policy of the file over a copy of what it extends: adaptive
// where it does not say, and a built-in one over itself.
func (r *reading) extend(rows map[string]any) {
	builtin, resolved, pending := r.config.Policies, maps.Clone(r.config.Policies), map[string]bool{}
	var resolve func(name string)
	resolve = func(name string) {
		row, ok := rows[name].(map[string]any)
		if !ok {
			return
		}
		delete(rows, name)
		pending[name] = true
		base, at := DefaultPolicy, "policies."+name
		if _, ok := builtin[name]; ok {
			base = name
		}
		if named, ok := row["extends"].(string); ok {
			n := r.config.places[at+".extends"].node
			switch {
			case base == name:
				r.report(n, codePolicy, at+" is built in and extends nothing", "give the policy another name")
			case named == name:
				r.report(n, codePolicy, at+" extends itself", "")
			case pending[named]:
				r.report(n, codePolicy, at+" extends itself through "+named, "")
			default:
				base = named
			}
		}
		resolve(base)
		p, ok := resolved[base]
		if !ok {
			p = resolved[DefaultPolicy]
		}
		p.replace(row)
		resolved[name] = p
		delete(pending, name)
	}
	position := func(name string) int { return r.config.places["policies."+name].key.Line }
	for _, name := range slices.SortedFunc(maps.Keys(rows), func(a, b string) int {
		return cmp.Or(position(a)-position(b), cmp.Compare(a, b))
	}) {
		resolve(name)
	}
	r.config.Policies = resolved
}

// replace puts the settings of a row over those of p. Lists are replaced whole:
// those of p may belong to another policy, too.
func (p *Policy) replace(row map[string]any) {
	pin, _ := row["pin"].(map[string]any)
	for _, list := range []struct {
		given any
		clear func()
	}{
		{row["ladder"], func() { p.Ladder = nil }},
		{pin["roles"], func() { p.Pin.Roles = nil }},
		{pin["text"], func() { p.Pin.Text = nil }},
		{pin["tools"], func() { p.Pin.Tools = nil }},
	} {
		if list.given != nil {
			list.clear()
		}
	}
	p.Options = slices.Clone(p.Options)
	decode(row, p)
}

// collect lists the nodes of a tree in the order of the text.
func (s *source) collect(n *yaml.Node) {
	s.nodes = append(s.nodes, n)
	for _, c := range n.Content {
		s.collect(c)
	}
}

// wanted reports whether a key of the file is read.
func (r *reading) wanted(key string) bool { return r.only == nil || slices.Contains(r.only, key) }
