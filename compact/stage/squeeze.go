package stage

import (
	"bytes"
	"encoding/json"
	"strings"

	"laconic/compact"
)

// squeeze removes meaningless white space from old tool results: that of JSON,
// blanks at the ends of lines, runs of blank lines. Indentation stays, because it
// has a meaning in source code and in YAML.
type squeeze struct {
	// Mode is "lossless" or "all". With "all" every run of white space becomes
	// one space, line ends and indentation included.
	Mode string `json:"mode" check:"oneof=lossless|all"`
}

const (
	lossless   = "lossless"
	everything = "all"
)

func (s *squeeze) Name() string { return "squeeze" }

// minSavingRatio is the share of a text, one in so many bytes, that lossless
// squeezing must save. Below that, a text keeps its exact bytes, because agents
// edit files by strings that they saw.
const minSavingRatio = 32

func (s *squeeze) Shrink(d *compact.Draft) {
	var buffer []byte // reused, because most texts stay as they are
	for ref, part := range d.Results() {
		if d.Over() == 0 {
			return
		}
		buffer = part.Text.AppendTo(buffer[:0])
		if s.Mode == lossless && savesLittle(buffer) {
			continue
		}
		text := string(buffer)
		var short string
		if s.Mode == everything {
			short = eachSide(text, withoutRuns)
			if len(short) == len(text) {
				continue
			}
		} else {
			short = eachSide(text, withoutBlanks)
			if len(text)-len(short) <= len(text)/minSavingRatio {
				continue
			}
		}
		if short != "" { // upstreams refuse an empty text
			d.Rewrite(ref, short, "white space of an old tool result")
		}
	}
}

// savesLittle reports, without making the shorter text, whether lossless
// squeezing saves too little. It may be false for a text that saves little.
func savesLittle(text []byte) bool {
	return !mayBeJSON(text) && blanks(text) <= len(text)/minSavingRatio && !bytes.Contains(text, []byte(clipMark))
}

// eachSide squeezes a text. The head and the tail of a clipped text are squeezed
// one by one, so that clipOf still recognizes the notice between them.
func eachSide(text string, squeezed func(string) string) string {
	c := clipOf(text)
	if c.whole() {
		return squeezed(text)
	}
	c.head, c.tail = squeezed(c.head), squeezed(c.tail)
	return c.String()
}

// withoutBlanks returns a text without meaningless white space. Of a run of blank
// lines one stays. JSON loses all white space outside its strings.
func withoutBlanks(text string) string {
	if short, ok := minified(text); ok {
		return short
	}
	saved := blanks([]byte(text))
	if saved == 0 {
		return text
	}
	var b strings.Builder
	b.Grow(len(text) - saved)
	blank := false // the previous line is blank
	for first := true; ; first = false {
		line, rest, more := strings.Cut(text, "\n")
		cr := strings.HasSuffix(line, "\r")
		line = strings.TrimRight(line, " \t\r")
		if line != "" || !blank {
			if !first {
				b.WriteByte('\n')
			}
			b.WriteString(line)
			if cr {
				b.WriteByte('\r')
			}
		}
		blank = line == ""
		if !more {
			return b.String()
		}
		text = rest
	}
}

// blanks returns how many bytes withoutBlanks removes from a text that is not
// JSON. Most texts have none, so this is one pass from line end to line end.
func blanks(text []byte) (saved int) {
	blank := false // the previous line is blank
	for start := 0; ; {
		next := bytes.IndexByte(text[start:], '\n')
		end := start + next
		if next < 0 {
			end = len(text)
		}
		last := end // the end of the line without its blanks
		for last > start && (text[last-1] == ' ' || text[last-1] == '\t' || text[last-1] == '\r') {
			last--
		}
		switch {
		case last == start && blank:
			saved += end - start + 1
		case last < end && text[end-1] == '\r':
			saved += end - last - 1
		default:
			saved += end - last
		}
		blank = last == start
		if next < 0 {
			return saved
		}
		start = end + 1
	}
}

// withoutRuns returns a text with one space in place of every run of white space,
// and none at its ends.
func withoutRuns(text string) string {
	if short, ok := minified(text); ok {
		text = short
	}
	text = strings.Join(strings.Fields(text), " ")
	if short, ok := minified(text); ok { // now that odd white space is gone
		return short
	}
	return text
}

// minified returns a text without the white space of JSON. ok is false unless the
// text is exactly one JSON object or array. Every other byte stays: numbers keep
// their digits, strings their escapes, keys their order, even repeated ones.
func minified(text string) (short string, ok bool) {
	if !mayBeJSON([]byte(text)) {
		return "", false
	}
	var b bytes.Buffer
	if json.Compact(&b, []byte(strings.Trim(text, jsonBlanks))) != nil {
		return "", false
	}
	return b.String(), true
}

const jsonBlanks = " \t\r\n"

// mayBeJSON reports whether a text begins and ends like an object or an array.
func mayBeJSON(text []byte) bool {
	s := bytes.Trim(text, jsonBlanks)
	return len(s) > 1 && (s[0] == '{' && s[len(s)-1] == '}' || s[0] == '[' && s[len(s)-1] == ']')
}
