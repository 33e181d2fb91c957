package config

import (
	"regexp"
	"strings"

	yaml "go.yaml.in/yaml/v4"
)

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
	} else if variableOnly.MatchString(text) {
		r.config.variables[n] = text
	}
}

var (
	reference    = regexp.MustCompile(`\$\$\{|\$\{[^}]*\}?`)
	variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	variableOnly = regexp.MustCompile(`^\$\{\w+\}$`)
)

// Variable returns the variable that the value at path consists of, as the file
// has it: ${NAME}; "" for any other value.
func (c *Config) Variable(path string) string { return c.variables[c.places[path].node] }
