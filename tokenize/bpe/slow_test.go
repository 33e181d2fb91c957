package bpe

import "unicode/utf8"

// The same tokens, made the slow and obvious way: the patterns are interpreted as a
// backtracking regular expression engine would, one character at a time, and the
// pieces are merged by searching the lowest rank among all neighbours. Nothing is
// shared with the fast way but the list of tokens and the classes of characters.

// A pattern returns the ends of all matches of a regular expression at text[p], in
// the order in which a backtracking engine tries them.
type pattern func(text string, p int, found func(end int) bool) bool

func one(set func(rune) bool) pattern {
	return func(text string, p int, found func(int) bool) bool {
		if p == len(text) {
			return false
		}
		r, size := utf8.DecodeRuneInString(text[p:])
		return set(r) && found(p+size)
	}
}

func seq(parts ...pattern) pattern {
	if len(parts) == 0 {
		return func(_ string, p int, found func(int) bool) bool { return found(p) }
	}
	rest := seq(parts[1:]...)
	return func(text string, p int, found func(int) bool) bool {
		return parts[0](text, p, func(q int) bool { return rest(text, q, found) })
	}
}

func either(parts ...pattern) pattern {
	return func(text string, p int, found func(int) bool) bool {
		for _, a := range parts {
			if a(text, p, found) {
				return true
			}
		}
		return false
	}
}

// between low and high times a set, greedily; high 0 is no limit.
func repeat(low, high int, set func(rune) bool) pattern {
	return func(text string, p int, found func(int) bool) bool {
		ends := []int{p}
		for q := p; q < len(text) && (high == 0 || len(ends) <= high); {
			r, size := utf8.DecodeRuneInString(text[q:])
			if !set(r) {
				break
			}
			q += size
			ends = append(ends, q)
		}
		for n := len(ends) - 1; n >= low; n-- {
			if found(ends[n]) {
				return true
			}
		}
		return false
	}
}

func maybe(p pattern) pattern { return either(p, seq()) }

func notBefore(set func(rune) bool) pattern {
	return func(text string, p int, found func(int) bool) bool {
		if p < len(text) {
			if r, _ := utf8.DecodeRuneInString(text[p:]); set(r) {
				return false
			}
		}
		return found(p)
	}
}

// literal matches one of the words, small or capital; s is U+017F, too.
func literal(words ...string) pattern {
	var all []pattern
	for _, w := range words {
		var parts []pattern
		for _, want := range w {
			parts = append(parts, one(func(r rune) bool {
				return r == want || 'a' <= want && want <= 'z' && r == want-'a'+'A' || want == 's' && r == 'ſ'
			}))
		}
		all = append(all, seq(parts...))
	}
	return either(all...)
}

func in(classes ...class) func(rune) bool {
	return func(r rune) bool {
		for _, c := range classes {
			if classOf(r) == c {
				return true
			}
		}
		return false
	}
}

func not(set func(rune) bool) func(rune) bool { return func(r rune) bool { return !set(r) } }

func union(a, b func(rune) bool) func(rune) bool {
	return func(r rune) bool { return a(r) || b(r) }
}

func chars(s string) func(rune) bool {
	return func(r rune) bool {
		for _, c := range s {
			if c == r {
				return true
			}
		}
		return false
	}
}

var (
	reLetter = in(classUpper, classLower, classLetter)
	reNumber = in(classNumber)
	reSpace  = in(classSpace)
	reUpper  = in(classUpper, classLetter, classMark) // \p{Lm} and \p{Lo} are classLetter
	reLower  = in(classLower, classLetter, classMark)
	reSign   = not(union(reSpace, union(reLetter, reNumber)))
	reBefore = not(union(chars("\r\n"), union(reLetter, reNumber)))
	reShort  = literal("'s", "'t", "'re", "'ve", "'m", "'ll", "'d")
	reBlanks = either(
		seq(repeat(0, 0, reSpace), repeat(1, 0, chars("\r\n"))),
		seq(repeat(1, 0, reSpace), notBefore(not(reSpace))),
		repeat(1, 0, reSpace),
	)

	slowO200k = either(
		seq(maybe(one(reBefore)), repeat(0, 0, reUpper), repeat(1, 0, reLower), maybe(reShort)),
		seq(maybe(one(reBefore)), repeat(1, 0, reUpper), repeat(0, 0, reLower), maybe(reShort)),
		repeat(1, 3, reNumber),
		seq(maybe(one(chars(" "))), repeat(1, 0, reSign), repeat(0, 0, chars("\r\n/"))),
		reBlanks,
	)
	slowCl100k = either(
		reShort,
		seq(maybe(one(reBefore)), repeat(1, 0, reLetter)),
		repeat(1, 3, reNumber),
		seq(maybe(one(chars(" "))), repeat(1, 0, reSign), repeat(0, 0, chars("\r\n"))),
		reBlanks,
	)
)

// slowPieces cuts valid UTF-8.
func slowPieces(p pattern, text string) []string {
	var pieces []string
	for at := 0; at < len(text); {
		end := -1
		if !p(text, at, func(q int) bool { end = q; return true }) || end <= at {
			panic("BUG: the pattern must match something everywhere")
		}
		pieces = append(pieces, text[at:end])
		at = end
	}
	return pieces
}

// A slowEncoding is the reference in Go.
type slowEncoding struct {
	split pattern
	ranks map[string]uint32
}

func newSlow(e *Encoding) *slowEncoding {
	s := &slowEncoding{split: slowO200k, ranks: make(map[string]uint32)}
	if e == Cl100k() {
		s.split = slowCl100k
	}
	for t := range uint32(e.vocab.len()) {
		s.ranks[string(e.vocab.token(t))] = t
	}
	return s
}

// tokens of any text; bytes that are no UTF-8 must have been replaced.
func (s *slowEncoding) tokens(text string) []uint32 {
	var out []uint32
	for _, piece := range slowPieces(s.split, text) {
		out = append(out, s.merge(piece)...)
	}
	return out
}

func (s *slowEncoding) merge(piece string) []uint32 {
	ends := make([]int, len(piece)+1) // ends of the parts, from ends[0] = 0
	for i := range ends {
		ends[i] = i
	}
	for {
		at, lowest := 0, ^uint32(0)
		for i := 2; i < len(ends); i++ {
			if r, ok := s.ranks[piece[ends[i-2]:ends[i]]]; ok && r < lowest {
				at, lowest = i-1, r
			}
		}
		if at == 0 {
			break
		}
		ends = append(ends[:at], ends[at+1:]...)
	}
	var out []uint32
	for i := 1; i < len(ends); i++ {
		out = append(out, s.ranks[piece[ends[i-1]:ends[i]]])
	}
	return out
}
