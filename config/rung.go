package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	yaml "go.yaml.in/yaml/v4"

	"laconic/compact/stage"
)

// Rung is one stage of a ladder with its options, a JSON object; nil: the
// stage's own defaults.
type Rung struct {
	Name    string
	Options json.RawMessage
}

// rung reads one rung of a ladder: a name, or {name: {option: value}}.
func (r *reading) rung(n *yaml.Node, path string, into *Rung) {
	if n.Kind == yaml.ScalarNode {
		if name, ok := r.scalar(n, path, "the name of a stage, or {name: {option: value}}", "!!str"); ok {
			*into = Rung{Name: name}
		}
		return
	}
	if n.Kind != yaml.MappingNode {
		r.fault(n, path, codeType, "must be the name of a stage, or {name: {option: value}}, not "+kindWords(n), "")
		return
	}
	ps := r.pairs(n, path)
	if len(ps) != 1 {
		hint := ""
		if len(ps) > 1 {
			for _, p := range ps {
				r.src.show(p.key)
			}
			hint = "put the options of " + quoted(ps[0].key.Value) + " into a map of their own, indented below it"
		}
		r.fault(n, path, codeType, "must name exactly one stage", hint)
		return
	}
	name, options := ps[0].key, ps[0].value
	r.src.show(name)
	*into = Rung{Name: name.Value}
	at := join(path, name.Value)
	r.config.places[at] = place{src: r.src, key: name, node: options}
	if options.Kind != yaml.ScalarNode || options.Tag != "!!null" { // "- trim_results:" names the stage alone
		into.Options = r.options(options, at)
	}
}

// options reads a map of options; nil: it could not be read.
func (r *reading) options(n *yaml.Node, path string) json.RawMessage {
	if n.Kind == yaml.AliasNode {
		r.src.show(n)
		n = n.Alias
	}
	if n.Kind != yaml.MappingNode {
		r.fault(n, path, codeType, "must be a map of options, not "+kindWords(n), "")
		return nil
	}
	r.expandedIn = false
	raw, ok := r.json(n, path)
	p := r.config.places[path]
	p.expanded = r.expandedIn
	r.config.places[path] = p
	if !ok {
		return nil
	}
	return raw
}

// json writes a node as JSON: the options of a stage are read by the stage,
// which knows no YAML.
func (r *reading) json(n *yaml.Node, path string) (json.RawMessage, bool) {
	if !r.enter(n, path) {
		return nil, false
	}
	defer r.leave()
	if n.Kind == yaml.AliasNode {
		r.src.show(n)
		n = n.Alias
	}
	var b bytes.Buffer
	all := true
	switch n.Kind {
	case yaml.MappingNode:
		b.WriteByte('{')
		for i, p := range r.pairs(n, path) {
			r.src.show(p.key)
			at := join(path, p.key.Value)
			r.config.places[at] = place{src: r.src, key: p.key, node: p.value}
			raw, ok := r.json(p.value, at)
			all = all && ok
			if i > 0 {
				b.WriteByte(',')
			}
			key, _ := json.Marshal(p.key.Value)
			b.Write(append(append(key, ':'), raw...))
		}
		b.WriteByte('}')
		return b.Bytes(), all
	case yaml.SequenceNode:
		b.WriteByte('[')
		for i, item := range n.Content {
			raw, ok := r.json(item, fmt.Sprintf("%s[%d]", path, i))
			all = all && ok
			if i > 0 {
				b.WriteByte(',')
			}
			b.Write(raw)
		}
		b.WriteByte(']')
		return b.Bytes(), all
	}
	text, expanded, ok := r.expand(n, path)
	if !ok {
		return nil, false
	}
	p := r.config.places[path]
	p.src, p.node, p.expanded = r.src, n, expanded
	r.config.places[path] = p
	r.expandedIn = r.expandedIn || expanded
	raw, err := json.Marshal(plainValue(n, text, expanded))
	if err != nil {
		r.fault(n, path, codeType, "must be text, a finite number, true or false", "")
		return nil, false
	}
	return raw, true
}

// plainValue gives a value its type: by its tag, or, where a variable was
// expanded without quotes, by what it looks like.
func plainValue(n *yaml.Node, text string, expanded bool) any {
	quotedText := n.Tag == "!!str" && n.Style != 0
	if n.Tag == "!!null" {
		return nil
	}
	if expanded && !quotedText || n.Tag == "!!int" || n.Tag == "!!float" {
		if i, err := parseWhole(text); err == nil {
			return i
		}
		if f, err := strconv.ParseFloat(strings.ReplaceAll(text, "_", ""), 64); err == nil {
			return f
		}
		if n.Tag == "!!float" {
			return math.NaN() // .inf, .nan: refused by JSON
		}
	}
	if expanded && !quotedText || n.Tag == "!!bool" {
		switch strings.ToLower(text) {
		case "true":
			return true
		case "false":
			return false
		}
	}
	return text
}

// rung says what is wrong with one rung of a ladder.
func (ch *checking) rung(path string, rung Rung) {
	if !ch.given(path) || !ch.name(path, "stage", rung.Name, stage.Names()) {
		return
	}
	at := join(path, rung.Name)
	if len(rung.Options) == 0 || !ch.given(at) {
		return
	}
	_, err := stage.New(rung.Name, rung.Options)
	ch.options(at, "the stage "+rung.Name, err)
}

// options notes what a stage or a policy says of its options, each fault at its
// place.
func (ch *checking) options(at, who string, err error) {
	var faults stage.OptionErrors
	if !errors.As(err, &faults) {
		return
	}
	for _, f := range faults {
		where := at
		if f.Option != "" {
			where = join(at, f.Option)
		}
		hint := "it has none"
		if len(f.Known) > 0 {
			hint = DidYouMean(f.Option, f.Known)
		}
		switch {
		case f.Unknown:
			ch.atKey(where, codeUnknown, who+" has no option "+quoted(f.Option), hint)
		case ch.FromEnvironment(where):
			ch.at(where, codeStage, who+": an option that comes from the environment is not valid", f.Problem)
		default:
			ch.at(where, codeStage, who+": "+f.Problem, "")
		}
	}
}
