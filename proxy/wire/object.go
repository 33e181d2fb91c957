package wire

import (
	"slices"
	"strings"
)

// object is the state of a walk over an object.
type object struct {
	begun bool
	base  int             // of its keys in scanner.names
	seen  map[string]bool // its keys, when there are many

	name  string // the key, decoded
	start int    // where its quote is
	odd   bool   // it has escapes, capitals or other letters than ASCII
}

// manyKeys is from how many keys on a map remembers them.
const manyKeys = 24

// MaxKeys is how many keys one object may have: they are all remembered until
// its end.
const MaxKeys = 100_000

// key goes to the next value, with its key in o, or behind the object. The
// first call is on the brace.
func (s *scanner) key(o *object) bool {
	if !o.begun {
		o.begun = true
		o.base = len(s.names)
		if !s.down() {
			return false
		}
		if s.space(); s.peek() == '}' {
			return s.up(o)
		}
	} else {
		s.space()
		switch s.peek() {
		case ',':
			s.at++
			s.space()
		case '}':
			return s.up(o)
		default:
			return s.fail(InvalidJSON, s.at, "")
		}
	}
	if s.peek() != '"' {
		return s.fail(InvalidJSON, s.at, "")
	}
	o.start = s.at
	if _, ok := s.text(); !ok {
		return false
	}
	inside := s.view(o.start+1, s.at-1)
	o.name, o.odd = inside, isOdd(inside)
	if o.odd {
		o.name = unquote(inside)
	}
	if !s.fresh(o) {
		return s.fail(DuplicateKey, o.start, s.known(o.name))
	}
	s.space()
	if s.peek() != ':' {
		return s.fail(InvalidJSON, s.at, "")
	}
	s.at++
	s.space()
	return true
}

func (s *scanner) up(o *object) bool {
	s.at++
	s.depth--
	s.names = s.names[:o.base]
	return false
}

// known returns a key that is read, and "" for any other: a key could be content.
func (s *scanner) known(key string) string {
	for _, keys := range s.keys {
		if slices.Contains(keys, key) {
			return key
		}
	}
	return ""
}

// fresh reports whether the object had no such key before, and remembers it.
func (s *scanner) fresh(o *object) bool {
	if o.seen != nil {
		n := len(o.seen)
		if n == MaxKeys {
			return s.fail(TooMany, o.start, "")
		}
		o.seen[o.name] = true
		return len(o.seen) > n
	}
	if slices.Contains(s.names[o.base:], o.name) {
		return false
	}
	s.names = append(s.names, o.name)
	if len(s.names)-o.base == manyKeys {
		o.seen = make(map[string]bool, 2*manyKeys)
		for _, name := range s.names[o.base:] {
			o.seen[name] = true
		}
	}
	return true
}

// unambiguous refuses a key that another reader could take for one of ours: Go's
// encoding/json, and so Ollama, takes "Messages" for "messages"; a key spelled
// with escapes is found by parsers, not by searches.
func (s *scanner) unambiguous(o *object, ours []string) bool {
	if !o.odd {
		return true
	}
	for _, k := range ours {
		if strings.EqualFold(k, o.name) {
			return s.fail(AmbiguousKey, o.start, k)
		}
	}
	return true
}

func isOdd(key string) bool {
	for i := range len(key) {
		if c := key[i]; c == '\\' || c >= 0x80 || 'A' <= c && c <= 'Z' {
			return true
		}
	}
	return false
}
