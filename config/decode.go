package config

import (
	"bytes"
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	yaml "go.yaml.in/yaml/v4"
)

// reading turns the nodes of one text into a Config. It never stops at a
// problem: it notes it, leaves the setting as it was and goes on.
type reading struct {
	src    *source
	lookup func(string) (string, bool) // nil: variables are not expanded
	config *Config
	found  []finding
	left   int  // nodes that may still be visited: aliases can multiply them
	depth  int  // of maps and lists in each other
	lost   bool // one of the two has run out

	expandedIn bool // a variable was expanded in the options of the rung
}

// mostNodes and deepest bound what aliases can make of a small file.
const (
	mostNodes = 100_000
	deepest   = 64
)

// Parse makes a Config of the bytes of a file and what overrides it, and checks
// it. Errors call the file by name; lookup finds the variables of the environment.
func Parse(name string, src []byte, lookup func(string) (string, bool), over ...Override) (*Config, error) {
	c := Default()
	c.file, c.places = name, map[string]place{}
	src = bytes.TrimPrefix(src, []byte("\uFEFF"))
	s := &source{name: name, lines: SplitLines(strings.ToValidUTF8(string(src), "\uFFFD")), shown: map[*yaml.Node]bool{}}
	root, fault := parseYAML(s, src)
	if fault != nil {
		return c, problems([]finding{*fault})
	}
	r := &reading{src: s, lookup: lookup, config: c, left: mostNodes}
	if root != nil {
		s.collect(root)
		r.value(root, "", reflect.ValueOf(c).Elem())
	}
	for _, o := range over {
		r.found = append(r.found, c.override(o)...)
	}
	if lookup != nil {
		for _, name := range []string{clientsBase, clientsKey} {
			if v, _ := lookup(name); v != "" && !(name == clientsBase && c.standsFor(v)) {
				c.unread = append(c.unread, name)
			}
		}
	}
	if c.Admin == "off" {
		c.Admin = ""
	}
	return c, problems(append(r.found, c.check()...))
}

// override reads one value over the file's. What holds the value is still where
// the file has it.
func (c *Config) override(o Override) []finding {
	r := &reading{src: &source{name: o.From}, config: c, left: mostNodes}
	holders := map[string]place{}
	for path := o.Key; path != ""; {
		path = path[:max(0, strings.LastIndexByte(path, '.'))]
		if p, ok := c.places[path]; ok {
			holders[path] = p
		}
	}
	r.value(o.node(), "", reflect.ValueOf(c).Elem())
	for path := o.Key; path != ""; {
		path = path[:max(0, strings.LastIndexByte(path, '.'))]
		delete(c.places, path)
	}
	maps.Copy(c.places, holders)
	return r.found
}

// node writes an override as the part of a file that it stands for.
func (o Override) node() *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Value: o.Value} // no tag: of whatever type is wanted
	for _, k := range slices.Backward(strings.Split(o.Key, ".")) {
		key := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: k}
		n = &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Content: []*yaml.Node{key, n}}
	}
	return n
}

// collect lists the nodes of a tree in the order of the text.
func (s *source) collect(n *yaml.Node) {
	s.nodes = append(s.nodes, n)
	for _, c := range n.Content {
		s.collect(c)
	}
}

// report notes a problem at a node.
func (r *reading) report(n *yaml.Node, code, message, hint string) {
	r.found = append(r.found, r.src.finding(n, code, message, hint))
}

// fault notes a problem with a value and that the value was not read.
func (r *reading) fault(n *yaml.Node, path, code, message, hint string) {
	r.report(n, code, cmp.Or(path, "the file")+" "+message, hint)
	if path != "" && !secretPath(path) {
		r.src.show(n)
		if n.Kind == yaml.MappingNode {
			for i := 0; i < len(n.Content); i += 2 {
				r.src.show(n.Content[i])
			}
		}
	}
	r.spoil(path)
}

// spoil notes that a value could not be read, so that nobody judges it again.
func (r *reading) spoil(path string) {
	p := r.config.places[path]
	p.broken = true
	r.config.places[path] = p
}

func (s *source) finding(n *yaml.Node, code, message, hint string) finding {
	return finding{
		Problem: Problem{Line: n.Line, Column: n.Column, Code: code, Message: message, Hint: hint},
		src:     s, node: n,
	}
}

// enter counts a node that is visited, and says so where it is one too many.
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

// value reads node n into v. path is how the setting is called.
func (r *reading) value(n *yaml.Node, path string, v reflect.Value) {
	if !r.enter(n, path) {
		return
	}
	defer r.leave()
	if n.Kind == yaml.AliasNode {
		r.src.show(n)
		n = n.Alias
	}
	p := r.config.places[path]
	p.src, p.node, p.broken = r.src, n, false
	r.config.places[path] = p

	switch t := v.Addr().Interface().(type) {
	case *Size:
		readText(r, n, path, t, parseSize)
		return
	case *Duration:
		readText(r, n, path, t, parseDuration)
		return
	case *Window:
		readText(r, n, path, t, parseWindow)
		return
	case *Trigger:
		readText(r, n, path, t, parseTrigger)
		return
	case *Rung:
		r.rung(n, path, t)
		return
	case *OptionMap:
		*t = OptionMap(r.options(n, path))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		r.fields(n, path, v)
	case reflect.Map:
		r.policies(n, path, v.Addr().Interface().(*map[string]Policy))
	case reflect.Slice:
		r.list(n, path, v)
	case reflect.Pointer:
		fresh := reflect.New(v.Type().Elem())
		r.value(n, path, fresh.Elem())
		if !r.config.places[path].broken {
			v.Set(fresh)
		}
	case reflect.String:
		if text, ok := r.scalar(n, path, "text", "!!str"); ok {
			v.SetString(text)
		}
	case reflect.Bool:
		if text, ok := r.scalar(n, path, "true or false", "!!bool"); ok {
			if b, err := strconv.ParseBool(text); err == nil && len(text) > 1 {
				v.SetBool(b)
			} else {
				r.fault(n, path, codeType, "must be true or false", "")
			}
		}
	case reflect.Int:
		if text, ok := r.scalar(n, path, "a whole number", "!!int", "!!float"); ok {
			if i, err := parseWhole(text); err == nil {
				v.SetInt(int64(i))
			} else {
				r.fault(n, path, codeType, err.Error(), "")
			}
		}
	case reflect.Float64:
		if text, ok := r.scalar(n, path, "a number", "!!int", "!!float"); ok {
			if f, err := parseFraction(text); err == nil {
				v.SetFloat(f)
			} else {
				r.fault(n, path, codeType, err.Error(), "")
			}
		}
	default:
		panic("BUG: the configuration has no reader for " + v.Type().String())
	}
}
