package wire

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// extent is a run of bytes of a body. One that ends at 0 is absent.
type extent struct{ start, end uint32 }

func (e extent) present() bool { return e.end > 0 }

// value is one JSON value of a body.
type value struct {
	extent        // quotes and brackets included
	kind   byte   // its first character; 0 when absent
	size   uint32 // of a string: the bytes of its text
}

// scanner reads a JSON text of valid UTF-8 once, from its start to its end. It takes
// nothing that check refuses. Where it fails, or is unsure, check decides: it takes
// three times as long, and says why. Methods that read a value want to stand on its
// first byte, and stop behind it.
type scanner struct {
	src    []byte
	at     int
	depth  int
	names  []string // keys of the objects that are open, those of the innermost last
	unsure bool
	err    *PassError // ends every walk
}

// fail records a fault, unless there is one.
func (s *scanner) fail(reason Code, at int, detail string) {
	s.err = cmp.Or(s.err, &PassError{Reason: reason, Detail: detail, Offset: int64(at)})
}

// peek returns the byte where the scanner is, 0 at the end.
func (s *scanner) peek() byte {
	if s.at < len(s.src) {
		return s.src[s.at]
	}
	return 0
}

// space goes behind white space.
func (s *scanner) space() {
	for c := s.peek(); c == ' ' || c == '\t' || c == '\r' || c == '\n'; c = s.peek() {
		s.at++
	}
}

// read reads any value.
func (s *scanner) read() value {
	v := value{extent: extent{start: uint32(s.at)}, kind: s.peek()}
	switch v.kind {
	case '"':
		v.size = s.text()
	case '{':
		for o := (object{}); s.key(&o, nil); {
		}
	case '[':
		for a := (array{}); s.element(&a); {
		}
	default:
		for s.at < len(s.src) && strings.IndexByte(",:]} \t\r\n", s.src[s.at]) < 0 {
			s.at++
		}
		if !json.Valid(s.src[v.start:s.at]) {
			s.fail(InvalidJSON, int(v.start), "")
		}
	}
	if v.end = uint32(s.at); s.err != nil {
		v.kind = 0
	}
	return v
}

// text reads a string, and returns how many bytes its text has.
func (s *scanner) text() (size uint32) {
	start, saved := s.at, 0
	for i := s.at + 1; i < len(s.src); {
		switch c := s.src[i]; {
		case c >= ' ' && c != '"' && c != '\\':
			i++
		case c == '"':
			s.at = i + 1
			return uint32(i - start - 1 - saved)
		case c != '\\':
			s.fail(InvalidJSON, i, "")
			return 0
		default:
			r, read := escaped(s.view(i, len(s.src)))
			if read == 0 {
				s.fail(InvalidJSON, i, "")
				return 0
			}
			i, saved = i+read, saved+read-utf8.RuneLen(r)
		}
	}
	s.fail(InvalidJSON, len(s.src), "")
	return 0
}

// array is the state of a walk over an array.
type array struct {
	begun bool
	value int
}

// element goes to the next element, or behind the array. The first call is on the
// bracket. An element that was not read is skipped.
func (s *scanner) element(a *array) bool { return s.step(a, ']') }

// step goes to what follows in an object or array, or behind its end, and reports
// whether it is not the end.
func (s *scanner) step(a *array, end byte) bool {
	first := !a.begun
	switch {
	case s.err != nil:
		return false
	case first:
		a.begun = true
		s.at++
		if s.depth++; s.depth > MaxDepth {
			s.fail(TooDeep, s.at, "")
		}
	case s.at == a.value:
		s.read()
	}
	s.space()
	switch c := s.peek(); {
	case s.err != nil:
		return false
	case c == end:
		s.at++
		s.depth--
		return false
	case c == ',' && !first:
		s.at++
		s.space()
	case !first:
		s.fail(InvalidJSON, s.at, "")
	}
	a.value = s.at
	return s.err == nil
}

// object is the state of a walk over an object.
type object struct {
	array
	name  string // the key, decoded
	start int    // where its quote is
	names int    // how many keys objects around it have
}

// manyKeys is how many keys of an object are compared with each other. check compares
// more.
const manyKeys = 32

// key goes to the value of the next key, or behind the object. The first call is on
// the brace. A value that was not read is skipped. A key that another reader could
// take for one of ours is refused: Go's encoding/json, and so Ollama, takes "Messages"
// for "messages"; a key spelled with escapes is found by parsers, not by searches.
func (s *scanner) key(o *object, ours []string) bool {
	if !o.begun {
		o.names = len(s.names)
	}
	if !s.step(&o.array, '}') {
		s.names = s.names[:o.names]
		return false
	}
	if o.start = s.at; s.peek() != '"' {
		s.fail(InvalidJSON, s.at, "")
		return false
	}
	s.text()
	inside := s.view(o.start+1, s.at-1)
	o.name = inside
	if strings.ContainsFunc(inside, func(c rune) bool { return c == '\\' || c >= 0x80 || 'A' <= c && c <= 'Z' }) && s.err == nil {
		o.name = unquote(inside)
		for _, k := range ours {
			if strings.EqualFold(k, o.name) {
				s.fail(AmbiguousKey, o.start, k)
			}
		}
	}
	switch {
	case slices.Contains(s.names[o.names:], o.name):
		s.fail(DuplicateKey, o.start, "")
	case len(s.names)-o.names < manyKeys:
		s.names = append(s.names, o.name)
	default:
		s.unsure = true
	}
	if s.space(); s.peek() != ':' {
		s.fail(InvalidJSON, s.at, "")
	}
	if s.err != nil {
		return false
	}
	s.at++
	s.space()
	o.value = s.at
	return true
}

// ahead returns a string that the object at a place has under a key, before it is read.
func (s *scanner) ahead(at int, key string) (text string) {
	t := *s
	t.at = at
	for o := (object{}); t.key(&o, nil); {
		if o.name == key {
			text = t.str(t.read())
			break
		}
	}
	return text
}

// view lends a run of the body as a string. The body is never written to.
func (s *scanner) view(start, end int) string { return lent(s.src[start:max(start, end)]) }

// raw is a run of the body.
func (s *scanner) raw(p extent) []byte { return s.src[p.start:p.end:p.end] }

// str is the decoded text of a string value, "" for any other.
func (s *scanner) str(v value) string { return s.textOf(v).String() }

// inside is what stands between the quotes of a string, or the brackets of another
// value.
func (s *scanner) inside(v value) string { return s.view(int(v.start)+1, int(v.end)-1) }

// wholeNumber reads a number of tokens, at most math.MaxInt32; 0 for whatever is not a
// positive whole number.
func (s *scanner) wholeNumber(v value) int {
	f, err := strconv.ParseFloat(s.view(int(v.start), int(v.end)), 64)
	if err != nil || f != math.Trunc(f) {
		return 0
	}
	return int(max(0, min(f, math.MaxInt32)))
}
