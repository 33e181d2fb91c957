package config

import (
	"encoding/json"
	"maps"
	"reflect"
	"regexp"

	yaml "go.yaml.in/yaml/v4"

	"laconic/compact"
	"laconic/compact/policy"
)

// Policy is how conversations are compacted. In a Config it is resolved:
// what the file leaves out comes from the policy it extends.
type Policy struct {
	Extends    string    `json:"extends,omitempty"`
	Options    OptionMap `json:"options,omitempty"`
	Trigger    Trigger   `json:"trigger,omitempty" check:"above=0,max=1"` // 0: auto
	Land       float64   `json:"land,omitempty" check:"above=0,below=1"`
	Warm       float64   `json:"warm,omitempty" check:"above=0,below=1"`
	KeepRecent Keep      `json:"keep_recent,omitzero"`
	Repair     string    `json:"repair,omitempty" check:"oneof=answer|drop"`
	OnOverflow string    `json:"on_overflow,omitempty" check:"oneof=forward|reject"`
	Placement  string    `json:"placement,omitempty" check:"oneof=auto|system"`
	Pin        Pin       `json:"pin,omitzero"`
	Ladder     []Rung    `json:"ladder,omitempty"` // nil: the default ladder; empty: only repair

	// algorithm is the named policy that it is a form of; "": adaptive, whose
	// settings are those above. Of the others only extends, options, repair,
	// on_overflow and pin can be set.
	algorithm string
}

// OptionMap is the options of a named policy, a JSON object; nil: its defaults.
type OptionMap json.RawMessage

// Keep measures the recent exchanges that stay as they are.
type Keep struct {
	Share     float64 `json:"share,omitempty" check:"above=0,below=1"`
	Tokens    int     `json:"tokens,omitempty" check:"min=1"`
	Exchanges int     `json:"exchanges,omitempty" check:"min=1"`
	Messages  int     `json:"messages,omitempty" check:"min=0"`
}

// Pin names messages that may not change.
type Pin struct {
	Roles []string `json:"roles,omitempty"`
	Text  []string `json:"text,omitempty"`
	Tools []string `json:"tools,omitempty"`
}

// DefaultPolicy is the policy of every model that names none.
const DefaultPolicy = "adaptive"

// builtinPolicies are the policies that are there without a file. The file may
// change them.
func builtinPolicies() map[string]Policy {
	all := map[string]Policy{}
	for _, name := range policy.Names() {
		all[name] = Policy{Repair: "answer", OnOverflow: "forward", algorithm: name}
	}
	all[DefaultPolicy] = Policy{
		Land: compact.DefaultLand,
		Warm: compact.DefaultWarm,
		KeepRecent: Keep{
			Share:     compact.DefaultKeepShare,
			Tokens:    compact.DefaultKeepTokens,
			Exchanges: compact.DefaultKeepExchanges,
		},
		Repair:     "answer",
		OnOverflow: "forward",
		Placement:  string(compact.PlaceAuto),
	}
	return all
}

// policies reads the policies of a file into those that are built in. A policy
// is read over a copy of what it extends, so bases are read first, whatever
// their order in the file.
func (r *reading) policies(n *yaml.Node, path string, into *map[string]Policy) {
	rows := map[string]pair{}
	var names []string
	for _, p := range r.pairs(n, path) {
		r.src.show(p.key)
		at := join(path, p.key.Value)
		r.config.places[at] = place{src: r.src, key: p.key, node: p.value}
		if !policyName.MatchString(p.key.Value) {
			r.report(p.key, codeName, "a policy cannot be called "+quoted(p.key.Value), "letters, digits, - and _, at most 64")
			continue
		}
		rows[p.key.Value] = p
		names = append(names, p.key.Value)
	}
	resolved, pending := maps.Clone(*into), map[string]bool{}
	var resolve func(name string)
	resolve = func(name string) {
		row, ok := rows[name]
		if !ok {
			return
		}
		delete(rows, name)
		pending[name] = true
		at := join(path, name)
		base := DefaultPolicy
		_, builtin := (*into)[name]
		if builtin {
			base = name
		}
		if e, named := r.extends(row.value); e != nil {
			switch {
			case builtin:
				r.report(e, codePolicy, at+" is built in and extends nothing", "give the policy another name")
			case pending[named]:
				r.report(e, codePolicy, at+" extends itself"+through(named, name), "")
			default:
				base = named
			}
		}
		resolve(base) // does nothing when it is read already
		p, ok := resolved[base]
		if !ok {
			p = resolved[DefaultPolicy]
		}
		r.value(row.value, at, reflect.ValueOf(&p).Elem())
		resolved[name] = p
		delete(pending, name)
	}
	for _, name := range names {
		resolve(name)
	}
	*into = resolved
}

var policyName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`)

// through names the policy by which another one extends itself.
func through(base, name string) string {
	if base == name {
		return ""
	}
	return " through " + base
}

// extends looks ahead for the base that a policy names; nil: none. Problems of
// the node are reported when the policy is read.
func (r *reading) extends(n *yaml.Node) (*yaml.Node, string) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind != yaml.MappingNode {
		return nil, ""
	}
	silent := &reading{src: &source{}, config: r.config, left: r.left}
	for _, p := range silent.pairs(n, "") {
		if p.key.Value != "extends" || p.value.Kind != yaml.ScalarNode {
			continue
		}
		text := p.value.Value
		if r.lookup != nil {
			text, _, _ = expand(text, r.lookup)
		}
		return p.value, text
	}
	return nil, ""
}

// Algorithm returns the named policy that p is a form of; "" for adaptive.
func (p Policy) Algorithm() string { return p.algorithm }
