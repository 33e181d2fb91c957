package config

import (
	"fmt"

	yaml "go.yaml.in/yaml/v4"
)

// pair is one key of a map with its value.
type pair struct{ key, value *yaml.Node }

// pairs returns the keys of a map, with what it merges by <<. A key of the map
// itself wins over a merged one, an earlier merge over a later one.
func (r *reading) pairs(n *yaml.Node, path string) []pair {
	var own, merged []pair
	lines := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if k.Kind == yaml.AliasNode {
			k = k.Alias
		}
		switch {
		case k.Tag == "!!merge":
			merged = append(merged, r.merged(v, path)...)
		case k.Kind != yaml.ScalarNode:
			r.report(k, codeType, "a key must be a word, not "+kindWords(k), "")
		case lines[k.Value] > 0:
			name := "a key"
			if plainKey.MatchString(k.Value) {
				name = quoted(k.Value)
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

func (r *reading) merged(v *yaml.Node, path string) (all []pair) {
	if !r.enter(v, path) {
		return nil
	}
	defer r.leave()
	if v.Kind == yaml.AliasNode {
		v = v.Alias
	}
	switch v.Kind {
	case yaml.MappingNode:
		return r.pairs(v, path)
	case yaml.SequenceNode:
		for _, item := range v.Content {
			all = append(all, r.merged(item, path)...)
		}
	default:
		r.report(v, codeType, "<< merges a map, not "+kindWords(v), "")
	}
	return all
}
