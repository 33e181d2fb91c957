package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"laconic/tokenize"
)

// check runs every check. A value that could not be read is not judged again.
func (c *Config) check() []finding {
	ch := &checking{Config: c}
	ch.limits()
	ch.addresses()
	ch.tls()
	ch.rows()
	for _, name := range slices.Sorted(maps.Keys(c.Policies)) {
		ch.policy(name, c.Policies[name])
	}
	ch.keys()
	ch.summaries()
	return ch.found
}

// checking collects what is wrong with the values of a configuration.
type checking struct {
	*Config
	found []finding
}

// at notes a problem with the value of a path; where nothing was written there,
// at what holds it.
func (ch *checking) at(path, code, message, hint string) {
	p := ch.placeOf(path)
	if p.src == nil {
		ch.found = append(ch.found, finding{Problem: Problem{File: ch.file, Code: code, Message: message, Hint: hint}})
		return
	}
	f := findingAt(p.src, p.node, code, message, hint)
	f.hide = secretPath(path)
	ch.found = append(ch.found, f)
}

// atKey notes a problem with the key of a path itself.
func (ch *checking) atKey(path, code, message, hint string) {
	p := ch.placeOf(path)
	if p.src == nil || p.key == nil {
		ch.at(path, code, message, hint)
		return
	}
	ch.found = append(ch.found, findingAt(p.src, p.key, code, message, hint))
}

func (c *Config) placeOf(path string) place {
	for {
		if p, ok := c.places[path]; ok && p.node != nil || path == "" {
			return p
		}
		path = path[:max(0, strings.LastIndexAny(path, ".["))]
	}
}

// given reports whether a value is there to be judged: the file has it and it
// could be read. In a configuration without a file every value is.
func (c *Config) given(path string) bool {
	p, ok := c.places[path]
	return c.places == nil || ok && !p.broken
}

// Has reports whether the file has a key at all, readable or not.
func (c *Config) Has(path string) bool {
	_, ok := c.places[path]
	return ok
}

// FromEnvironment reports whether a value, or an option of a rung, came from the
// environment.
func (c *Config) FromEnvironment(path string) bool { return c.places[path].expanded }

// said is a value as a sentence may repeat it: what came from the environment
// as the variable that held it.
func (c *Config) said(path, value string) string {
	if p := c.places[path]; p.expanded {
		value = p.node.Value
	}
	return quoted(value)
}

// name reports whether a value is one of the known names, and says so if not.
func (ch *checking) name(path, kind, value string, known []string) bool {
	if slices.Contains(known, value) || !ch.given(path) {
		return true
	}
	of := "of " + strings.Join(known, ", ")
	if ch.FromEnvironment(path) {
		ch.at(path, codeName, "there is no "+kind+" "+ch.said(path, value), "it is one "+of)
	} else {
		ch.at(path, codeName, "there is no "+kind+" "+quoted(value), DidYouMean(value, known))
	}
	return false
}

// limits judges what limits say about each other.
func (ch *checking) limits() {
	body, memory := "limits.body", "limits.memory"
	if ch.Limits.Memory >= 1024 && ch.Limits.Body > ch.Limits.Memory && (ch.given(body) || ch.given(memory)) && !ch.broken(body) && !ch.broken(memory) {
		at := body
		if !ch.given(at) {
			at = memory
		}
		hint := fmt.Sprintf("they are %s and %s", ch.Limits.Body, ch.Limits.Memory)
		if ch.FromEnvironment(body) || ch.FromEnvironment(memory) {
			hint = ""
		}
		ch.at(at, codeRange, "limits.body is larger than limits.memory, so the largest request could never be taken", hint)
	}
}

// mostRows bounds what a name of a model is compared with.
const mostRows = 2000

// rows judges the rows of models, alone and in their order.
func (ch *checking) rows() {
	policies := slices.Sorted(maps.Keys(ch.Policies))
	if len(ch.Models) > mostRows {
		ch.at("models", codeRange, fmt.Sprintf("models has %d rows", len(ch.Models)), fmt.Sprintf("at most %d; use patterns", mostRows))
		return
	}
	var before []Pattern
	for i, m := range ch.Models {
		path := fmt.Sprintf("models[%d]", i)
		match := path + ".match"
		switch {
		case ch.broken(path) || ch.broken(match):
		case m.Match == "":
			ch.at(match, codeMissing, path+" has no match", `the pattern that says for which models the row holds: "gpt-4o*", "*"`)
		case strings.ContainsAny(m.Match, `?[]{}\`) || strings.ContainsFunc(m.Match, unicode.IsControl):
			ch.at(match, codePattern, match+" holds a character that no model's name has", "only * is special: it stands for any run of characters, / included")
		}
		p := CompilePattern(m.Match)
		if first := slices.IndexFunc(before, func(b Pattern) bool { return m.Match != "" && b.covers(p) }); first >= 0 && ch.given(match) {
			earlier := fmt.Sprintf("models[%d]", first)
			message := path + " can never match: " + earlier + " has the same pattern"
			hint := "the first row that matches is taken; make one row of the two"
			if before[first].text != m.Match {
				message = path + " can never match: " + earlier + ", " + ch.said(earlier+".match", before[first].text) + ", takes all its models"
				hint = "the first row that matches is taken; put the special rows above the general ones"
			}
			ch.at(match, codeRow, message, hint)
		}
		before = append(before, p)
		if m.Policy != "" {
			ch.name(path+".policy", "policy", m.Policy, policies)
		}
		if m.Tokenizer != "" {
			ch.name(path+".tokenizer", "tokenizer", m.Tokenizer, tokenize.Names())
		}
		ch.numbers(path, m)
	}
}

// numbers judges what the numbers of a row say about each other.
func (ch *checking) numbers(path string, m Model) {
	if m.Window <= 0 || !ch.given(path+".window") {
		return
	}
	for _, n := range []struct {
		key   string
		fits  bool
		words string
	}{
		{"input", m.Input <= int(m.Window), "is larger than the window"},
		{"reserve", m.Reserve < int(m.Window), "must be below the window: the prompt needs room, too"},
		{"budget", m.Budget <= int(m.Window), "is larger than the window"},
	} {
		if at := join(path, n.key); !n.fits && ch.given(at) {
			ch.at(at, codeRange, at+" "+n.words, "")
		}
	}
}

// broken reports whether a value of the file could not be read.
func (c *Config) broken(path string) bool { return c.places[path].broken }
