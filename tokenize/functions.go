package tokenize

import (
	"bytes"
	"encoding/json"
	"strings"
)

// OpenAI shows functions to its models as TypeScript. The cost, in tokens, is known by measurement (OpenAI's cookbook,
// "How to count tokens with tiktoken", section 7): names, types and descriptions, and these constants for each property,
// for an enum and its items, and once after the last function.
//
// The formula does not cover nesting: properties of properties, items of arrays, alternatives. Here each is charged as
// a property of its own. Keywords that the formula does not know, such as default, pattern or $defs, are charged with
// their values. So a flat function costs what the formula says, and a nested one never less.
const (
	firstProperty = 3
	perProperty   = 3
	firstItem     = -3
	perItem       = 3
	lastFunction  = 12
)

// longestTools bounds what is read into memory, in bytes.
const longestTools = 1 << 20

// functions returns the cost of a list of tools or of legacy functions. A text that is not a list,
// or is too long or too deep to be read, is charged twice its count: an item of an enum costs 3 tokens beside its own,
// and as JSON little more than a comma.
func (c *Counter) functions(raw []byte) int {
	var list []any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber() // some numbers are too large for a float64
	if len(raw) <= longestTools && json.Valid(raw) && d.Decode(&list) == nil {
		return lastFunction + c.each(list)
	}
	return 2*c.json(raw) + c.text.framing.function + lastFunction
}

// each returns the cost of some tools together.
func (c *Counter) each(list []any) (cost int) {
	for _, tool := range list {
		if t, ok := tool.(map[string]any); ok {
			cost += c.text.framing.function + c.function(t)
		} else {
			cost += c.text.framing.function + c.loose(tool)
		}
	}
	return cost
}

// function returns the cost of one tool.
func (c *Counter) function(t map[string]any) (cost int) {
	f := t
	for _, kind := range []string{"function", "custom"} {
		if inner, ok := t[kind].(map[string]any); ok {
			f = inner
		}
	}
	name, _ := f["name"].(string)
	description, _ := f["description"].(string)
	cost = c.Text(name + ":" + strings.TrimSuffix(description, "."))
	for key, value := range f {
		switch key {
		case "name", "description", "strict", "type":
		case "tools": // of a namespace
			list, _ := value.([]any)
			cost += c.each(list)
		case "parameters", "input_schema": // Anthropic's name for it
			if schema, ok := value.(map[string]any); ok {
				cost += c.schema(schema, true)
				continue
			}
			cost += c.loose(value)
		default:
			cost += c.Text(key) + c.loose(value)
		}
	}
	return cost
}

// property returns the cost of one property; key is "" for what has no name: items, and alternatives.
func (c *Counter) property(key string, value any) int {
	schema, ok := value.(map[string]any)
	if !ok {
		return perProperty + c.Text(key) + c.loose(value)
	}
	description, _ := schema["description"].(string)
	line := key + ":" + typeOf(schema["type"]) + ":" + strings.TrimSuffix(description, ".")
	return perProperty + c.Text(line) + c.schema(schema, false)
}

// schema returns the cost of what a schema holds beside its type and, unless it is the root, its description.
func (c *Counter) schema(schema map[string]any, root bool) (cost int) {
	for key, value := range schema {
		switch key {
		case "type", "required", "$schema":
		case "description":
			if root {
				cost += c.loose(value)
			}
		case "properties":
			properties, ok := value.(map[string]any)
			if !ok {
				cost += c.loose(value)
			}
			if len(properties) > 0 {
				cost += firstProperty
			}
			for name, p := range properties {
				cost += c.property(name, p)
			}
		case "enum":
			items, ok := value.([]any)
			if !ok {
				cost += c.loose(value)
			}
			if len(items) > 0 {
				cost += firstItem
			}
			for _, item := range items {
				cost += perItem + c.loose(item)
			}
		case "anyOf", "oneOf", "allOf", "items", "prefixItems", "additionalProperties", "not":
			cost += c.nested(value)
		default:
			cost += c.Text(key) + c.loose(value)
		}
	}
	return cost
}

// nested returns the cost of a schema inside another that has no name, or of a list of them: before 2020 the items of a
// tuple were one. true and false cost nothing.
func (c *Counter) nested(value any) (cost int) {
	switch v := value.(type) {
	case map[string]any:
		return c.property("", v)
	case []any:
		for _, one := range v {
			cost += c.property("", one)
		}
	}
	return cost
}

// typeOf writes a type, or several, as TypeScript does.
func typeOf(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case []any:
		names := make([]string, 0, len(v))
		for _, one := range v {
			name, _ := one.(string)
			names = append(names, name)
		}
		return strings.Join(names, " | ")
	}
	return ""
}

// loose returns the cost of a value of unknown meaning: its strings and numbers, and two tokens for the punctuation
// around each.
func (c *Counter) loose(value any) (cost int) {
	switch v := value.(type) {
	case string:
		return c.Text(v)
	case []any:
		for _, one := range v {
			cost += 2 + c.loose(one)
		}
	case map[string]any:
		for key, one := range v {
			cost += 2 + c.Text(key) + c.loose(one)
		}
	case json.Number:
		return c.Text(string(v))
	case bool, nil:
		return 1
	}
	return cost
}
