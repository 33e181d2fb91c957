package config

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"

	yaml "go.yaml.in/yaml/v4"

	"laconic/compact/stage"
	"laconic/store"
)

// Shown returns the settings that a valid configuration comes to, as YAML: without
// secrets, and of the policies those that the file or a row of models names.
func (c *Config) Shown() string {
	s := *c
	s.Upstream, s.Summarizer.Upstream = ShownURL(s.Upstream), ShownURL(s.Summarizer.Upstream)
	if s.Store.URL != "" {
		s.Store.URL = store.ShownURL(s.Store.URL)
	}
	overrides, drain := c.OverridesOn(), c.DrainTime()
	s.Overrides, s.Limits.Drain, s.Store.Username = &overrides, &drain, ""
	s.Models, s.Policies = slices.Clone(c.Models), maps.Clone(c.Policies)
	used := map[string]bool{DefaultPolicy: true}
	for i := range s.Models {
		m := &s.Models[i]
		m.Upstream = ShownURL(m.Upstream)
		used[m.Policy] = true
	}
	for name, p := range s.Policies {
		if !used[name] && !c.Has("policies."+name) {
			delete(s.Policies, name)
			continue
		}
		if p.Ladder == nil && p.algorithm == "" {
			for _, stage := range stage.Default() {
				p.Ladder = append(p.Ladder, Rung{Name: stage.Name()})
			}
		}
		p.Pin.Text = slices.Repeat([]string{"***"}, len(p.Pin.Text)) // which may be private
		s.Policies[name] = p
	}
	var doc yaml.Node
	raw, err := json.Marshal(&s)
	err = errors.Join(err, yaml.Unmarshal(raw, &doc))
	unstyled(&doc)
	text, failed := yaml.Dump(&doc, yaml.WithLineWidth(-1))
	if err = errors.Join(err, failed); err != nil {
		panic("BUG: a configuration is no YAML: " + err.Error())
	}
	return string(text)
}

// unstyled takes the style of JSON from a node, but for lists of words.
func unstyled(n *yaml.Node) {
	n.Style = 0
	if n.Kind == yaml.SequenceNode && !slices.ContainsFunc(n.Content, func(item *yaml.Node) bool { return item.Kind != yaml.ScalarNode }) {
		n.Style = yaml.FlowStyle
	}
	for _, inner := range n.Content {
		unstyled(inner)
	}
}
