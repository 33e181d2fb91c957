package digest

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
)

// A value is a value of JSON.
type value struct {
	kind byte     // '"', '{', '[', or 0 for another
	text string   // of a string, unescaped; of another value, as it was sent
	keys []string // of an object
	list []value  // of an object or a list
}

// Beyond so many levels or members a text is not read as JSON.
const (
	mostLevels  = 64
	mostMembers = 1 << 16
)

// valueOf returns the value of a text: a string, if it is no JSON. JSON may break
// off, because clients cut it. Several values, as in lines of JSON, are a list.
func valueOf(text string) value {
	p := parser{s: text, members: mostMembers}
	all := value{kind: '[', text: text}
	for start := `{["`; p.more() && !p.bad; start = "{" {
		p.bad = strings.IndexByte(start, p.s[p.at]) < 0
		all.keys, all.list = append(all.keys, ""), append(all.list, p.value(0))
	}
	switch {
	case p.bad || all.list == nil || all.list[0].kind == '"' && strings.IndexByte(text, '\\') < 0:
		return value{kind: '"', text: text}
	case len(all.list) == 1:
		return all.list[0]
	}
	return all
}

// A parser reads JSON.
type parser struct {
	s       string
	at      int
	members int  // that may still be read
	bad     bool // it is no JSON
}

// more passes over blanks, and reports whether anything follows.
func (p *parser) more() bool {
	for p.at < len(p.s) && isBlank(p.s[p.at]) {
		p.at++
	}
	return p.at < len(p.s)
}

// next passes over a byte, and reports whether it was next.
func (p *parser) next(c byte) bool {
	is := p.more() && p.s[p.at] == c
	if is {
		p.at++
	}
	return is
}

// value reads the value that begins here, as far as the text goes.
func (p *parser) value(level int) value {
	p.members--
	p.bad = p.bad || level > mostLevels || p.members < 0
	switch {
	case p.next('"'):
		return value{kind: '"', text: p.str()}
	case p.next('{'), p.next('['):
		v := value{kind: p.s[p.at-1]}
		from := p.at - 1
		for !p.next(v.kind+2) && p.more() && !p.bad {
			if p.bad = v.list != nil && !p.next(','); v.kind == '{' {
				key := p.next('"')
				v.keys = append(v.keys, p.str())
				p.bad = p.bad || !key || !p.next(':') && p.more()
			} else {
				v.keys = append(v.keys, "")
			}
			v.list = append(v.list, p.value(level+1))
		}
		v.text = p.s[from:p.at]
		return v
	}
	s := scalar.FindString(firstBytes(p.s[p.at:], 64))
	p.at += len(s)
	p.bad = p.bad || s == "" && p.at < len(p.s)
	return value{text: s}
}

var scalar = regexp.MustCompile(`^(?:-?\d[\w.+-]*|true\b|false\b|null\b|[a-z]{1,4}$)`)

// str reads the rest of a string, up to its end or that of the text.
func (p *parser) str() string {
	from := p.at
	for p.at < len(p.s) && p.s[p.at] != '"' {
		if p.s[p.at] == '\\' {
			p.at++
		}
		p.at++
	}
	p.at = min(p.at, len(p.s))
	text := p.s[from:p.at]
	p.at = min(p.at+1, len(p.s))
	if strings.IndexByte(text, '\\') < 0 {
		return text
	}
	return escape.ReplaceAllStringFunc(text, func(e string) string {
		if i := strings.IndexByte(`ntrbf"\/`, e[1]); i >= 0 {
			return "\n\t\r  \"\\/"[i : i+1]
		}
		var units []uint16 // two are a pair
		for ; e != ""; e = e[6:] {
			n, _ := strconv.ParseUint(e[2:6], 16, 16)
			units = append(units, uint16(n))
		}
		return string(utf16.Decode(units))
	})
}

// escape finds what is escaped in a string. Invalid escapes stay.
var escape = regexp.MustCompile(`\\(?:[ntrbf"\\/]|u[dD][89abAB][[:xdigit:]]{2}\\u[dD][c-fC-F][[:xdigit:]]{2}|u[[:xdigit:]]{4})`)

// each calls f for each string in a value, with its key.
func (v *value) each(key string, f func(key, text string)) {
	if v.kind == '"' {
		f(key, v.text)
	}
	for i := range v.list {
		v.list[i].each(either(v.keys[i], key), f)
	}
}

