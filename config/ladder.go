package config

import (
	"encoding/json"
	"errors"
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

// MarshalJSON writes the rung as the file has it.
func (r Rung) MarshalJSON() ([]byte, error) {
	if r.Options == nil {
		return json.Marshal(r.Name)
	}
	return json.Marshal(map[string]json.RawMessage{r.Name: r.Options})
}

// rung reads one rung of a ladder: a name, or {name: {option: value}}.
func (r *reading) rung(n *yaml.Node, path string) any {
	switch {
	case n.Kind == yaml.MappingNode:
	case n.Kind == yaml.ScalarNode && (n.Tag == "!!str" || n.Tag == "" || n.Tag == faulty):
		name := r.scalar(n, path, &schema{Type: "string"})
		if name == (absent{}) {
			return name
		}
		return map[string]any{"name": name}
	default:
		return r.fault(n, path, "must be the name of a stage, or {name: {option: value}}", "")
	}
	ps := r.pairs(n, path)
	if len(ps) != 1 {
		return r.fault(n, path, "must name exactly one stage", "its options stand in a map of their own, indented below it")
	}
	name, options := ps[0].key, ps[0].value
	rung := map[string]any{"name": name.Value}
	at := join(path, name.Value)
	r.config.places[at] = place{from: r.from, key: name, node: options}
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
	for _, p := range r.pairs(n, path) {
		r.config.places[join(path, p.key.Value)] = place{from: r.from, key: p.key, node: p.value, broken: p.value.Tag == faulty}
	}
	if len(r.found) > found {
		return absent{}
	}
	var v any
	var raw []byte
	err := n.Decode(&v)
	if err == nil {
		raw, err = json.Marshal(v)
	}
	if err != nil {
		return r.fault(n, path, "must be text, a finite number, true or false", "")
	}
	return json.RawMessage(raw)
}

// options notes the errors of the options of a stage or a policy, each at its place.
func (ch *checking) options(at, who string, err error) {
	faults, _ := errors.AsType[stage.OptionErrors](err)
	for _, f := range faults {
		where := strings.TrimSuffix(at+"."+f.Option, ".")
		if f.Unknown {
			ch.atKey(where, who+" has no such option", DidYouMean(f.Option, f.Known))
		} else {
			ch.at(where, who+": "+f.Problem, "")
		}
	}
}
