package digest

import (
	"errors"
	"io"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v4"
)

var (
	// printedYAML finds the beginning of an object, or of a list of objects, as tools in
	// Python print them, and innerList a list or an object on one line, as they do not.
	printedYAML = regexp.MustCompile(`^(?:- )?[A-Za-z_]\w*:(?: [^\n]*)?\n`)
	innerList   = regexp.MustCompile(`(?m)^[\s-]*(?:\w+: )?(?:\[[^\]]|\{[^}])`)
	// printedPython finds the same in the notation of the language, and rows of a database,
	// and pythonToken what JSON writes otherwise.
	printedPython = regexp.MustCompile(`^(?:\[?\{'\w+': |\[\()`)
	pythonToken   = regexp.MustCompile(`'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\b(?:None|True|False)\b|\b[\w.]+\('?[^()']*'?\)|\(|,?\)`)
	inJSON        = strings.NewReplacer(`\\`, `\\`, `\'`, `'`, `\"`, `\"`, `\x`, `\u00`, `"`, `\"`)
)

// mostYAML is the length up to which a text is read as YAML.
const mostYAML = 1 << 18

// printed returns the value of a text that a tool printed as an object, as a list of
// objects or as rows, and reports whether it is one.
func printed(text string) (v value, ok bool) {
	switch {
	case printedPython.MatchString(text):
		v = valueOf(pythonToken.ReplaceAllStringFunc(text, func(t string) string {
			switch {
			case t == "None":
				return "null"
			case t == "True", t == "False":
				return strings.ToLower(t)
			case t == "(":
				return "["
			case t == ")", t == ",)":
				return "]"
			case t[0] == '\'', t[0] == '"':
				return `"` + inJSON.Replace(t[1:len(t)-1]) + `"`
			case strings.HasPrefix(t, "Decimal('"):
				return t[len("Decimal('") : len(t)-len("')")]
			}
			return `"` + inJSON.Replace(t) + `"` // a date
		}))
		return v, v.list != nil
	case len(text) > mostYAML, !printedYAML.MatchString(text), innerList.MatchString(text):
		return v, false
	}
	d := yaml.NewDecoder(strings.NewReader(text))
	var doc, more yaml.Node
	if d.Decode(&doc) != nil || !errors.Is(d.Decode(&more), io.EOF) || hasMore(&doc) {
		return v, false
	}
	v, ok = nodeValue(doc.Content[0], 0)
	return v, ok && (v.kind == '{' && len(v.list) > 1 || v.kind == '[' && v.list[0].kind == '{')
}

// hasMore reports whether a node has what no value has: what looks like a comment may be
// the number of an order.
func hasMore(n *yaml.Node) bool {
	return n.HeadComment+n.LineComment+n.FootComment+n.Anchor != "" || n.Style&yaml.TaggedStyle != 0
}

// nodeValue returns the value of a node below others, and reports whether nothing of the
// text is lost.
func nodeValue(n *yaml.Node, level int) (v value, ok bool) {
	if hasMore(n) || level > mostLevels/2 {
		return v, false
	}
	step := 1
	switch n.Kind {
	case yaml.ScalarNode:
		if v.text = n.Value; n.ShortTag() == "!!str" || n.ShortTag() == "!!timestamp" {
			v.kind = '"'
		}
		return v, true
	case yaml.MappingNode:
		v.kind, step = '{', 2
	case yaml.SequenceNode:
		v.kind = '['
	default: // an alias
		return v, false
	}
	var b strings.Builder
	for i := step - 1; i < len(n.Content); i += step {
		m, ok := nodeValue(n.Content[i], level+1)
		if !ok {
			return v, false
		}
		key := ""
		if step == 2 {
			name, ok := nodeValue(n.Content[i-1], level+1)
			if !ok || name.list != nil {
				return v, false
			}
			key = name.text
			b.WriteString(key + ": ")
		}
		v.keys, v.list = append(v.keys, key), append(v.list, m)
		b.WriteString(strings.ReplaceAll(m.text, "\n", `\n`) + ", ")
	}
	if v.text = b.String(); v.list == nil {
		v.text = string([]byte{v.kind, v.kind + 2})
	}
	return v, true
}
