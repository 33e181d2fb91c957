package config

import (
	_ "embed"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Schema is the JSON schema of the configuration file: which keys there are,
// their types, ranges, names and defaults. The reader knows no others.
//
//go:embed schema.json
var Schema []byte

// schema is as much of JSON Schema as schema.json uses.
type schema struct {
	Type       any                `json:"type"`   // a word, or a list of them: see is
	Format     string             `json:"format"` // size, duration, window, trigger, stage, options: see units.go
	Properties map[string]*schema `json:"properties"`
	Additional *schema            `json:"additionalProperties"` // nil: no other keys
	Items      *schema            `json:"items"`
	Enum       []string           `json:"enum"`
	AnyOf      []*schema          `json:"anyOf"` // names, or a variable that holds one

	Minimum *float64 `json:"minimum"` // of a size in bytes, of a duration in nanoseconds
	Maximum *float64 `json:"maximum"`
	Above   *float64 `json:"exclusiveMinimum"`
	Below   *float64 `json:"exclusiveMaximum"`
}

// is reports whether a value has a type when its variables are expanded. That is the
// first of a list of types.
func (s *schema) is(name string) bool {
	if all, ok := s.Type.([]any); ok {
		return all[0] == name
	}
	return s.Type == name
}

// root is the schema of the whole file. Where it has false for other keys there is null: no
// schema, as no value fits.
var root = func() *schema {
	s := new(schema)
	text := strings.ReplaceAll(string(Schema), `"additionalProperties": false`, `"additionalProperties": null`)
	if err := json.Unmarshal([]byte(text), s); err != nil {
		panic("BUG: schema.json: " + err.Error())
	}
	return s
}()

// schemaAt returns the schema of a path such as log.level.
func schemaAt(path string) *schema {
	s := root
	for key := range strings.SplitSeq(path, ".") {
		s = s.Properties[key]
	}
	return s
}

// keys returns the keys of a map, sorted.
func (s *schema) keys() []string { return slices.Sorted(maps.Keys(s.Properties)) }

// inRange reports whether a number is in the range of s.
func (s *schema) inRange(n float64) bool {
	return (s.Minimum == nil || n >= *s.Minimum) && (s.Maximum == nil || n <= *s.Maximum) &&
		(s.Above == nil || n > *s.Above) && (s.Below == nil || n < *s.Below)
}

// rangeWords returns the range of s in words: "above 0 and at most 1".
func (s *schema) rangeWords() string {
	var parts []string
	for _, b := range []struct {
		word  string
		bound *float64
	}{{"at least", s.Minimum}, {"above", s.Above}, {"at most", s.Maximum}, {"below", s.Below}} {
		if b.bound == nil {
			continue
		}
		n := strconv.FormatFloat(*b.bound, 'f', -1, 64)
		if s.Format == "size" {
			n = Size(*b.bound).String()
		}
		parts = append(parts, b.word+" "+n)
	}
	return strings.Join(parts, " and ")
}
