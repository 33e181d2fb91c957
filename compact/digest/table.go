package digest

import (
	"slices"
	"strings"
)

// A table is JSON of objects with the same keys: the names of their values, and below them
// the values of each in the order of the names.
type table struct {
	name string // under which it stands
	text string // as the result has it, with the names first
	rows int
}

// An object may be a row if it is shorter than longObject.
const longObject = 1500

// isTable reports whether a value is a list of objects with the same keys, and no long texts.
func (v *value) isTable() bool {
	return v.kind == '[' && len(v.list) > 1 && len(v.list[0].keys) > 1 && !v.list[0].wraps() && !slices.ContainsFunc(v.list, func(m value) bool {
		return m.kind != '{' || !slices.Equal(m.keys, v.list[0].keys) || len(m.text) > longObject || strings.Contains(m.text, `\n`)
	})
}

// tableOf returns the table of objects with the same keys.
func tableOf(name string, list []value) table {
	var names []string
	for _, key := range list[0].keys {
		names = append(names, within(key))
	}
	var b strings.Builder
	b.WriteString(joined(name, ": ", "("+strings.Join(names, ", ")+")\n"))
	for i := range list {
		row := value{keys: make([]string, len(names)), list: list[i].list}
		b.WriteString(row.short() + "\n")
	}
	return table{name: name, text: b.String(), rows: len(list)}
}

// columnKeys are the members under which databases answer with the names of columns, and
// rowKeys those with their rows.
var (
	columnKeys = setOf("columns columnnames")
	rowKeys    = setOf("rows data values")
)

// tabular makes the rows of an object of names of columns and of rows of values objects. It
// leaves another value as it is.
func (v *value) tabular() {
	under := func(keys map[string]bool) int {
		return slices.IndexFunc(v.keys, func(k string) bool { return keys[plainKey(k)] })
	}
	at, of := under(columnKeys), under(rowKeys)
	if at < 0 || of < 0 {
		return
	}
	var names []string
	for i := range v.list[at].list {
		names = append(names, v.list[at].list[i].short())
	}
	rows := v.list[of].list
	if len(rows) == 0 || slices.ContainsFunc(rows, func(row value) bool { return row.kind != '[' || len(row.list) != len(names) }) {
		return
	}
	for i := range rows {
		rows[i].kind, rows[i].keys = '{', names
	}
	v.keys, v.list = slices.Delete(v.keys, at, at+1), slices.Delete(v.list, at, at+1)
}

// cell returns a value as it stands in a row.
func (v *value) cell() string {
	switch {
	case v.kind == '"':
		return within(strings.Join(strings.Fields(v.text), " "))
	case v.list == nil:
		return v.text
	}
	return "[" + v.short() + "]"
}

// within returns a value as it stands between others: in quotes where it is empty or has
// what stands between values.
func within(s string) string {
	if s == "" || strings.ContainsAny(s[:1], `["`) || containsAny(s+" ", []string{", ", "; "}) {
		return `"` + s + `"`
	}
	return s
}
