package config

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"laconic/store"
)

// Setting is one value in force.
type Setting struct {
	Path  string
	Value string // "" for one that is not set; a secret is ***
	// From says where the value comes from: a line of the file, with the variable
	// that it names, a flag, or a variable; "" for the default.
	From string
}

// Settings returns the values in force in the order of [Config], without the rows of
// models and the policies.
func (c *Config) Settings() (all []Setting) {
	for _, f := range fields("", reflect.ValueOf(c).Elem(), true) {
		if f.key != "models" && f.key != "policies" {
			all = append(all, c.shown(f)...)
		}
	}
	return all
}

// field is a setting of a configuration.
type field struct {
	key   string
	value reflect.Value
}

// fields returns the settings of a struct in its order, with those of log and limits; of
// other structs only if deep.
func fields(at string, v reflect.Value, deep bool) (all []field) {
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		switch f := v.Field(i); {
		case name == "":
		case f.Kind() == reflect.Struct && (deep || name == "log" || name == "limits"):
			all = append(all, fields(join(at, name), f, deep)...)
		default:
			all = append(all, field{join(at, name), f})
		}
	}
	return all
}

// shown returns a setting as a person reads it; a list with its items.
func (c *Config) shown(f field) (all []Setting) {
	v, value := f.value, ""
	if v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	switch {
	case v.Kind() == reflect.Pointer:
	case v.Kind() == reflect.Slice && v.Len() > 0:
		for i := range v.Len() {
			item := field{f.key + "[" + strconv.Itoa(i) + "]", v.Index(i)}
			if item.value.Kind() != reflect.Struct {
				all = append(all, c.shown(item)...)
				continue
			}
			for _, inner := range fields(item.key, item.value, true) {
				all = append(all, c.shown(inner)...)
			}
		}
		return all
	case v.Kind() == reflect.Slice:
	case strings.HasSuffix(f.key, "upstream") && v.String() != "":
		value = ShownURL(v.String())
	case f.key == "store.url" && v.String() != "":
		value = store.ShownURL(v.String())
	default:
		value = fmt.Sprint(v.Interface())
	}
	return []Setting{{Path: f.key, Value: value, From: c.From(f.key)}}
}

// From returns where the value of a path comes from, as [Setting] says.
func (c *Config) From(path string) string {
	for at := path; at != ""; at = holder(at) {
		p, ok := c.places[at]
		switch {
		case !ok || p.src == nil:
			continue
		case p.src.name != c.file || p.node == nil:
			return p.src.name
		case at != path && !strings.HasSuffix(at, "]"):
			return "" // the file has the map, and not this key
		}
		from := c.file + ":" + strconv.Itoa(max(p.node.Line, 1))
		if p.expanded && at == path {
			from += ", " + strings.Join(variable.FindAllString(p.node.Value, -1), " ")
		}
		return from
	}
	return ""
}
