package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"

	yaml "go.yaml.in/yaml/v4"

	"laconic/compact"
	"laconic/compact/policy"
	"laconic/compact/stage"
)

// PolicyConfig is how conversations are compacted. In a Config it is resolved:
// what the file leaves out comes from the policy it extends.
type PolicyConfig struct {
	Extends    string     `json:"extends,omitempty"`
	Options    OptionMap  `json:"options,omitempty"`
	Trigger    Trigger    `json:"trigger,omitempty" check:"above=0,max=1"` // 0: auto
	Land       float64    `json:"land,omitempty" check:"above=0,below=1"`
	Warm       float64    `json:"warm,omitempty" check:"above=0,below=1"`
	KeepRecent KeepConfig `json:"keep_recent,omitzero"`
	Repair     string     `json:"repair,omitempty" check:"oneof=answer|drop"`
	OnOverflow string     `json:"on_overflow,omitempty" check:"oneof=forward|reject"`
	Placement  string     `json:"placement,omitempty" check:"oneof=auto|system"`
	Pin        PinConfig  `json:"pin,omitzero"`
	Ladder     []Rung     `json:"ladder,omitempty"` // nil: the default ladder; empty: only repair

	// algorithm is the named policy that it is a form of; "": adaptive, whose
	// settings are those above. Of the others only extends, options, repair,
	// on_overflow and pin can be set.
	algorithm string
}

// OptionMap is the options of a named policy, a JSON object; nil: its defaults.
type OptionMap json.RawMessage

// KeepConfig measures the recent exchanges that stay as they are.
type KeepConfig struct {
	Share     float64 `json:"share,omitempty" check:"above=0,below=1"`
	Tokens    int     `json:"tokens,omitempty" check:"min=1"`
	Exchanges int     `json:"exchanges,omitempty" check:"min=1"`
	Messages  int     `json:"messages,omitempty" check:"min=0"`
}

// PinConfig names messages that may not change.
type PinConfig struct {
	Roles []string `json:"roles,omitempty"`
	Text  []string `json:"text,omitempty"`
	Tools []string `json:"tools,omitempty"`
}

// defaultPolicy is the policy of every model that names none.
const defaultPolicy = "adaptive"

// builtinPolicies are the policies that are there without a file. The file may
// change them.
func builtinPolicies() map[string]PolicyConfig {
	all := map[string]PolicyConfig{}
	for _, name := range policy.Names() {
		all[name] = PolicyConfig{Repair: "answer", OnOverflow: "forward", algorithm: name}
	}
	all[defaultPolicy] = PolicyConfig{
		Land: compact.DefaultLand,
		Warm: compact.DefaultWarm,
		KeepRecent: KeepConfig{
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
func (r *reading) policies(n *yaml.Node, path string, into *map[string]PolicyConfig) {
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
		base := defaultPolicy
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
			p = resolved[defaultPolicy]
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

// policies builds every policy once.
func (c *Config) policies() (map[string]*compact.Policy, error) {
	built := map[string]*compact.Policy{}
	for name, p := range c.Policies {
		p.Options = c.optionsOf(p)
		policy, err := p.build(name)
		if err != nil {
			return nil, err
		}
		built[name] = policy
	}
	return built, nil
}

// optionsOf are the options of a policy that is known from another system: where
// a summarizer is configured, it is asked unless the file says otherwise.
func (c *Config) optionsOf(p PolicyConfig) OptionMap {
	const option = "summarize"
	takes := slices.ContainsFunc(policy.Catalogue, func(n policy.Entry) bool {
		return n.Name == p.algorithm && slices.ContainsFunc(n.Options, func(o stage.Option) bool { return o.Name == option })
	})
	if !takes || c.Summarizer.Model == "" {
		return p.Options
	}
	given := map[string]json.RawMessage{}
	if p.Options != nil && json.Unmarshal(p.Options, &given) != nil || given[option] != nil {
		return p.Options
	}
	given[option] = json.RawMessage("true")
	all, err := json.Marshal(given)
	if err != nil {
		return p.Options // unreachable: it was read a moment ago
	}
	return all
}

// build makes the policy that the fold works by.
func (p PolicyConfig) build(name string) (*compact.Policy, error) {
	built := &compact.Policy{
		Trigger: float64(p.Trigger),
		Land:    p.Land,
		Warm:    p.Warm,
		KeepRecent: compact.KeepRecent{
			Share:     p.KeepRecent.Share,
			Tokens:    p.KeepRecent.Tokens,
			Exchanges: p.KeepRecent.Exchanges,
			Messages:  p.KeepRecent.Messages,
		},
		Placement: compact.Placement(p.Placement),
		Ladder:    stage.Default(),
	}
	if p.algorithm != "" {
		var err error
		if built, err = policy.New(p.algorithm, p.Options); err != nil {
			return nil, fmt.Errorf("policies.%s.options: %w", name, err)
		}
	}
	built.Name = name
	built.Repair = compact.RepairMode(p.Repair)
	built.Reject = p.OnOverflow == "reject"
	built.Pins = compact.Pins{Tools: compact.Names(p.Pin.Tools...)}
	for _, role := range p.Pin.Roles {
		r, ok := compact.RoleNamed(role)
		if !ok {
			return nil, fmt.Errorf("policies.%s.pin.roles: there is no role %q", name, role)
		}
		built.Pins.Roles = append(built.Pins.Roles, r)
	}
	for _, text := range p.Pin.Text {
		re, err := regexp.Compile(text)
		if err != nil {
			return nil, fmt.Errorf("policies.%s.pin.text: %s", name, regexpFault(err))
		}
		built.Pins.Text = append(built.Pins.Text, re)
	}
	if p.Ladder != nil {
		built.Ladder = []compact.Stage{}
		for _, rung := range p.Ladder {
			s, err := stage.New(rung.Name, rung.Options)
			if err != nil {
				return nil, fmt.Errorf("policies.%s.ladder: %w", name, err)
			}
			built.Ladder = append(built.Ladder, s)
		}
	}
	return built, nil
}
