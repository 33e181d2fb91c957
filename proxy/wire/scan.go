package wire

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"github.com/go-json-experiment/json/jsontext"
)

// MaxDepth is how many objects and arrays may stand within each other, so nothing
// that recurses ever sees more.
const MaxDepth = 512

// MaxKeys is how many keys one object may have: jsontext remembers them until its
// end.
const MaxKeys = 100_000

// span is a run of bytes of a body. A span that ends at 0 is absent.
type span struct{ start, end uint32 }

func (s span) present() bool { return s.end > 0 }

// value is one JSON value of a body.
type value struct {
	span      // quotes and brackets included
	kind byte // its first character; 0 when absent
}

// check returns why a body is not one JSON object that every reader reads alike, nil
// if it is. The verdict is jsontext's with its strict defaults: RFC 8259, UTF-8, no
// surrogate without its other half, no key twice in one object. known are the keys
// that an error may name.
func check(body []byte, known []string) *PassError {
	start := len(body) - len(trimSpace(body))
	switch {
	case uint64(len(body)) > math.MaxUint32:
		return &PassError{Reason: TooLarge, Offset: math.MaxUint32}
	case start == len(body):
		return &PassError{Reason: EmptyBody, Offset: int64(start)}
	case bytes.HasPrefix(body, []byte("\ufeff")):
		return &PassError{Reason: NotObject, Detail: "it begins with a byte order mark"}
	case body[start] != '{':
		return &PassError{Reason: NotObject, Offset: int64(start)}
	}
	d := jsontext.NewDecoder(bytes.NewBuffer(body))
	for depth := 1; depth > 0; depth = d.StackDepth() {
		if _, err := d.ReadToken(); err != nil {
			return syntaxError(err, len(body), known)
		}
		if d.StackDepth() > MaxDepth {
			return &PassError{Reason: TooDeep, Offset: d.InputOffset() - 1}
		}
		if kind, n := d.StackIndex(d.StackDepth()); kind == '{' && n > 2*MaxKeys {
			return &PassError{Reason: TooMany, Offset: d.InputOffset()}
		}
	}
	if rest := trimSpace(body[d.InputOffset():]); len(rest) > 0 {
		return &PassError{Reason: TrailingData, Offset: int64(len(body) - len(rest))}
	}
	return nil
}

// syntaxError says what jsontext says of a body of some size. A key is named only if
// it is known: it could be content.
func syntaxError(err error, size int, known []string) *PassError {
	var fault *jsontext.SyntacticError
	if !errors.As(err, &fault) {
		return &PassError{Reason: InvalidJSON, Offset: int64(size)}
	}
	pass := &PassError{Reason: InvalidJSON, Offset: min(fault.ByteOffset, int64(size))}
	why := fault.Err.Error()
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName):
		pass.Reason = DuplicateKey
		if key := fault.JSONPointer.LastToken(); slices.Contains(known, key) {
			pass.Detail = key
		}
	case strings.HasPrefix(why, "invalid UTF-8"), strings.HasPrefix(why, "invalid surrogate pair"):
		pass.Reason = InvalidUTF8
	}
	return pass
}

func trimSpace(text []byte) []byte { return bytes.TrimLeft(text, " \t\r\n") }

// scanner walks over a JSON text that was checked, or over a part of it. Methods that
// read a value want to stand on its first byte, and stop behind it.
type scanner struct {
	src []byte
	at  int
	err *PassError // ends every walk
}

// fail records a fault, unless there is one.
func (s *scanner) fail(reason Code, at int, detail string) {
	if s.err == nil {
		s.err = &PassError{Reason: reason, Detail: detail, Offset: int64(at)}
	}
}

func (s *scanner) peek() byte { return s.src[s.at] }

// read reads any value.
func (s *scanner) read() value {
	v := value{span: span{start: uint32(s.at)}, kind: s.peek()}
	s.skip()
	v.end = uint32(s.at)
	return v
}

