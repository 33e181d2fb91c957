package digest

import (
	"regexp"
	"strings"

	"go.yaml.in/yaml/v4"
)

// printedYAML finds the beginning of an object, or of a list of objects, as tools in Python
// print them.
var printedYAML = regexp.MustCompile(`^(?:- )?[A-Za-z_]\w*:(?: [^\n]*)?\n`)

// valueOfYAML returns the value of a text in YAML: a string, if it is none, or if it says more
// than its value.
func valueOfYAML(text string) value {
	var doc yaml.Node
	if printedYAML.MatchString(text) && !strings.Contains(text, "\n---") && yaml.Unmarshal([]byte(text), &doc) == nil {
		if v, ok := nodeValue(&doc); ok && (v.list[0].kind == '[' || len(v.list[0].list) > 1) {
			return v.list[0]
		}
	}
	return value{kind: '"', text: text}
}

// nodeValue returns the value of a node, and reports whether it is all that the node says:
// what looks like a comment may be the number of an order.
func nodeValue(n *yaml.Node) (v value, ok bool) {
	ok = n.HeadComment+n.LineComment+n.FootComment+n.Anchor == "" && n.Style&yaml.TaggedStyle == 0 && n.Kind != yaml.AliasNode
	step := 1
	switch tag := n.ShortTag(); {
	case n.Kind == yaml.MappingNode:
		v.kind, step = '{', 2
	case n.Kind != yaml.ScalarNode:
		v.kind = '['
	case tag == "!!str", tag == "!!timestamp":
		v.kind = '"'
	}
	texts := []string{n.Value}
	for i := step - 1; i < len(n.Content); i += step {
		m, all := nodeValue(n.Content[i])
		var key value
		if ok = ok && all; ok && step == 2 {
			key, ok = nodeValue(n.Content[i-1])
		}
		v.keys, v.list, texts = append(v.keys, key.text), append(v.list, m), append(texts, key.text+": "+strings.ReplaceAll(m.text, "\n", `\n`))
	}
	if v.text = strings.Join(texts, " "); n.Kind != yaml.ScalarNode && v.list == nil {
		v.text = string([]byte{v.kind, v.kind + 2})
	}
	return v, ok
}
