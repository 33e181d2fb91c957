package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"laconic/proxy/access"
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

// Settings returns the values in force in the order of [Config]. Of rows and
// policies only what is set is listed, and of the policies those that the file has
// or a row uses.
func (c *Config) Settings() (all []Setting) {
	w := settingsOf{c: c, all: &all}
	w.fields("", reflect.ValueOf(c).Elem(), false)
	return all
}

// settingsOf lists the settings of a configuration.
type settingsOf struct {
	c   *Config
	all *[]Setting
}

// fields lists the fields of a struct. sparse: only those that are set.
func (w settingsOf) fields(at string, v reflect.Value, sparse bool) {
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		if name == "" {
			continue
		}
		path := join(at, name)
		if f := v.Field(i); !sparse || !f.IsZero() || w.c.Has(path) {
			w.value(path, f, sparse)
		}
	}
}

func (w settingsOf) value(path string, v reflect.Value, sparse bool) {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			w.add(path, "")
			return
		}
		v = v.Elem()
	}
	switch x := v.Interface().(type) {
	case access.Secret:
		w.add(path, x.String())
		return
	case fmt.Stringer:
		w.add(path, x.String())
		return
	case json.RawMessage:
		w.add(path, string(x))
		return
	case []Rung:
		w.list(path, v)
		return
	case map[string]Policy:
		for _, name := range slices.Sorted(maps.Keys(x)) {
			if w.c.Has("policies."+name) || w.c.usesPolicy(name) {
				w.fields("policies."+name, reflect.ValueOf(x[name]), true)
			}
		}
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		w.fields(path, v, sparse)
	case reflect.Slice:
		w.list(path, v)
	case reflect.String:
		text := v.String()
		switch name := path[strings.LastIndexByte(path, '.')+1:]; {
		case text == "":
		case name == "upstream":
			text = ShownURL(text)
		case name == "url":
			text = store.ShownURL(text)
		}
		w.add(path, text)
	default:
		w.add(path, fmt.Sprint(v.Interface()))
	}
}

// list lists the items of a list; one of structs by its fields.
func (w settingsOf) list(path string, v reflect.Value) {
	if v.Len() == 0 {
		w.add(path, "")
		return
	}
	for i := range v.Len() {
		at, item := path+"["+strconv.Itoa(i)+"]", v.Index(i)
		if r, ok := item.Interface().(Rung); ok {
			w.add(at, strings.TrimSpace(r.Name+" "+string(r.Options)))
		} else if item.Kind() == reflect.Struct {
			w.fields(at, item, true)
		} else {
			w.value(at, item, true)
		}
	}
}

func (w settingsOf) add(path, value string) {
	*w.all = append(*w.all, Setting{Path: path, Value: value, From: w.c.from(path)})
}

// from returns where a value comes from.
func (c *Config) from(path string) string {
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

// usesPolicy reports whether a row uses a policy.
func (c *Config) usesPolicy(name string) bool {
	used := name == DefaultPolicy && !slices.ContainsFunc(c.Models, Model.Everything)
	return used || slices.ContainsFunc(c.Models, func(m Model) bool { return m.Policy == name || m.Policy == "" && name == DefaultPolicy })
}
