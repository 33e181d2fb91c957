// An Encoding: text in, number of tokens or the tokens themselves out.

package bpe

import (
	"sync"
	"unicode/utf8"
	"unsafe"
)

// An Encoding counts and makes the tokens of one vocabulary, exactly as OpenAI's
// tiktoken does with encode_ordinary: text that looks like a special token, such as
// <|endoftext|>, is ordinary text.
//
// Text should be valid UTF-8. Where it is not, every longest run of bytes that could
// start a character but does not finish one, and every other byte that cannot stand
// where it stands, counts as one U+FFFD. That is what the WHATWG encoding standard,
// JavaScript's TextDecoder and Rust's from_utf8_lossy make of such bytes; Go's own
// conversions make one U+FFFD of every byte.
//
// Its methods take time in proportion to the length of the text, whatever the text,
// and may be used by many goroutines at once.
type Encoding struct {
	name    string
	cl100k  bool // how to split; o200k otherwise
	vocab   *vocab
	pieces  *pieceTable
	pairs   *pairTable
	chars   *charTable
	scratch sync.Pool // of *scratch
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

// encodings are the exact encodings by name. o200k_harmony, the encoding of gpt-oss, differs from o200k_base in
// its special tokens alone.
var encodings = []struct {
	name string
	get  func() *Encoding
}{
	{"o200k_base", O200k},
	{"o200k_harmony", O200k},
	{"cl100k_base", Cl100k},
}

// EncodingNamed returns the encoding of that name: "o200k_base", "o200k_harmony" or "cl100k_base". The first call
// for an encoding builds its tables; an unknown name costs nothing.
func EncodingNamed(name string) (e *Encoding, ok bool) {
	for _, row := range encodings {
		if row.name == name {
			return row.get(), true
		}
	}
	return nil, false
}

// EncodingNames lists the names that [EncodingNamed] knows.
func EncodingNames() []string {
	names := make([]string, len(encodings))
	for i, row := range encodings {
		names[i] = row.name
	}
	return names
}

func newEncoding(name, merges string, cl100k bool) *Encoding {
	fillClasses()
	v := readVocab(merges)
	around := newSurroundings(v)
	return &Encoding{
		name:    name,
		cl100k:  cl100k,
		vocab:   v,
		pieces:  newPieceTable(v),
		pairs:   newPairTable(around),
		chars:   newCharTable(around),
		scratch: sync.Pool{New: func() any { return newScratch() }},
	}
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
