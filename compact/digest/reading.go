package digest

import "strings"

// Agents write results as JSON: {"output": "…\n…"}, a list of parts, one inside
// the other. A reading is the text as a person reads it: escapes are undone,
// and what is said in several lines stands on lines of its own.

const (
	// deepest bounds how far values nest, maxReadings how often a string of JSON
	// is itself read as JSON. What is beyond stays as it is.
	deepest     = 64
	maxReadings = 3
)

// reading returns the text of a result or of arguments as a model reads it. A
// text that is no JSON is its own reading. JSON that breaks off counts, because
// clients cut results.
func reading(text string) string { return readingOf(text, maxReadings) }

func readingOf(text string, times int) string {
	start := strings.TrimLeft(text, " \t\r\n")
	if times == 0 || start == "" || start[0] != '{' && start[0] != '[' && start[0] != '"' {
		return text
	}
	r := reader{scanner: scanner{s: text}, times: times}
	for r.skip(); r.at < len(r.s); r.skip() {
		// Several values are lines of JSON; anything else behind one is not.
		if c := r.s[r.at]; r.at > len(text)-len(start) && c != '{' && c != '[' || !r.value(0, "", true) {
			return text
		}
	}
	if !r.changed {
		return text
	}
	r.close()
	return string(r.out)
}

// reader writes a reading. What stands between the strings that get lines of
// their own is a frame; one that holds no value is left out.
type reader struct {
	scanner
	out     []byte
	frame   int  // where the frame begins in out
	told    bool // the frame holds a value
	part    bool // the object that is being read says that it is a part of text
	changed bool
	times   int
}

// value reads one value behind a key, which is "" in a list, and reports
// whether it is one. first is true for the first member of an object.
func (r *reader) value(depth int, key string, first bool) bool {
	if r.skip(); depth > deepest || r.at >= len(r.s) {
		return depth <= deepest && depth > 0
	}
	switch c := r.s[r.at]; c {
	case '{':
		return r.list(depth, '}')
	case '[':
		return r.list(depth, ']')
	case '"':
		raw, escaped := r.str()
		r.text(raw, escaped, depth, key, first)
		return true
	default:
		from := r.at
		for r.at < len(r.s) && inScalar[r.s[r.at]] {
			r.at++
		}
		scalar := r.s[from:r.at]
		r.out = append(r.out, scalar...)
		r.told = r.told || scalar != "0" && scalar != "null" // exit_code: 0
		return r.at > from
	}
}

// list reads an object or an array.
func (r *reader) list(depth int, end byte) bool {
	part := r.part
	defer func() { r.part = part }()
	r.part = false
	from := r.at
	r.at++
	for first := true; ; first = false {
		if r.skip(); r.at >= len(r.s) {
			r.out = append(r.out, r.s[from:]...)
			return true // it breaks off
		}
		switch c := r.s[r.at]; {
		case c == end:
			r.at++
			r.out = append(r.out, r.s[from:r.at]...)
			return true
		case !first && c != ',':
			return false
		case !first:
			r.at++
			r.skip()
		}
		key := ""
		if end == '}' {
			if r.at >= len(r.s) {
				continue
			}
			if r.s[r.at] != '"' {
				return false
			}
			key, _ = r.str()
			if r.skip(); r.at < len(r.s) {
				if r.s[r.at] != ':' {
					return false
				}
				r.at++
				r.skip()
			}
		}
		r.out = append(r.out, r.s[from:r.at]...)
		if r.at < len(r.s) && !r.value(depth+1, key, first) {
			return false
		}
		from = r.at
	}
}

// text writes a string.
func (r *reader) text(raw string, escaped bool, depth int, key string, first bool) {
	text := raw
	if escaped {
		text = unescaped(raw)
		r.changed = true
	}
	if key == "type" && (text == "text" || strings.HasSuffix(text, "_text")) {
		r.part = true
		r.out = append(append(append(r.out, '"'), raw...), '"')
		return
	}
	if depth == 0 || strings.Contains(text, "\n") || key == "text" && (r.part || first && depth == 2) ||
		depth == 1 && textKeys[key] && (first || key != "content" && key != "result") {
		r.block(text)
		return
	}
	if inner := readingOf(text, r.times-1); escaped && inner != text {
		r.block(inner)
		return
	}
	r.told = r.told || text != ""
	r.out = append(append(append(r.out, '"'), text...), '"')
}

// textKeys are what wrappers of results call the result.
var textKeys = map[string]bool{"output": true, "content": true, "text": true, "stdout": true, "result": true}

// block writes a text on lines of its own.
func (r *reader) block(text string) {
	r.close()
	r.changed = true
	if text = readingOf(text, r.times-1); text != "" {
		r.out = append(r.out, text...)
		r.frame = len(r.out)
	}
}

// close ends the frame: one without a value is taken away.
func (r *reader) close() {
	frame := string(r.out[r.frame:])
	if r.frame > 0 {
		frame = strings.TrimLeft(frame, "}], \n")
	}
	r.out = r.out[:r.frame]
	if strings.HasSuffix(frame, `":`) { // the key of what comes now
		frame = frame[:len(frame)-2]
		frame = strings.TrimRight(frame[:strings.LastIndexByte(frame, '"')+1], `,{" `+"\n")
	}
	if r.told && frame != "" {
		r.endLine()
		r.out = append(r.out, frame...)
	}
	r.endLine()
	r.frame, r.told = len(r.out), false
}

func (r *reader) endLine() {
	if n := len(r.out); n > 0 && r.out[n-1] != '\n' {
		r.out = append(r.out, '\n')
	}
}

// FirstLine returns the first line that says something in the first n bytes of
// a result, as a model reads it.
func FirstLine(text string, n int) string {
	text = strings.TrimLeft(reading(firstBytes(text, n)), " \t\r\n")
	line, _, _ := strings.Cut(text, "\n")
	return line
}
