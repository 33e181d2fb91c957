package config

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"

	yaml "go.yaml.in/yaml/v4"
)

// parseYAML reads the one document of a configuration file. An empty file is an
// empty map. At most one problem is returned: the
// parser cannot go on behind a syntax error.
func parseYAML(name string, src []byte) (*yaml.Node, *Problem) {
	if !utf8.Valid(src) {
		return nil, syntax(name, 1, 1, "the file is not UTF-8", "save it as UTF-8")
	}
	text, swapped := hideBraces(string(src))
	loader, _ := yaml.NewLoader(strings.NewReader(text)) // it fails by its options, and has none
	var doc, next yaml.Node
	empty := &yaml.Node{Kind: yaml.MappingNode}
	if err := loader.Load(&doc); err == io.EOF {
		return empty, nil
	} else if err != nil {
		return nil, explain(name, err)
	}
	if err := loader.Load(&next); err != io.EOF {
		line := next.Line
		if f, ok := errors.AsType[*yaml.LoadError](err); ok {
			line = f.Mark.Line
		}
		return nil, syntax(name, line, 1, "a second document begins here", "a configuration is one document; remove the line ---")
	}
	if alias := prepare(&doc, swapped); alias != nil {
		return nil, syntax(name, alias.Line, alias.Column, "aliases of YAML are not read here", "write the value out; "+quotePatterns)
	}
	if len(doc.Content) == 0 || doc.Content[0].Kind == yaml.ScalarNode && doc.Content[0].Tag == "!!null" {
		return empty, nil
	}
	return doc.Content[0], nil
}

// prepare puts the braces of variables back, if they were swapped, and returns the
// first alias.
func prepare(n *yaml.Node, swapped bool) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n
	}
	if swapped {
		n.Value = bracesBack.Replace(n.Value)
	}
	for _, c := range n.Content {
		if alias := prepare(c, swapped); alias != nil {
			return alias
		}
	}
	return nil
}

func syntax(name string, line, column int, message, hint string) *Problem {
	return &Problem{File: name, Line: max(line, 1), Column: max(column, 1), Message: message, Hint: hint}
}

// explain returns an error of the parser with its place.
func explain(name string, err error) *Problem {
	le, ok := errors.AsType[*yaml.LoadError](err)
	if !ok {
		return syntax(name, 1, 1, "this is not YAML", "")
	}
	message, hint := "this is not YAML: "+le.Message, `indent with spaces; quote a value that holds ": " or begins with a sign such as @ or %`
	if le.ContextMsg != "" {
		message += " " + le.ContextMsg
	}
	switch {
	case strings.Contains(message, "anchor") || strings.Contains(message, "alias"): // whose name may be a secret
		message, hint = "a * without quotes is an alias of YAML", quotePatterns
	case le.ContextMark.Line > 0 && le.ContextMark.Line < le.Mark.Line:
		hint = fmt.Sprintf("it began in line %d", le.ContextMark.Line)
	}
	return syntax(name, le.Mark.Line, le.Mark.Column, bracesBack.Replace(message), hint)
}

const quotePatterns = `put patterns in quotes: match: "*"`

// ${NAME} stands for a variable of the environment, anywhere in a value; $${
// is ${ as text. It is expanded in values that are parsed already, so what a
// variable holds can never become YAML.

var variable = regexp.MustCompile(`\$\{[A-Za-z0-9_]*\}`)

// In YAML { begins a map, so {api_key: ${KEY}} would be no YAML. The braces of
// variables are therefore hidden from the parser behind two characters for
// private use and put back in what it made; a file that holds such characters
// itself is parsed as it is. No position changes by that.
const (
	hiddenOpen  = '\uE07B'
	hiddenClose = '\uE07D'
)

var bracesBack = strings.NewReplacer(string(hiddenOpen), "{", string(hiddenClose), "}")

func hideBraces(src string) (string, bool) {
	if strings.ContainsRune(src, hiddenOpen) || strings.ContainsRune(src, hiddenClose) {
		return src, false
	}
	return variable.ReplaceAllStringFunc(src, func(v string) string {
		return "$" + string(hiddenOpen) + v[2:len(v)-1] + string(hiddenClose)
	}), true
}

// faulty is the tag of a value whose variables could not be expanded.
const faulty = "!faulty"

// expandAll replaces the variables in all values below a node. The value of a variable
// may have any type.
func (r *reading) expandAll(n *yaml.Node, lookup func(string) (string, bool)) {
	for i, inner := range n.Content {
		if n.Kind != yaml.MappingNode || i%2 == 1 {
			r.expandAll(inner, lookup)
		}
	}
	text, found := n.Value, len(r.found)
	n.Value = reference.ReplaceAllStringFunc(text, func(ref string) string {
		name := strings.TrimSuffix(strings.TrimPrefix(ref, "${"), "}")
		held, ok := "", false
		switch {
		case ref == "$${":
			return "${"
		case !strings.HasSuffix(ref, "}"):
			r.report(n, "a variable is not closed with }", "write $${ for a plain ${")
		case !variableName.MatchString(name):
			r.report(n, "a variable is written ${NAME}, of letters, digits and _", "there are no other forms; write $${ for a plain ${")
		default:
			if held, ok = lookup(name); !ok {
				r.report(n, "the variable "+name+" is not set", "set it, or write $${ for a plain ${")
			}
		}
		n.Tag = ""
		return held
	})
	if len(r.found) > found {
		n.Tag = faulty
	} else if only := variableOnly.FindStringSubmatch(text); only != nil {
		r.config.variables[n] = only[1]
	}
}

var (
	reference    = regexp.MustCompile(`\$\$\{|\$\{[^}]*\}?`)
	variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	variableOnly = regexp.MustCompile(`^\$\{(\w+)\}$`)
)

// Variable returns the name of the variable that the value at path consists of; "" for
// any other value.
func (c *Config) Variable(path string) string { return c.variables[c.places[path].node] }