// skip goes behind a value.
func (s *scanner) skip() {
	for depth := 0; ; {
		switch s.src[s.at] {
		case '"':
			s.skipString()
		case '{', '[':
			depth++
			s.at++
		case '}', ']':
			depth--
			s.at++
		case ',', ':', ' ', '\t', '\r', '\n':
			s.at++
			continue
		default:
			s.skipWord()
		}
		if depth == 0 {
			return
		}
	}
}

// skipString goes behind a string: its end is a quote that no backslash escapes.
func (s *scanner) skipString() {
	for s.at++; ; s.at++ {
		s.at += bytes.IndexByte(s.src[s.at:], '"')
		escapes := s.at
		for s.src[escapes-1] == '\\' {
			escapes--
		}
		if (s.at-escapes)%2 == 0 {
			s.at++
			return
		}
	}
}

// skipWord goes behind a number, true, false or null.
func (s *scanner) skipWord() {
	for s.at < len(s.src) && strings.IndexByte(",:]} \t\r\n", s.src[s.at]) < 0 {
		s.at++
	}
}

// next goes to what follows in an object or array, and reports whether it is not the
// end.
func (s *scanner) next(end byte) bool {
	for strings.IndexByte(",: \t\r\n", s.src[s.at]) >= 0 {
		s.at++
	}
	if s.src[s.at] == end {
		s.at++
		return false
	}
	return true
}

// array is the state of a walk over an array.
type array struct {
	begun bool
	value int
}

// element goes to the next element, or behind the array. The first call is on the
// bracket. An element that was not read is skipped.
func (s *scanner) element(a *array) bool {
	switch {
	case s.err != nil:
		return false
	case !a.begun:
		a.begun = true
		s.at++
	case s.at == a.value:
		s.skip()
	}
	if !s.next(']') {
		return false
	}
	a.value = s.at
	return true
}

// object is the state of a walk over an object.
type object struct {
	array
	name  string // the key, decoded
	start int    // where its quote is
}

// key goes to the value of the next key, or behind the object. The first call is on
// the brace. A value that was not read is skipped. A key that another reader could
// take for one of ours is refused: Go's encoding/json, and so Ollama, takes "Messages"
// for "messages"; a key spelled with escapes is found by parsers, not by searches.
func (s *scanner) key(o *object, ours []string) bool {
	switch {
	case s.err != nil:
		return false
	case !o.begun:
		o.begun = true
		s.at++
	case s.at == o.value:
		s.skip()
	}
	if !s.next('}') {
		return false
	}
	o.start = s.at
	s.skipString()
	inside := s.view(o.start+1, s.at-1)
	o.name = inside
	if strings.ContainsFunc(inside, func(c rune) bool { return c == '\\' || c >= 0x80 || 'A' <= c && c <= 'Z' }) {
		o.name = unquote(inside)
		for _, k := range ours {
			if strings.EqualFold(k, o.name) {
				s.fail(AmbiguousKey, o.start, k)
				return false
			}
		}
	}
	s.next(0)
	o.value = s.at
	return true
}

// ahead returns a string that the object at a place has under a key, before it is read.
func (s *scanner) ahead(at int, key string) string {
	t := scanner{src: s.src, at: at}
	for o := (object{}); t.key(&o, nil); {
		if o.name == key {
			return t.str(t.read())
		}
	}
	return ""
}

// view lends a run of the body as a string. The body is never written to.
func (s *scanner) view(start, end int) string {
	if start >= end {
		return ""
	}
	return unsafe.String(&s.src[start], end-start)
}

// raw is a run of the body.
func (s *scanner) raw(p span) []byte { return s.src[p.start:p.end:p.end] }

// str is the decoded text of a string value, "" for any other.
func (s *scanner) str(v value) string {
	if v.kind != '"' {
		return ""
	}
	return unquote(s.inside(v))
}

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
