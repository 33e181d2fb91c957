// An Encoding: text in, number of tokens out.

package bpe

import (
	"sync"
	"unicode/utf8"
)

// An Encoding counts the tokens of one vocabulary, exactly as OpenAI's
// tiktoken does with encode_ordinary: text that looks like a special token, such as
// <|endoftext|>, is ordinary text.
//
// Text should be valid UTF-8. In other text, every longest run of bytes that starts a
// character without finishing it, and every other invalid byte, counts as one U+FFFD,
// as in the WHATWG encoding standard, JavaScript's TextDecoder and Rust's
// from_utf8_lossy. Go's own conversions replace every byte by one U+FFFD.
//
// The methods take time in proportion to the length of the text, whatever the text, and
// may be called by many goroutines at once.
type Encoding struct {
	cl100k    bool // split like cl100k_base, not like o200k_base
	vocab     *vocab
	short     map[word]bool   // tokens of up to maxWord bytes
	long      map[string]bool // all others
	byteToken [256]uint32
	scratch   sync.Pool // of *scratch
}

var (
	// O200k returns the encoding of GPT-4o and later models, o200k_base. o200k_harmony
	// has the same tokens for ordinary text. The first call builds its tables.
	O200k = sync.OnceValue(func() *Encoding { return newEncoding(o200kMerges, false) })
	// Cl100k returns the encoding of GPT-4 and GPT-3.5, cl100k_base. The first call
	// builds its tables.
	Cl100k = sync.OnceValue(func() *Encoding { return newEncoding(cl100kMerges, true) })
)

func newEncoding(merges string, cl100k bool) *Encoding {
	readClasses()
	v := readVocab(merges)
	e := &Encoding{
		cl100k:  cl100k,
		vocab:   v,
		short:   make(map[word]bool, v.len()),
		long:    map[string]bool{},
		scratch: sync.Pool{New: func() any { return new(scratch) }},
	}
	for id := range uint32(byteTokens) {
		e.byteToken[v.token(id)[0]] = id
	}
	for id := range uint32(v.len()) {
		if token := v.token(id); len(token) > maxWord {
			e.long[string(token)] = true
		} else {
			e.short[wordAt(token, 0, len(token))] = true
		}
	}
	return e
}

// scratch is what one goroutine needs while it counts.
type scratch struct {
	words  [1 << wordBits]word
	merger merger
}

// Count returns the number of tokens of the text. It does not allocate, unless the text
// is not valid UTF-8.
func (e *Encoding) Count(text []byte) int {
	if !utf8.Valid(text) {
		text = repaired(text)
	}
	s := e.scratch.Get().(*scratch)
	total := 0
	e.split(text, func(p, end int) { total += e.countPiece(s, text, p, end) })
	e.scratch.Put(s)
	return total
}

// countPiece returns the number of tokens of text[p:end].
func (e *Encoding) countPiece(s *scratch, text []byte, p, end int) int {
	if end-p > maxWord {
		if e.long[string(text[p:end])] {
			return 1
		}
		return s.merger.count(e, text[p:end])
	}
	w := wordAt(text, p, end-p)
	known := &s.words[w.hash()>>(64-wordBits)]
	if known.first != w.first || known.rest&(1<<countShift-1) != w.rest {
		count := 1
		if !e.short[w] {
			count = s.merger.count(e, text[p:end])
		}
		*known = word{w.first, w.rest | uint64(count)<<countShift}
	}
	return int(known.rest >> countShift)
}

// repaired returns the text with U+FFFD in place of invalid bytes: one for the longest
// beginning of a character, or for one byte that begins none (Unicode 16.0, section 3.9,
// "Substitution of Maximal Subparts"; WHATWG encoding, UTF-8 decoder).
func repaired(text []byte) []byte {
	dst := make([]byte, 0, 3*len(text)) // at once: a client may send megabytes
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		if r == utf8.RuneError && size == 1 {
			for size = min(3, len(text)); size > 1 && utf8.FullRune(text[:size]); {
				size--
			}
		}
		dst = utf8.AppendRune(dst, r)
		text = text[size:]
	}
	return dst
}
