package config

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	yaml "go.yaml.in/yaml/v4"
)

// readText reads a value that has a form of its own.
func readText[T any](r *reading, n *yaml.Node, path string, into *T, parse func(string) (T, error)) {
	text, ok := r.scalar(n, path, "", "!!str", "!!int", "!!float")
	if !ok {
		return
	}
	v, err := parse(text)
	if err != nil {
		r.fault(n, path, codeType, err.Error(), "")
		return
	}
	*into = v
}

// show lets excerpts show a node.
func (s *source) show(n *yaml.Node) {
	if s.shown != nil {
		s.shown[n] = true
	}
}

// showBelow lets excerpts show what stands in a setting that should have been of
// another kind, but for secrets and what a key of one may hold.
func (r *reading) showBelow(n *yaml.Node, path string) {
	if secretPath(path) {
		return
	}
	switch n.Kind {
	case yaml.ScalarNode:
		r.src.show(n)
	case yaml.SequenceNode:
		for _, item := range n.Content {
			r.showBelow(item, path)
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if key := n.Content[i].Value; !secretPath(key) && !swallowed(key+":") {
				r.showBelow(n.Content[i+1], path)
			}
		}
	}
}

// scalar reads a plain value of one of the YAML types and expands its
// variables; what a variable holds may be of any type.
func (r *reading) scalar(n *yaml.Node, path, want string, tags ...string) (string, bool) {
	if want == "" {
		want = "one value"
	}
	if n.Kind != yaml.ScalarNode {
		r.showBelow(n, path)
		r.fault(n, path, codeType, "must be "+want+", not "+kindWords(n), "")
		return "", false
	}
	if n.Tag == "!!null" {
		r.fault(n, path, codeMissing, "has no value", "give it one, or remove the line")
		return "", false
	}
	text, expanded, ok := r.expand(n, path)
	if !ok {
		return "", false
	}
	p := r.config.places[path]
	p.expanded = expanded
	r.config.places[path] = p
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
		r.fault(n, path, codeType, "must be "+want+", not "+kindWords(n), hint)
		return "", false
	}
	return text, true
}

// expand gives the text of a value with its variables replaced.
func (r *reading) expand(n *yaml.Node, path string) (text string, expanded, ok bool) {
	if !secretPath(path) || (n.Value == "client" || n.Value == "own") && strings.HasSuffix(path, ".credential") {
		r.src.show(n)
	}
	if r.lookup == nil {
		return n.Value, false, true
	}
	text, expanded, faults := expand(n.Value, r.lookup)
	for _, e := range faults {
		f := r.src.finding(n, codeEnv, path+": "+e.message, e.hint)
		if len(r.found) < mostShown {
			if rest := r.src.from(n.Line, n.Column); strings.Contains(rest, e.text) {
				f.Column += utf8.RuneCountInString(rest[:strings.Index(rest, e.text)])
				f.width = utf8.RuneCountInString(e.text)
			}
		}
		r.found = append(r.found, f)
		r.spoil(path)
	}
	return text, expanded, len(faults) == 0
}

// secretPath tells whether the setting of that path is never shown. credential
// is no secret, but a place where people put one.
func secretPath(path string) bool {
	name := path[strings.LastIndexByte(path, '.')+1:]
	name, _, _ = strings.Cut(name, "[")
	return name == "api_key" || name == "client_keys" || name == "admin_token" || name == "credential" || name == "secret"
}

// kindWords says what a node is, in words of the file.
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

// join gives the path of a key in a map.
func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// within says where a key stands.
func within(path string) string {
	if path == "" {
		return ""
	}
	return " in " + path
}

// quoted puts a word of the file into a sentence.
func quoted(word string) string {
	if swallowed(word) && !secretPath(word) {
		return "this"
	}
	if runes := []rune(word); len(runes) > 40 {
		word = string(runes[:40]) + "…"
	}
	return strconv.Quote(word)
}
