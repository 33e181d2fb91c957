package stage

import (
	"bytes"
	"encoding/json"
	"strings"

	"laconic/compact"
)

// squeeze takes out of old tool results what a model reads nothing from: the
// white space of JSON, blanks at the ends of lines, runs of blank lines.
// Indentation stays, because in source code and in YAML it is meaning.
type squeeze struct {
	// Mode is "lossless", or "all": every run of white space becomes one space,
	// line ends and indentation included, as some compactors do it.
	Mode string `json:"mode" check:"oneof=lossless|all"`
}

const (
	lossless   = "lossless"
	everything = "all"
)

func newSqueeze(raw []byte) (compact.Stage, error) {
	return options(&squeeze{Mode: lossless}, raw)
}

func (s *squeeze) Name() string { return "squeeze" }

// worth is the part of a text, one in so many bytes, that lossless squeezing
// has to save: for less, a text keeps its exact bytes. Agents edit files by
// strings that they saw.
const worth = 32

func (s *squeeze) Shrink(d *compact.Draft) {
	var buffer []byte // most texts are only looked at
	for ref, part := range d.Results() {
		if d.Over() == 0 {
			return
		}
		buffer = part.Text.AppendTo(buffer[:0])
		if s.Mode == lossless && notWorth(buffer) {
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
			if len(text)-len(short) <= len(text)/worth {
				continue
			}
		}
		if short != "" { // no upstream wants an empty text where there was one
			d.Rewrite(ref, short, "white space of an old tool result")
		}
	}
}

// notWorth tells of most texts, without making the shorter one, that lossless
// squeezing does not save enough.
func notWorth(text []byte) bool {
	return !mayBeJSON(text) && blanks(text) <= len(text)/worth && !bytes.Contains(text, []byte(clipMark))
}

// eachSide squeezes a text, and of one that was clipped before head and tail,
// so that the notice between them stays readable to clipOf.
func eachSide(text string, squeezed func(string) string) string {
	c := clipOf(text)
	if c.whole() {
		return squeezed(text)
	}
	c.head, c.tail = squeezed(c.head), squeezed(c.tail)
	return c.String()
}

// withoutBlanks is a text without the white space that means nothing. Of a run
// of blank lines one stays; JSON loses all that stands outside of its strings.
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
	blank := false // the line before was
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

// blanks is how much shorter a text is without them, see withoutBlanks. Most texts
// have none, so this is one pass from line end to line end.
func blanks(text []byte) (saved int) {
	blank := false // the line before was
	for start := 0; ; {
		next := bytes.IndexByte(text[start:], '\n')
		end := start + next
		if next < 0 {
			end = len(text)
		}
		last := end // of the line without its blanks
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

// withoutRuns is a text with one space in place of every run of white space,
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

// minified is a text without the white space of JSON, if it is one JSON object
// or array and nothing else. Every other byte stays: numbers keep their digits,
// strings their escapes, keys their order, even where a key comes twice.
func minified(text string) (string, bool) {
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

// mayBeJSON tells whether a text begins and ends like an object or an array.
func mayBeJSON(text []byte) bool {
	s := bytes.Trim(text, jsonBlanks)
	return len(s) > 1 && (s[0] == '{' && s[len(s)-1] == '}' || s[0] == '[' && s[len(s)-1] == ']')
}
