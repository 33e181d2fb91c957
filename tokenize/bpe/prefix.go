package bpe

import (
	"unicode/utf8"
	"unsafe"
)

// Prefix returns the start of a text that has at most n tokens. It ends between two
// tokens of the text, where a character begins, and counted by itself it has no more
// than n tokens either. In text that is not valid UTF-8 it ends before the first
// invalid byte. Cut a text before it is written as JSON, so that no escape is cut in
// two.
func (e *Encoding) Prefix(text string, n int) string {
	text = text[:validBytes(text)]
	ends := e.tokenEnds(bytesOf(text), n)
	for i := len(ends) - 1; i >= 0; i-- {
		end := ends[i]
		if end < len(text) && !utf8.RuneStart(text[end]) {
			continue
		}
		// The start alone may be split in another way than within the text.
		if e.CountString(text[:end]) <= n {
			return text[:end]
		}
	}
	return ""
}

// tokenEnds returns the ends of the first n tokens of a text.
func (e *Encoding) tokenEnds(text []byte, n int) []int {
	s := e.scratch.Get().(*scratch)
	defer e.scratch.Put(s)
	var tokens []uint32
	for p := 0; p < len(text) && len(tokens) < n; {
		pieces, _ := e.split(text, p, &s.ends)
		for _, end := range s.ends[:pieces] {
			tokens = e.appendPiece(s, tokens, text[p:end])
			p = end
		}
	}
	ends := make([]int, 0, len(tokens))
	at := 0
	for _, t := range tokens[:max(0, min(n, len(tokens)))] {
		at += e.vocab.size(t)
		ends = append(ends, at)
	}
	return ends
}

// validBytes returns how many bytes of a text precede the first that is not UTF-8.
func validBytes(text string) int {
	if utf8.ValidString(text) {
		return len(text)
	}
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && size <= 1 {
			return i
		}
		i += size
	}
	return len(text)
}

// bytesOf returns the bytes of s. They must not be changed.
func bytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }
