package stage

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Option describes one option of a named policy: a number or a bool.
type Option struct {
	Name    string `json:"name"`
	Summary string `json:"summary"`
	Unit    string `json:"unit,omitempty"`
	// Range says in words which values are accepted; "" for a bool.
	Range   string `json:"range,omitempty"`
	Default any    `json:"default"`
}

// OptionError is what is wrong with one option.
type OptionError struct {
	Owner  string // the policy or the stage
	Option string // "" if the options are not an object
	// Problem is a sentence about the option. It repeats no value.
	Problem string
	// Unknown reports that the owner has only the options in Known.
	Unknown bool
	Known   []string
}

// OptionErrors is everything that is wrong with the options of one owner.
type OptionErrors []*OptionError

// Error names the owner and what is wrong with each option.
func (all OptionErrors) Error() string {
	said := make([]string, len(all))
	for i, e := range all {
		said[i] = e.Owner + ": " + e.Problem
	}
	return strings.Join(said, "; ")
}

// ReadOptions reads a JSON object into the struct that o points to, whose fields
// hold the defaults. The error is an OptionErrors with everything that is wrong.
//
// Tags of the fields say how an option is called, which values it takes, and
// what it means:
//
//	Keep int `json:"keep" min:"1" unit:"messages" says:"the last messages stay"`
func ReadOptions(owner string, o any, raw []byte) error {
	if raw = bytes.TrimSpace(raw); len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	var given map[string]json.RawMessage
	if err := json.Unmarshal(raw, &given); err != nil {
		problem := "options are not JSON"
		if te, ok := err.(*json.UnmarshalTypeError); ok {
			problem = "options are written as {name: value}, not as a " + te.Value
		}
		return OptionErrors{{Owner: owner, Problem: problem}}
	}
	fields := fieldsOf(o)
	var known []string
	for _, f := range fields {
		known = append(known, f.name)
	}
	var all OptionErrors
	for _, name := range slices.Sorted(maps.Keys(given)) {
		e := &OptionError{Owner: owner, Option: name}
		if i := slices.Index(known, name); i >= 0 {
			e.Problem = fields[i].read(given[name])
		} else {
			e.Unknown, e.Known = true, known
			e.Problem = "there is no option " + name
			if len(known) > 0 {
				e.Problem += " (there are " + strings.Join(known, ", ") + ")"
			}
		}
		if e.Problem != "" {
			all = append(all, e)
		}
	}
	if len(all) > 0 {
		return all
	}
	return nil
}

// OptionsOf describes the options of a struct that holds their defaults.
func OptionsOf[O any](defaults O) []Option {
	all := []Option{}
	for _, f := range fieldsOf(&defaults) {
		all = append(all, Option{
			Name: f.name, Summary: f.tag.Get("says"), Unit: f.tag.Get("unit"), Range: f.accepts(), Default: f.value.Interface(),
		})
	}
	return all
}

// optionField is one field of a struct of options.
type optionField struct {
	name  string
	tag   reflect.StructTag
	value reflect.Value
}

// fieldsOf returns the options of the struct that o points to.
func fieldsOf(o any) (fields []optionField) {
	v := reflect.ValueOf(o).Elem()
	for i := range v.NumField() {
		tag := v.Type().Field(i).Tag
		if name := tag.Get("json"); name != "" {
			fields = append(fields, optionField{name, tag, v.Field(i)})
		}
	}
	return fields
}

// read sets the field and returns what is wrong with the value, or "".
func (f optionField) read(raw json.RawMessage) (problem string) {
	if te, ok := errors.AsType[*json.UnmarshalTypeError](json.Unmarshal(raw, f.value.Addr().Interface())); ok {
		return "option " + f.name + " cannot be a " + te.Value
	}
	if f.value.Kind() == reflect.Bool {
		return ""
	}
	if n := f.value.Convert(reflect.TypeFor[float64]()).Float(); n < f.bound("min", n) || n > f.bound("max", n) {
		return f.name + " must be " + f.accepts()
	}
	return ""
}

// bound returns a bound of the range, or none if there is none.
func (f optionField) bound(name string, none float64) float64 {
	n, err := strconv.ParseFloat(f.tag.Get(name), 64)
	if err != nil {
		return none
	}
	return n
}

// accepts returns the range in words.
func (f optionField) accepts() string {
	least, most := f.tag.Get("min"), f.tag.Get("max")
	switch {
	case least != "" && most != "":
		return "between " + least + " and " + most
	case least != "":
		return "at least " + least
	}
	return ""
}
