package digest

import (
	"slices"
	"strings"
)

// A table is JSON of objects with the same keys: the names of their values, and the
// values of each in the order of the names.
type table struct {
	name  string // under which it stands
	text  string // as the result has it: of one object without a heading
	inner int    // how many tables that follow are in the object
	names []string
	rows  [][]string
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

// tableOf returns the table of objects with the same keys, with the text that the
// result has for them: the table itself if it has none.
func tableOf(name string, list []value, text string) table {
	t := table{name: name, text: text, rows: make([][]string, len(list))}
	t.columns("", pointers(list))
	if text == "" {
		t.text = (&layout{table: &t}).write(&t)
	}
	return t
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
			c = &value{text: c.member("name")}
		}
		if c.text == "" {
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

func pointers(list []value) []*value {
	all := make([]*value, len(list))
	for i := range list {
		all[i] = &list[i]
	}
	return all
}

// columns adds the members of objects, those of an object in them with its name.
func (t *table) columns(above string, objects []*value) {
	for k, key := range objects[0].keys {
		members := make([]*value, len(objects))
		var inner []*value // objects of lists
		for i, o := range objects {
			members[i] = &o.list[k]
			for j := range members[i].list {
				inner = append(inner, &members[i].list[j])
			}
		}
		name, bare := joined(above, ".", within(key)), false
		switch {
		case alike(members):
			t.columns(name, members)
			continue
		case members[0].kind == '[' && len(inner) > 0 && alike(inner):
			var keys []string
			for _, k := range inner[0].keys {
				keys = append(keys, within(k))
			}
			name, bare = name+" ["+strings.Join(keys, ", ")+"]", true
		}
		t.names = append(t.names, name)
		for i, m := range members {
			t.rows[i] = append(t.rows[i], m.cell(bare))
		}
	}
}

// alike reports whether values are objects with the same keys.
func alike(list []*value) bool {
	return len(list[0].keys) > 0 && !slices.ContainsFunc(list, func(v *value) bool { return v.kind != '{' || !slices.Equal(v.keys, list[0].keys) })
}

// cell returns a value as it stands in a row. bare leaves the names of the members of
// objects in a list out.
func (v *value) cell(bare bool) string {
	switch {
	case v.list == nil:
		if v.kind != '"' {
			return v.text
		}
		return within(strings.Join(strings.Fields(v.text), " "))
	case v.kind == '{' || v.list[0].kind != '{':
		return "[" + v.short() + "]"
	}
	var members []string
	for _, m := range v.list {
		if bare {
			m.kind = '['
		}
		members = append(members, m.short())
	}
	return "[" + strings.Join(members, "; ") + "]"
}

// within returns a value as it stands between others: in quotes where it is empty or has
// what stands between values.
func within(s string) string {
	if s == "" || strings.ContainsAny(s[:1], `["`) || containsAny(s+" ", []string{", ", "; "}) {
		return `"` + s + `"`
	}
	return s
}

// A layout is what tables of one tool with the same names have in common.
type layout struct {
	table *table // the first
	count int    // of rows
	same  []bool // which columns have one value
	head  int32  // the piece with the heading; -1: none
}

// left reports whether the rows leave a column out.
func (c *layout) left(k int) bool { return c.count > 1 && c.same[k] }

// heading returns the names of the columns, and what is the same in all rows.
func (c *layout) heading() string {
	var names, all []string
	within := ""
	for k, n := range c.table.names {
		if c.left(k) {
			all = append(all, n+" "+c.table.rows[0][k])
			continue
		}
		path, _, _ := strings.Cut(n, " [")
		if dot := strings.LastIndexByte(path, '.') + 1; dot == 0 || n[:dot] != within {
			within = n[:dot]
		} else {
			n = n[dot-1:]
		}
		names = append(names, n)
	}
	return joined(c.table.name, ": ", "("+strings.Join(names, ", ")+led("; all: ", strings.Join(all, ", "))+")")
}

// above says that the heading stands above, with the last rows of a tool.
func (c *layout) above(tool string) string {
	return joined(c.table.name, ": ", "(columns of the last "+OneLine(tool, 64)+" above)")
}

// write returns a table below its heading.
func (c *layout) write(t *table) string {
	var b strings.Builder
	b.WriteString(c.heading() + "\n")
	for _, row := range t.rows {
		b.WriteString(strings.Join(c.cells(row), ", ") + "\n")
	}
	return b.String()
}

// cells returns what a row says.
func (c *layout) cells(row []string) (cells []string) {
	for k, cell := range row {
		if !c.left(k) {
			cells = append(cells, cell)
		}
	}
	return cells
}

// key names a table of a call.
func (e *event) key(t *table) string {
	return e.tool + "\n" + t.name + "\n" + strings.Join(t.names, ",")
}

// share learns what the tables of the events have in common.
func (p *part) share() {
	p.tables, p.heads = map[string]*layout{}, map[string]*layout{}
	for _, e := range p.events[p.old:] {
		for k := range e.result.tables {
			t := &e.result.tables[k]
			key := e.key(t)
			c := p.tables[key]
			if c == nil {
				c = &layout{table: t, same: slices.Repeat([]bool{true}, len(t.names)), head: -1}
				p.tables[key] = c
			}
			c.count += len(t.rows)
			for k := range t.names {
				c.same[k] = c.same[k] && !slices.ContainsFunc(t.rows, func(row []string) bool { return row[k] != c.table.rows[0][k] })
			}
		}
	}
	for _, c := range p.tables {
		if !slices.Contains(c.same, false) { // one object, however often it came
			clear(c.same)
			c.count = 1
		}
	}
}

// read returns the result of an event as the part tells it: objects that are like
// others, and those of lists, as rows below what they have in common. It reports
// whether there are rows.
func (p *part) read(e *event) (read string, rows bool) {
	text := e.result.text + "\n"
	var b strings.Builder
	for k := 0; k < len(e.result.tables); k++ {
		t := &e.result.tables[k]
		at := strings.Index(text, t.text)
		if at < 0 { // it is not as it was: its heading stands above it, as in the text
			for _, t := range e.result.tables[k:] {
				heading, _, _ := strings.Cut(t.text, "\n")
				if len(t.rows) > 1 {
					p.heads[e.tool+"\n"+heading] = &layout{table: &t, head: -1}
				}
			}
			break
		}
		b.WriteString(text[:at])
		text = text[at:]
		c := p.tables[e.key(t)]
		switch {
		case len(t.rows) > 1, c.count > 1 && len(strings.Join(c.cells(t.rows[0]), ", ")) < p.room/3:
			b.WriteString(c.write(t) + "\n")
			p.heads[e.tool+"\n"+c.heading()] = c
			k, rows = k+t.inner, true
		case t.inner > 0:
			continue
		default:
			b.WriteString(t.text)
		}
		text = text[len(t.text):]
	}
	b.WriteString(text)
	return strings.TrimRight(b.String(), "\n"), rows
}

// headed returns what rows below a line of an event have in common; nil: it is no heading.
func (p *part) headed(e *event, line string) *layout {
	if e == nil || e.by != byCall {
		return nil
	}
	return p.heads[e.tool+"\n"+line]
}
