package bpe

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// The same tokens, made the slow and obvious way: regular expressions cut the text, and
// the pieces are merged by searching the lowest rank among all neighbours. Nothing is
// shared with the fast way but the list of tokens and the classes of characters.

// The patterns of the reference, whose last alternative slowPieces has: \s+(?!\S)|\s+.
var (
	slowO200k = regexp.MustCompile(`\A(?:[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?` +
		`|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?` +
		`|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+)`)
	slowCl100k = regexp.MustCompile(`\A(?:(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+)`)
)

// standIn returns a character of the same class that all versions of Unicode know.
func standIn(r rune) rune {
	switch k := classes[r]; {
	case k == classSpace && !strings.ContainsRune(" \r\n", r):
		return '\t'
	case r < utf8.RuneSelf || r == 'ſ': // which is an s, too
		return r
	default:
		return map[class]rune{isUpper: 'É', isLower: 'é', classLetter: '中', classMark: '\u0300', classNumber: '²', classOther: '€'}[k]
	}
}

// slowPieces cuts valid UTF-8.
func slowPieces(p *regexp.Regexp, text string) (pieces []string) {
	for plain := strings.Map(standIn, text); text != ""; {
		match := p.FindString(plain)
		if blank := strings.TrimRight(match, " \t\r\n") == "" && !strings.HasSuffix(match, "\n") && !strings.HasSuffix(match, "\r"); blank && len(match) > 1 && match != plain {
			match = match[:len(match)-1] // all of them are one byte long
		}
		plain = plain[len(match):]
		end := 0
		for range match {
			_, size := utf8.DecodeRuneInString(text[end:])
			end += size
		}
		pieces, text = append(pieces, text[:end]), text[end:]
	}
	return pieces
}

// A slowEncoding is the reference in Go.
type slowEncoding struct {
	split *regexp.Regexp
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
