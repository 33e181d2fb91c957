package digest

import (
	"regexp"
	"strings"

	"go.yaml.in/yaml/v4"
)

// printedYAML finds the beginning of an object, or of a list of objects, as tools in Python
// print them.
var printedYAML = regexp.MustCompile(`^(?:- )?[A-Za-z_]\w*:(?: [^\n]*)?\n`)

// mostYAML is the length up to which a text is read as YAML.
const mostYAML = 1 << 18

// valueOfYAML returns the value of a text in YAML. It returns the text as a string if the text
// is no YAML, or says more than its value.
func valueOfYAML(text string) value {
	var doc yaml.Node
	if len(text) <= mostYAML && printedYAML.MatchString(text) && !strings.Contains(text, "\n---") && yaml.Unmarshal([]byte(text), &doc) == nil {
		if v, ok := nodeValue(&doc, 0); ok && (v.list[0].kind == '[' || len(v.list[0].list) > 1) {
			return v.list[0]
		}
	}
	return value{kind: '"', text: text}
}

// nodeValue returns the value of a node below others, and reports whether it is all that the
// node says: what looks like a comment may be the number of an order.
func nodeValue(n *yaml.Node, level int) (v value, ok bool) {
	if n.HeadComment+n.LineComment+n.FootComment+n.Anchor != "" || n.Style&yaml.TaggedStyle != 0 || n.Kind == yaml.AliasNode || level > mostLevels/2 {
		return v, false
	}
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
		m, ok := nodeValue(n.Content[i], level+1)
		var key value
		if ok && step == 2 {
			key, ok = nodeValue(n.Content[i-1], level+1)
		}
		if !ok {
			return v, false
		}
		v.keys, v.list, texts = append(v.keys, key.text), append(v.list, m), append(texts, key.text+": "+strings.ReplaceAll(m.text, "\n", `\n`))
	}
	if v.text = strings.Join(texts, " "); n.Kind != yaml.ScalarNode && v.list == nil {
		v.text = string([]byte{v.kind, v.kind + 2})
	}
	return v, true
}
