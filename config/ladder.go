package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	yaml "go.yaml.in/yaml/v4"

	"laconic/compact/stage"
)

// Rung is one stage of a ladder with its options, a JSON object; nil: the
// stage's own defaults.
type Rung struct {
	Name    string          `json:"name"`
	Options json.RawMessage `json:"options,omitempty"`
}

// rung reads one rung of a ladder: a name, or {name: {option: value}}.
func (r *reading) rung(n *yaml.Node, path string) any {
	const want = "the name of a stage, or {name: {option: value}}"
	switch {
	case n.Kind == yaml.MappingNode:
	case n.Tag == "!!str":
		name := r.scalar(n, path, &schema{Type: "string"})
		if name == (absent{}) {
			return name
		}
		return map[string]any{"name": name}
	default:
		return r.fault(n, path, "must be "+want, "")
	}
	ps := r.pairs(n, path)
	if len(ps) != 1 {
		return r.fault(n, path, "must name exactly one stage", "its options stand in a map of their own, indented below it")
	}
	name, options := ps[0].key, ps[0].value
	rung := map[string]any{"name": name.Value}
	at := join(path, name.Value)
	r.config.places[at] = place{src: r.src, key: name, node: options}
	if options.Kind != yaml.ScalarNode || options.Tag != "!!null" { // "- trim_results:" names the stage alone
		if o := r.options(options, at); o != (absent{}) {
			rung["options"] = o
		}
	}
	return rung
}

// options reads a map of options as JSON: only the stage or the policy knows what they
// mean.
func (r *reading) options(n *yaml.Node, path string) any {
	if n.Kind != yaml.MappingNode {
		return r.fault(n, path, "must be a map of options", "")
	}
	found := len(r.found)
	v := r.plain(n, path)
	if len(r.found) > found {
		return absent{}
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return r.fault(n, path, "must be text, a finite number, true or false", "")
	}
	return json.RawMessage(raw)
}

// plain returns a node as maps, lists and plain values.
func (r *reading) plain(n *yaml.Node, path string) any {
	switch n.Kind {
	case yaml.MappingNode:
		all := map[string]any{}
		for _, p := range r.pairs(n, path) {
			at := join(path, p.key.Value)
			r.config.places[at] = place{src: r.src, key: p.key, node: p.value}
			all[p.key.Value] = r.plain(p.value, at)
		}
		return all
	case yaml.SequenceNode:
		all := []any{}
		for i, item := range n.Content {
			all = append(all, r.plain(item, fmt.Sprintf("%s[%d]", path, i)))
		}
		return all
	}
	text, expanded, _ := r.expand(n, path)
	return plainValue(n, text, expanded)
}

// plainValue returns a value with its type: by its tag, or, where a variable was
// expanded without quotes, by what it looks like.
func plainValue(n *yaml.Node, text string, expanded bool) any {
	typed := expanded && (n.Tag != "!!str" || n.Style == 0)
	if n.Tag == "!!null" {
		return nil
	}
	if !typed && n.Tag == "!!str" {
		return text
	}
	if i, err := parseWhole(text); err == nil {
		return i
	}
	if f, err := strconv.ParseFloat(strings.ReplaceAll(text, "_", ""), 64); err == nil {
		return f
	}
	if b, err := parseBool(strings.ToLower(text)); err == nil {
		return b
	}
	return text
}

// rung checks one rung of a ladder that the file has.
func (ch *checking) rung(path string, rung Rung) {
	if ch.Has(path) && ch.name(path, rung.Name, stage.Names()) {
		_, err := stage.New(rung.Name, rung.Options)
		ch.options(join(path, rung.Name), "the stage "+rung.Name, err)
	}
}

// options notes the errors of the options of a stage or a policy, each at its place.
func (ch *checking) options(at, who string, err error) {
	var faults stage.OptionErrors
	if !errors.As(err, &faults) {
		return
	}
	for _, f := range faults {
		where := strings.TrimSuffix(at+"."+f.Option, ".")
		if f.Unknown {
			ch.atKey(where, who+" has no such option", DidYouMean(f.Option, f.Known))
		} else {
			ch.at(where, who+": "+f.Problem, "")
		}
	}
}
