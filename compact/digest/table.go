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
	head int32 // the piece with the names; -1: none
}

// An object may be a row if it is shorter than longObject. Rows are told whole up to
// longRow.
const (
	longObject = 1500
	longRow    = 1600
)

// isTable reports whether values are objects with the same keys, and no long texts.
func isTable(list []value) bool {
	keys := list[0].keys
	return len(keys) > 1 && !list[0].wraps() && !slices.ContainsFunc(list, func(v value) bool {
		return v.kind != '{' || !slices.Equal(v.keys, keys) || len(v.text) > longObject || strings.Contains(v.text, `\n`)
	})
}

// tableOf returns the table of objects with the same keys.
func tableOf(name string, list []value) table {
	var names []string
	for _, key := range list[0].keys {
		names = append(names, within(key))
	}
	text := joined(name, ": ", "("+strings.Join(names, ", ")+")\n")
	for i := range list {
		var cells []string
		for k := range list[i].list {
			cells = append(cells, list[i].list[k].cell())
		}
		text += strings.Join(cells, ", ") + "\n"
	}
	return table{name: name, text: text, rows: len(list), head: -1}
}

// columnKeys are the members under which databases answer with the names of columns, and
// rowKeys those with their rows.
var (
	columnKeys = setOf("columns columnnames")
	rowKeys    = setOf("rows data values")
)

// tabular returns an object of names of columns and of rows of values as one whose rows are
// objects, and another value as it is.
func (v *value) tabular() *value {
	names, rows := -1, -1
	for i := range v.list {
		switch m, key := &v.list[i], plainKey(v.keys[i]); {
		case v.kind != '{' || m.kind != '[' || len(m.list) == 0:
		case columnKeys[key]:
			names = i
		case rowKeys[key]:
			rows = i
		}
	}
	if names < 0 || rows < 0 || slices.ContainsFunc(v.list[rows].list, func(row value) bool { return row.kind != '[' || len(row.list) != len(v.list[names].list) }) {
		return v
	}
	var columns []string
	for i := range v.list[names].list {
		c := &v.list[names].list[i]
		if c.list != nil {
			return v
		}
		columns = append(columns, c.text)
	}
	whole := value{kind: '{', text: v.text, keys: slices.Clone(v.keys), list: slices.Clone(v.list)}
	objects := value{kind: '[', text: v.list[rows].text}
	for _, row := range v.list[rows].list {
		row.kind, row.keys = '{', columns
		objects.keys, objects.list = append(objects.keys, ""), append(objects.list, row)
	}
	whole.list[rows] = objects
	whole.keys, whole.list = slices.Delete(whole.keys, names, names+1), slices.Delete(whole.list, names, names+1)
	return &whole
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

// read returns the result of an event with an empty line behind each table, and notes the
// lines that are headings.
func (p *part) read(e *event) string {
	text := e.result.text + "\n"
	var b strings.Builder
	for _, t := range e.result.tables {
		heading, _, _ := strings.Cut(t.text, "\n")
		p.heads[e.tool+"\n"+heading] = &t
		if i := strings.Index(text, t.text); i >= 0 { // it may not be as it was
			b.WriteString(text[:i] + t.text + "\n")
			text = text[i+len(t.text):]
		}
	}
	return strings.TrimRight(b.String()+text, "\n")
}

// headed returns the table that a line of an event is the heading of, or nil.
func (p *part) headed(e *event, line string) *table {
	if e == nil || e.by != byCall {
		return nil
	}
	return p.heads[e.tool+"\n"+line]
}
