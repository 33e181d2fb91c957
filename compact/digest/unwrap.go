package digest

import "strings"

// Agents write results as JSON: {"output": "…\n…"}, a list of parts, one inside
// the other. Unwrapped, escapes are undone and a text of several lines is on
// lines of its own.

const (
	// maxDepth bounds how deep values nest, maxUnwraps how often a string of JSON
	// is itself read as JSON. Anything beyond stays as it is.
	maxDepth   = 64
	maxUnwraps = 3
)

// unwrap returns the text of a result or of arguments as a model reads it. A
// text that is not JSON is returned as it is. JSON may break off, because
// clients cut results.
func unwrap(text string) string { return unwrapTimes(text, maxUnwraps) }

func unwrapTimes(text string, times int) string {
	start := strings.TrimLeft(text, " \t\r\n")
	if times == 0 || start == "" || start[0] != '{' && start[0] != '[' && start[0] != '"' {
		return text
	}
	r := unwrapper{scanner: scanner{s: text}, times: times}
	for r.skip(); r.at < len(r.s); r.skip() {
		// Lines of JSON are several values; anything else after a value is no JSON.
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

// unwrapper writes the unwrapped text. The JSON between strings that get lines
// of their own is a frame; a frame without a value is left out.
type unwrapper struct {
	scanner
	out      []byte
	frame    int  // the start of the frame in out
	hasValue bool // the frame has a value
	part     bool // the current object is a text part
	changed  bool
	times    int
}

// value reads one value after a key, "" in a list, and reports whether it is
// valid. first is true for the first member of an object.
func (r *unwrapper) value(depth int, key string, first bool) bool {
	if r.skip(); depth > maxDepth || r.at >= len(r.s) {
		return depth <= maxDepth && depth > 0
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
		r.hasValue = r.hasValue || scalar != "0" && scalar != "null" // exit_code: 0
		return r.at > from
	}
}

// list reads an object or an array.
func (r *unwrapper) list(depth int, end byte) bool {
	part := r.part
	defer func() { r.part = part }()
	r.part = false
	from := r.at
	r.at++
	for first := true; ; first = false {
		if r.skip(); r.at >= len(r.s) {
			r.out = append(r.out, r.s[from:]...)
			return true // the text breaks off
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
func (r *unwrapper) text(raw string, escaped bool, depth int, key string, first bool) {
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
	if inner := unwrapTimes(text, r.times-1); escaped && inner != text {
		r.block(inner)
		return
	}
	r.hasValue = r.hasValue || text != ""
	r.out = append(append(append(r.out, '"'), text...), '"')
}

// textKeys are the keys under which wrappers keep the text of a result.
var textKeys = map[string]bool{"output": true, "content": true, "text": true, "stdout": true, "result": true}

// block writes a text on lines of its own.
func (r *unwrapper) block(text string) {
	r.close()
	r.changed = true
	if text = unwrapTimes(text, r.times-1); text != "" {
		r.out = append(r.out, text...)
		r.frame = len(r.out)
	}
}

// close ends the frame, and removes it if it has no value.
func (r *unwrapper) close() {
	frame := string(r.out[r.frame:])
	if r.frame > 0 {
		frame = strings.TrimLeft(frame, "}], \n")
	}
	r.out = r.out[:r.frame]
	if strings.HasSuffix(frame, `":`) { // the key of the next block
		frame = frame[:len(frame)-2]
		frame = strings.TrimRight(frame[:strings.LastIndexByte(frame, '"')+1], `,{" `+"\n")
	}
	if r.hasValue && frame != "" {
		r.endLine()
		r.out = append(r.out, frame...)
	}
	r.endLine()
	r.frame, r.hasValue = len(r.out), false
}

func (r *unwrapper) endLine() {
	if n := len(r.out); n > 0 && r.out[n-1] != '\n' {
		r.out = append(r.out, '\n')
	}
}

// withoutHead returns the output of a command without the lines that Codex puts
// before it: the number of a chunk, the time it took, how many tokens it was.
func withoutHead(text string) string {
	const first, last, longest = "Chunk ID: ", "\nOutput:\n", 400
	if !strings.HasPrefix(text, first) {
		return text
	}
	i := strings.Index(firstBytes(text, longest), last)
	if i < 0 {
		return text
	}
	output := text[i+len(last):]
	for line := range strings.Lines(text[:i]) {
		if code, ok := strings.CutPrefix(line, "Process exited with code "); ok && strings.TrimSpace(code) != "0" {
			return strings.TrimSpace(line) + "\n" + output
		}
	}
	return output
}

// FirstLine returns the first line that says something in the first n bytes of
// a result, unwrapped.
func FirstLine(text string, n int) string {
	text = strings.TrimLeft(unwrap(firstBytes(text, n)), " \t\r\n")
	line, _, _ := strings.Cut(text, "\n")
	return line
}
