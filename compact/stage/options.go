package stage

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"laconic/compact"
)

// Option is one option of a named policy: a number, a word, or true or false.
type Option struct {
	Name    string `json:"name"`
	Summary string `json:"summary"`
	Unit    string `json:"unit,omitempty"`
	// Range says in words what a value may be; "" for true and false.
	Range   string `json:"range,omitempty"`
	Default any    `json:"default"`
}

// OptionError says what is wrong with one option.
type OptionError struct {
	Owner  string // the policy or the stage
	Option string // "" where the options are no object
	// Problem is a sentence about the option. It repeats no value.
	Problem string
	// Unknown: the owner has no such option, but those of Known.
	Unknown bool
	Known   []string
}

// Error names owner and option.
func (e *OptionError) Error() string { return e.Owner + ": " + e.Problem }

// OptionErrors is everything that is wrong with the options of one owner.
type OptionErrors []*OptionError

// Error says all of it.
func (all OptionErrors) Error() string {
	var said []string
	for _, e := range all {
		said = append(said, e.Error())
	}
	return strings.Join(said, "; ")
}

// Unwrap gives the faults one by one.
func (all OptionErrors) Unwrap() []error {
	errs := make([]error, len(all))
	for i, e := range all {
		errs[i] = e
	}
	return errs
}

// The options of a stage or a policy are the fields of a struct. Its tags say
// what an option is called, what it may be, and what it means:
//
//	Keep int `json:"keep" check:"min=1" unit:"messages" says:"the last messages stay"`

// ReadOptions reads a JSON object into the struct o points to, whose fields hold
// the defaults. The error is OptionErrors: everything that is wrong.
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
	fields, known := fieldsOf(o)
	var all OptionErrors
	for _, name := range slices.Sorted(maps.Keys(given)) {
		f, ok := fields[name]
		if !ok {
			problem := "there is no option " + name
			if len(known) > 0 {
				problem += " (there are " + strings.Join(known, ", ") + ")"
			}
			all = append(all, &OptionError{Owner: owner, Option: name, Problem: problem, Unknown: true, Known: known})
			continue
		}
		if problem := f.read(given[name]); problem != "" {
			all = append(all, &OptionError{Owner: owner, Option: name, Problem: problem})
		}
	}
	if len(all) > 0 {
		return all
	}
	return nil
}

// options reads the options of a stage.
func options[S compact.Stage](s S, raw []byte) (compact.Stage, error) {
	if err := ReadOptions(s.Name(), s, raw); err != nil {
		return nil, err
	}
	return s, nil
}

// OptionsOf are the options whose defaults a struct holds.
func OptionsOf[O any](defaults O) []Option {
	all := []Option{}
	fields, names := fieldsOf(&defaults)
	for _, name := range names {
		f := fields[name]
		all = append(all, Option{
			Name: name, Summary: f.tag.Get("says"), Unit: f.tag.Get("unit"), Range: f.words(), Default: f.value.Interface(),
		})
	}
	return all
}

// optionField is a field of a struct of options.
type optionField struct {
	name  string
	tag   reflect.StructTag
	value reflect.Value
}

// fieldsOf gives the options of the struct that o points to, and their names in
// order.
func fieldsOf(o any) (fields map[string]optionField, names []string) {
	v := reflect.ValueOf(o).Elem()
	fields = map[string]optionField{}
	for i := range v.NumField() {
		tag := v.Type().Field(i).Tag
		if name := tag.Get("json"); name != "" {
			fields[name] = optionField{name, tag, v.Field(i)}
			names = append(names, name)
		}
	}
	return fields, names
}

// read sets the field, and says what is wrong with the value.
func (f optionField) read(raw json.RawMessage) string {
	if err := json.Unmarshal(raw, f.value.Addr().Interface()); err != nil {
		if te, ok := err.(*json.UnmarshalTypeError); ok {
			return "option " + f.name + " cannot be a " + te.Value
		}
		return "option " + f.name + " is not JSON"
	}
	if !f.holds() {
		return f.name + " must be " + f.words()
	}
	return ""
}

// holds reports whether the value is in its range.
func (f optionField) holds() bool {
	var n float64
	switch f.value.Kind() {
	case reflect.String:
		return slices.Contains(strings.Split(f.bound("oneof"), "|"), f.value.String())
	case reflect.Int:
		n = float64(f.value.Int())
	case reflect.Float64:
		n = f.value.Float()
	default:
		return true
	}
	within := func(name string, holds func(bound float64) bool) bool {
		text := f.bound(name)
		if text == "" {
			return true
		}
		bound, err := strconv.ParseFloat(text, 64)
		if err != nil {
			panic("BUG: the bound " + name + " of the option " + f.name + " is no number")
		}
		return holds(bound)
	}
	return within("min", func(b float64) bool { return n >= b }) && within("max", func(b float64) bool { return n <= b }) &&
		within("above", func(b float64) bool { return n > b })
}

// bound is one part of the tag check.
func (f optionField) bound(name string) string {
	for part := range strings.SplitSeq(f.tag.Get("check"), ",") {
		if key, value, _ := strings.Cut(part, "="); key == name {
			return value
		}
	}
	return ""
}

// words says the range.
func (f optionField) words() string {
	least, most, above := f.bound("min"), f.bound("max"), f.bound("above")
	switch {
	case f.value.Kind() == reflect.String:
		return strings.ReplaceAll(f.bound("oneof"), "|", " or ")
	case least != "" && most != "":
		return fmt.Sprintf("between %s and %s", least, most)
	case above != "" && most != "":
		return fmt.Sprintf("above %s and at most %s", above, most)
	case least != "":
		return "at least " + least
	}
	return ""
}
