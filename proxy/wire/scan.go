package wire

import "unsafe"

// MaxDepth is how many objects and arrays may stand within each other. It is
// checked at every step down, so nothing that recurses ever sees more.
const MaxDepth = 512

// span is a run of bytes of a body. A span that ends at 0 is absent.
type span struct{ start, end uint32 }

func (s span) present() bool { return s.end > 0 }

// value is one JSON value of a body.
type value struct {
	span      // quotes and brackets included
	kind byte // its first character; 0 when absent
	size int  // of a string: the bytes of the decoded text
}

// scanner walks one JSON text from its start to its end, once, and accepts
// exactly what jsontext accepts with its strict defaults: RFC 8259, UTF-8, no
// surrogate without its other half, no key twice in one object. It is here
// because it takes half of jsontext's time (BenchmarkScan) and finds the
// lengths of the decoded texts on its way, which would cost a second look at
// every string; FuzzScan and FuzzText hold the two together.
//
// Methods that read a value want to stand on its first byte, stop behind it,
// and give false after a fault, which is then in err.
type scanner struct {
	src   []byte
	at    int
	depth int
	keys  [][]string // that are read, for details of errors
	names []string   // keys of all objects that are open, innermost last
	err   *PassError
}

// fail records a fault. Its result is always false.
func (s *scanner) fail(reason Code, at int, detail string) bool {
	if s.err == nil {
		s.err = &PassError{Reason: reason, Detail: detail, Offset: int64(at)}
	}
	return false
}

// peek is the byte at which the scanner is, or 0 at the end, which no JSON
// begins with.
func (s *scanner) peek() byte {
	if s.at < len(s.src) {
		return s.src[s.at]
	}
	return 0
}

func (s *scanner) space() {
	i := s.at
	for i < len(s.src) && isSpace(s.src[i]) {
		i++
	}
	s.at = i
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

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
	return unquote(s.view(int(v.start)+1, int(v.end)-1))
}

// value reads any value.
func (s *scanner) value() (v value, ok bool) {
	v.kind = s.peek()
	v.start = uint32(s.at)
	if v.kind == '"' {
		v.size, ok = s.text()
	} else {
		ok = s.skip()
	}
	v.end = uint32(s.at)
	return v, ok
}

// text reads a string and returns the length of its decoded text.
func (s *scanner) text() (size int, ok bool) {
	end, saved, fault := endOfString(s.src, s.at+1)
	if fault != "" {
		return 0, s.fail(fault, end, "")
	}
	size = end - s.at - 1 - saved
	s.at = end + 1
	return size, true
}

// skip reads any value and forgets it.
func (s *scanner) skip() bool {
	switch c := s.peek(); {
	case c == '"':
		_, ok := s.text()
		return ok
	case c == '{':
		var o object
		for s.key(&o) {
			if !s.skip() {
				return false
			}
		}
		return s.err == nil
	case c == '[':
		var a array
		for s.element(&a) {
			if !s.skip() {
				return false
			}
		}
		return s.err == nil
	case c == 't':
		return s.literal("true")
	case c == 'f':
		return s.literal("false")
	case c == 'n':
		return s.literal("null")
	case c == '-' || isDigit(c):
		return s.number()
	}
	return s.fail(InvalidJSON, s.at, "")
}

func (s *scanner) literal(word string) bool {
	if end := s.at + len(word); end <= len(s.src) && string(s.src[s.at:end]) == word {
		s.at = end
		return true
	}
	return s.fail(InvalidJSON, s.at, "")
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func (s *scanner) number() bool {
	start := s.at
	if s.peek() == '-' {
		s.at++
	}
	if s.peek() == '0' {
		s.at++
	} else if !s.digits() {
		return s.fail(InvalidJSON, start, "")
	}
	if s.peek() == '.' {
		s.at++
		if !s.digits() {
			return s.fail(InvalidJSON, start, "")
		}
	}
	if c := s.peek(); c == 'e' || c == 'E' {
		s.at++
		if c := s.peek(); c == '+' || c == '-' {
			s.at++
		}
		if !s.digits() {
			return s.fail(InvalidJSON, start, "")
		}
	}
	return true
}

func (s *scanner) digits() bool {
	start := s.at
	for isDigit(s.peek()) {
		s.at++
	}
	return s.at > start
}

// down enters an object or array.
func (s *scanner) down() bool {
	if s.depth == MaxDepth {
		return s.fail(TooDeep, s.at, "")
	}
	s.depth++
	s.at++
	return true
}

// array is the state of a walk over an array.
type array struct{ begun bool }

// element goes to the next element, or behind the array. The first call is
// on the bracket.
func (s *scanner) element(a *array) bool {
	if !a.begun {
		if a.begun = true; !s.down() {
			return false
		}
		if s.space(); s.peek() != ']' {
			return true
		}
	}
	s.space()
	switch s.peek() {
	case ',':
		s.at++
		s.space()
		return true
	case ']':
		s.at++
		s.depth--
		return false
	}
	return s.fail(InvalidJSON, s.at, "")
}

// isJSON reports whether a text is one JSON value.
func isJSON(text string) bool {
	s := scanner{src: bytesOf(text)}
	s.space()
	ok := s.skip()
	s.space()
	return ok && s.at == len(text)
}