func joined(a, mark, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + mark + b
}

// unwrap returns the text of a result as a reader wants it: a text in JSON without
// its escapes and what wraps it, the members of an object as "key: value", and
// objects of one kind as rows below their keys. Other texts are returned as they are.
func unwrap(text string) string { return unwrapTimes(text, mostTexts) }

// mostTexts is how often a string of JSON is itself read as JSON.
const mostTexts = 4

func unwrapTimes(text string, times int) string {
	if times == 0 {
		return text
	}
	v := valueOf(text)
	if v.list == nil && v.text == text || v.kind == '[' && strings.IndexByte(text, '{') < 0 {
		return text
	}
	r := reader{times: times}
	r.value(&v, "")
	return r.b.String()
}

// A reader writes values as a reader wants them.
type reader struct {
	b     strings.Builder
	times int // that strings are read as JSON
}

// value writes a value under its name.
func (r *reader) value(v *value, name string) {
	switch {
	case v.kind == '"':
		r.line(joined(name, ": ", unwrapTimes(v.text, r.times-1)))
	case v.list == nil:
		r.line(joined(name, ": ", v.text))
	case v.kind == '{':
		r.object(v, name)
	case v.sameKeys():
		r.line(joined(name, ": ", "("+strings.Join(v.list[0].leaves(nil, true), ", ")+")"))
		for i := range v.list {
			r.line(strings.Join(v.list[i].leaves(nil, false), ", "))
		}
	default:
		for i := range v.list {
			r.value(&v.list[i], name)
		}
	}
}

func (r *reader) line(text string) {
	r.b.WriteString(text)
	if text != "" && text[len(text)-1] != '\n' {
		r.b.WriteByte('\n')
	}
}

// What harnesses wrap results in: the text stands under one of textKeys, and what
// stands under others of frameKeys says nothing.
var (
	textKeys  = setOf("output content text stdout stderr result response")
	frameKeys = setOf("type query iserror success interrupted isimage annotations metadata exitcode returncode duration durationms durationseconds")
)

// wraps reports whether an object only wraps a text.
func (v *value) wraps() (texts bool) {
	for _, k := range v.keys {
		if k = plainKey(k); textKeys[k] {
			texts = true
		} else if !frameKeys[k] {
			return false
		}
	}
	return texts
}

// object writes the members of an object: what is short on one line, then the
// others.
func (r *reader) object(v *value, name string) {
	var line []string
	length := 0
	flush := func() {
		r.line(strings.Join(line, ", "))
		line, length = nil, 0
	}
	wraps := v.wraps()
	for i := range v.list {
		m, key := &v.list[i], plainKey(v.keys[i])
		lines := m.kind == '"' && strings.IndexByte(m.text, '\n') >= 0
		switch {
		case textKeys[key] && (wraps || lines), wraps && m.list != nil:
			flush()
			r.value(m, "")
		case wraps && !strings.HasSuffix(key, "code"):
		case lines, m.list != nil && (m.sameKeys() || len(m.text) > 200):
			flush()
			r.value(m, joined(name, ".", v.keys[i]))
		default:
			if length > 160 {
				flush()
			}
			under := v.keys[i]
			for m.kind == '{' && len(m.list) == 1 { // its name says what the value is
				under, m = under+"."+m.keys[0], &m.list[0]
			}
			s := under + ": " + strings.Join(m.leaves(nil, false), ", ")
			if line = append(line, s); length == 0 {
				line[0] = joined(name, ": ", s)
			}
			length += len(s)
		}
	}
	flush()
}

// sameKeys reports whether a list has objects with the same keys.
func (v *value) sameKeys() bool {
	return len(v.list) > 1 && v.kind == '[' && len(v.list[0].keys) > 1 && !v.list[0].wraps() && !strings.Contains(v.text, `\n`) && !slices.ContainsFunc(v.list, func(m value) bool {
		return m.kind != '{' || !slices.Equal(m.keys, v.list[0].keys)
	})
}

// leaves returns the values in a value, or with keys set their names.
func (v *value) leaves(list []string, keys bool) []string {
	if v.list == nil && !keys {
		return append(list, strings.TrimSpace(v.text))
	}
	for i := range v.list {
		if m := &v.list[i]; keys && (m.list == nil || m.kind == '[') {
			list = append(list, v.keys[i])
		} else {
			list = m.leaves(list, keys)
		}
	}
	return list
}
