package config

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"slices"
	"strings"

	yaml "go.yaml.in/yaml/v4"
)

// Parse makes a Config of the bytes of a file and what overrides it, and checks
// it. Errors call the file by name; lookup finds the variables of the environment.
func Parse(name string, src []byte, lookup func(string) (string, bool), over ...Override) (*Config, error) {
	c := Default()
	c.File, c.Sum, c.places, c.variables = name, sha256.Sum256(src), map[string]place{}, map[*yaml.Node]string{}
	src = bytes.TrimPrefix(src, []byte("\uFEFF"))
	doc, fault := parseYAML(name, src)
	if fault != nil {
		c.places[""] = place{broken: true}
		return c, problems([]Problem{*fault})
	}
	r := &reading{from: name, config: c}
	r.expandAll(doc, lookup)
	values, _ := r.value(nil, doc, "", root).(map[string]any)
	policies, _ := values["policies"].(map[string]any)
	delete(values, "policies")
	decode(values, c)
	for _, o := range over {
		r.override(o)
	}
	c.policies(policies)
	c.Summarizer.resolve(c)
	base, _ := lookup(clientsBase)
	c.unreadBase = base != "" && !c.leadsRight(base)
	if c.Admin == "off" {
		c.Admin = ""
	}
	return c, problems(append(r.found, c.check()...))
}

// override reads one value over the file's. Objects that hold it keep their places in
// the file.
func (r *reading) override(o Override) {
	n := &yaml.Node{Kind: yaml.ScalarNode, Value: o.Value} // no tag: of whatever type is wanted
	one := &reading{from: o.From, config: r.config}
	v := one.value(nil, n, o.Key, schemaAt(o.Key))
	if r.found = append(r.found, one.found...); v == (absent{}) {
		return
	}
	for _, key := range slices.Backward(strings.Split(o.Key, ".")) {
		v = map[string]any{key: v}
	}
	decode(v, r.config)
}

// decode puts values that fit the schema into a struct of the configuration.
func decode(values, into any) {
	raw, err := json.Marshal(values)
	if err == nil {
		err = json.Unmarshal(raw, into)
	}
	if err != nil {
		panic("BUG: the schema takes what the configuration does not: " + err.Error())
	}
}

// policies puts each policy of the file over the built-in one of its name, or over
// adaptive as the file has it.
func (c *Config) policies(rows map[string]any) {
	for name, row := range rows {
		builtin := builtinPolicies() // so that no two share a list
		p, ok := builtin[name]
		if !ok {
			p = builtin[DefaultPolicy]
			p.replace(rows[DefaultPolicy])
		}
		p.replace(row)
		c.Policies[name] = p
	}
}

// replace puts the settings of a row over those of p.
func (p *Policy) replace(row any) {
	if of, _ := row.(map[string]any); of["ladder"] != nil { // else a rung would keep the options of another
		p.Ladder = nil
	}
	decode(row, p)
}
