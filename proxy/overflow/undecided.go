package overflow

import (
	"bytes"
	"slices"
)

// mostUndecided is how much of an event is waited for that says neither that it
// is an answer nor that it is an error.
const mostUndecided = 64 << 10

// undecided judges a JSON object that is not all there by the keys at its top:
// Maybe, or Answer where too much is held already. An error chunk may begin as those of answers do (OpenRouter:
// id, object, created, model, provider, error), so only what was generated tells
// an answer.
func undecided(raw []byte, held int, generated []string) Begins {
	within := Maybe
	if held > mostUndecided {
		within = Answer
	}
	s := scanner{b: raw}
	if s.next() == '[' {
		s.at++
	}
	switch s.next() {
	case 0:
		return Maybe
	case '{':
		s.at++
	default:
		return Answer
	}
	for {
		switch s.next() {
		case 0:
			return within
		case ',':
			s.at++
			continue
		case '"':
		default: // the end of an object without an error, or no JSON
			return Answer
		}
		key, ok := s.text()
		if !ok || s.next() == 0 {
			return within
		}
		s.at++ // a colon
		first := s.next()
		switch name := string(key); {
		case name == "error" || name == "base_resp":
			if first == '{' || first == '"' {
				return Maybe // whatever its size
			}
		case first == '[' && slices.Contains(generated, name) && s.filled():
			return Answer
		}
		if !s.skip() {
			return within
		}
	}
}

// typeIn returns the type of an event at its top, "" if that is not there.
func typeIn(data []byte) string {
	s := scanner{b: data}
	if s.next() != '{' {
		return ""
	}
	s.at++
	for {
		if s.next() == ',' {
			s.at++
		}
		if s.next() != '"' {
			return ""
		}
		key, ok := s.text()
		if !ok || s.next() != ':' {
			return ""
		}
		s.at++
		if string(key) == "type" && s.next() == '"' {
			value, _ := s.text()
			return string(value)
		}
		if !s.skip() {
			return ""
		}
	}
}

// scanner reads JSON as far as it is there, and is right about JSON alone.
type scanner struct {
	b  []byte
	at int
}

// next is the next byte that is no space, 0 at the end of what is there.
func (s *scanner) next() byte {
	for ; s.at < len(s.b); s.at++ {
		switch c := s.b[s.at]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
	return 0
}

// text reads a string as it is written, without its quotes; not ok: its end is
// not there.
func (s *scanner) text() (b []byte, ok bool) {
	start := s.at + 1
	for i := start; i < len(s.b); i++ {
		switch s.b[i] {
		case '\\':
			i++
		case '"':
			s.at = i + 1
			return s.b[start:i], true
		}
	}
	s.at = len(s.b)
	return nil, false
}

// skip reads a value; false: its end is not there.
func (s *scanner) skip() bool {
	depth := 0
	for {
		switch s.next() {
		case 0:
			return false
		case '"':
			if _, ok := s.text(); !ok {
				return false
			}
		case '{', '[':
			depth++
			s.at++
		case '}', ']':
			depth--
			s.at++
		case ',', ':':
			s.at++
		default:
			n := bytes.IndexAny(s.b[s.at:], ",:{}[]\" \t\r\n")
			if n < 0 {
				return false
			}
			s.at += max(n, 1)
		}
		if depth <= 0 {
			return true
		}
	}
}

// filled reports whether an array that begins here has anything in it, as far as
// that is there.
func (s *scanner) filled() bool {
	rest := scanner{b: s.b, at: s.at + 1}
	c := rest.next()
	return c != 0 && c != ']'
}
