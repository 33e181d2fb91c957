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
type squeeze struct{}

func (s *squeeze) Name() string { return "squeeze" }

// minSavingRatio is the share of a text, one in so many bytes, that squeezing must
// save. Below that, a text keeps its exact bytes, because agents edit files by strings
// that they saw.
const minSavingRatio = 32

func (s *squeeze) Shrink(d *compact.Draft) {
	for ref, part := range d.Results() {
		text := part.Text.String()
		short := squeezed(text)
		if len(text)-len(short) > len(text)/minSavingRatio && short != "" { // upstreams refuse an empty text
			d.Rewrite(ref, short, "white space of an old tool result")
		}
	}
}

// squeezed returns a text without meaningless white space. The head and the tail of a
// clipped text are squeezed one by one, so that clipOf still recognizes the notice
// between them.
func squeezed(text string) string {
	c := clipOf(text)
	if c.whole() {
		return withoutBlanks(text)
	}
	c.head, c.tail = withoutBlanks(c.head), withoutBlanks(c.tail)
	return c.String()
}

// withoutBlanks returns a text without meaningless white space. Of a run of blank
// lines one stays. JSON loses all white space outside its strings.
func withoutBlanks(text string) string {
	if short, ok := minified(text); ok {
		return short
	}
	var b strings.Builder
	b.Grow(len(text))
	blank, before := false, "" // the previous line is blank; what comes before the next
	for line := range strings.SplitSeq(text, "\n") {
		cr := strings.HasSuffix(line, "\r")
		line = strings.TrimRight(line, " \t\r")
		if line != "" || !blank {
			b.WriteString(before)
			b.WriteString(line)
			if cr {
				b.WriteByte('\r')
			}
		}
		blank, before = line == "", "\n"
	}
	return b.String()
}

// minified returns a text without the white space of JSON. ok is false unless the
// text is exactly one JSON object or array. Every other byte stays: numbers keep
// their digits, strings their escapes, keys their order, even repeated ones.
func minified(text string) (short string, ok bool) {
	s := strings.Trim(text, " \t\r\n")
	if len(s) < 2 || (s[0] != '{' || s[len(s)-1] != '}') && (s[0] != '[' || s[len(s)-1] != ']') {
		return "", false
	}
	var b bytes.Buffer
	err := json.Compact(&b, []byte(s))
	return b.String(), err == nil
}
