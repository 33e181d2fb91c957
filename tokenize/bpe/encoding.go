// An Encoding: text in, number of tokens or the tokens themselves out.

package bpe

import (
	"sync"
	"unicode/utf8"
	"unsafe"
)

// An Encoding counts and returns the tokens of one vocabulary, exactly as OpenAI's
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
	name      string
	cl100k    bool // split like cl100k_base, not like o200k_base
	vocab     *vocab
	pieces    *pieceTable
	pairs     *pairTable
	byteToken [256]uint32
	scratch   sync.Pool // of *scratch
}

// O200k returns the encoding of GPT-4o and later models, o200k_base. o200k_harmony
// has the same tokens for ordinary text. The first call builds its tables.
func O200k() *Encoding { return o200k() }

// Cl100k returns the encoding of GPT-4 and GPT-3.5, cl100k_base. The first call
// builds its tables.
func Cl100k() *Encoding { return cl100k() }

var (
	o200k  = sync.OnceValue(func() *Encoding { return newEncoding("o200k_base", o200kMerges, false) })
	cl100k = sync.OnceValue(func() *Encoding { return newEncoding("cl100k_base", cl100kMerges, true) })
)

func newEncoding(name, merges string, cl100k bool) *Encoding {
	fillClasses()
	v := readVocab(merges)
	e := &Encoding{
		name:    name,
		cl100k:  cl100k,
		vocab:   v,
		pieces:  newPieceTable(v),
		pairs:   newPairTable(v),
		scratch: sync.Pool{New: func() any { return newScratch() }},
	}
	for id := range uint32(byteTokens) {
		e.byteToken[v.token(id)[0]] = id
	}
	return e
}

// Name returns the name of the encoding: "o200k_base" (of o200k_harmony, too) or "cl100k_base".
func (e *Encoding) Name() string { return e.name }

// Count returns the number of tokens of the text. It does not allocate.
func (e *Encoding) Count(text []byte) int {
	n, ok := e.count(text)
	if !ok {
		n = e.countRepaired(text)
	}
	return n
}

// CountString is Count for a string.
func (e *Encoding) CountString(text string) int {
	// Count only reads, so the string's own bytes can serve.
	return e.Count(unsafe.Slice(unsafe.StringData(text), len(text)))
}

// AppendTokens appends the tokens of the text to dst.
func (e *Encoding) AppendTokens(dst []uint32, text []byte) []uint32 {
	if !utf8.Valid(text) {
		text = appendRepaired(nil, text)
	}
	s := e.scratch.Get().(*scratch)
	for p := 0; p < len(text); {
		n, _ := e.split(text, p, &s.ends)
		for _, end := range s.ends[:n] {
			dst = e.appendPiece(s, dst, text[p:end])
			p = end
		}
	}
	e.scratch.Put(s)
	return dst
}

func (e *Encoding) appendPiece(s *scratch, dst []uint32, piece []byte) []uint32 {
	if token, ok := e.pieces.find(piece); ok {
		return append(dst, token)
	}
	_, dst = s.merge(e, piece, dst, true)
	return dst
}

// count returns the number of tokens, or false if the text is not UTF-8.
func (e *Encoding) count(text []byte) (int, bool) {
	s := e.scratch.Get().(*scratch)
	total := 0
	for p := 0; p < len(text); {
		n, ok := e.split(text, p, &s.ends)
		if !ok {
			e.scratch.Put(s)
			return 0, false
		}
		total += s.countPieces(e, text, p, n)
		p = s.ends[n-1]
	}
	e.scratch.Put(s)
	return total, true
}
