// Sixty-four bytes at a time.
//
// Cutting piece by piece makes the processor predict branches, and wrong predictions
// cost more than the work. So the kinds of 64 bytes are gathered into words, one bit per
// byte, and the starts of all pieces are computed at once.
//
// This is for ASCII: a block ends before anything else.

package bpe

import (
	"encoding/binary"
	"math/bits"
)

// The kinds of ASCII bytes, as numbers of the lanes of laneOf. All others are digits.
const (
	laneLower = iota
	laneUpper
	laneSpace
	laneTab // \t \v \f
	laneNewline
	laneSign
	laneQuote // ' is a sign, too
	laneSlash // / is a sign, too
)

// laneOf has, for each byte, bit 0 of its lanes set: lane k is bits 8k to 8k+7.
var laneOf = func() (t [256]uint64) {
	for c := range 0x80 {
		var lane int
		switch {
		case 'a' <= c && c <= 'z':
			lane = laneLower
		case 'A' <= c && c <= 'Z':
			lane = laneUpper
		case '0' <= c && c <= '9':
			continue
		case c == ' ':
			lane = laneSpace
		case c == '\r' || c == '\n':
			lane = laneNewline
		case '\t' <= c && c <= '\f':
			lane = laneTab
		default:
			lane = laneSign
		}
		t[c] |= 1 << (8 * lane)
	}
	t['\''] |= 1 << (8 * laneQuote)
	t['/'] |= 1 << (8 * laneSlash)
	return t
}()

// kinds has the bytes of each kind in a block, a bit each, the first lowest.
type kinds struct {
	lower, upper, space, tab, newline, sign, quote, slash uint64
}

// read finds the kinds of all ASCII bytes. It is unrolled so that everything stays in
// registers; a loop over an array takes twice the time.
func (b *kinds) read(text *[64]byte) {
	x0 := lanes(text[0:8])
	x1 := lanes(text[8:16])
	x2 := lanes(text[16:24])
	x3 := lanes(text[24:32])
	x4 := lanes(text[32:40])
	x5 := lanes(text[40:48])
	x6 := lanes(text[48:56])
	x7 := lanes(text[56:64])
	// Transpose the square of 8 by 8 bytes.
	const (
		half    = 0x00000000FFFFFFFF
		quarter = 0x0000FFFF0000FFFF
		eighth  = 0x00FF00FF00FF00FF
	)
	x0, x4 = swap(x0, x4, 32, half)
	x1, x5 = swap(x1, x5, 32, half)
	x2, x6 = swap(x2, x6, 32, half)
	x3, x7 = swap(x3, x7, 32, half)
	x0, x2 = swap(x0, x2, 16, quarter)
	x1, x3 = swap(x1, x3, 16, quarter)
	x4, x6 = swap(x4, x6, 16, quarter)
	x5, x7 = swap(x5, x7, 16, quarter)
	x0, x1 = swap(x0, x1, 8, eighth)
	x2, x3 = swap(x2, x3, 8, eighth)
	x4, x5 = swap(x4, x5, 8, eighth)
	x6, x7 = swap(x6, x7, 8, eighth)
	b.lower, b.upper, b.space, b.tab = x0, x1, x2, x3
	b.newline, b.sign, b.quote, b.slash = x4, x5, x6, x7
}

// lanes has the lanes of eight bytes, byte k of bits for lane k.
func lanes(c []byte) uint64 {
	_ = c[7]
	return laneOf[c[0]] | laneOf[c[1]]<<1 | laneOf[c[2]]<<2 | laneOf[c[3]]<<3 |
		laneOf[c[4]]<<4 | laneOf[c[5]]<<5 | laneOf[c[6]]<<6 | laneOf[c[7]]<<7
}

// swap exchanges the bits of a under the mask, shifted, with those of b under it.
func swap(a, b uint64, shift uint, mask uint64) (uint64, uint64) {
	t := (a>>shift ^ b) & mask
	return a ^ t<<shift, b ^ t
}

// highBits has the top bit of each byte: those that are not ASCII.
const highBits = 0x8080808080808080

// shortestBlock is the least number of bytes that hold for which a whole block pays.
const shortestBlock = 24

// blockStarts returns the starts of pieces in the block at the beginning of the text,
// as far as they are known without looking piece by piece; 0 if none is.
func (e *Encoding) blockStarts(text []byte) uint64 {
	if len(text) < 64 {
		return 0
	}
	at := (*[64]byte)(text)
	limit := 64
	for i := 0; i < 64; i += 8 {
		if w := binary.LittleEndian.Uint64(at[i:]) & highBits; w != 0 {
			if limit = i + bits.TrailingZeros64(w)/8; limit < shortestBlock {
				return 0
			}
			break
		}
	}
	var b kinds
	b.read(at)
	return b.starts(text, limit, e.cl100k)
}

// starts returns where pieces start in the first limit bytes of the block, without
// place 0, which must be a start. It leaves out places that depend on what follows the
// block, and all from the rare place where the computation does not hold. text is the
// text from place 0 on.
func (b *kinds) starts(text []byte, limit int, cl100k bool) uint64 {
	letter := b.lower | b.upper
	blank := b.space | b.tab
	white := blank | b.newline
	sign := b.sign
	digit := ^(letter | white | sign)

	// Signs take the newlines that follow them, in o200k slashes among those too:
	// from every newline behind a sign, let it flow on as far as there are more.
	tail := b.newline
	if !cl100k {
		tail |= b.slash
	}
	seed := b.newline & (sign << 1)
	taken := tail&^(tail+seed) | seed
	sign &^= taken
	white &^= taken

	// Signs: where a run starts, or at the space before. A single one with no space
	// before belongs to the word behind it.
	run := sign &^ (sign << 1)
	glued := run & (b.space << 1)
	before := run &^ glued &^ (sign >> 1) & (letter >> 1)
	starts := run &^ glued

	// Words: where letters start, if neither a sign nor a blank belongs to them, and
	// where a capital follows a small letter.
	starts |= letter &^ (letter << 1) &^ (blank << 1) &^ (before << 1)
	if !cl100k {
		starts |= b.upper & (b.lower << 1)
	}

	// Numbers: three by three.
	group := digit &^ (digit << 1)
	for third := digit & (digit << 1) & (digit << 2); group != 0; group = group << 3 & third {
		starts |= group
	}

	// White space: where a run starts, behind its newlines, and its last blank. That
	// is wrong if newlines follow blanks, so the run where they do is the end.
	space := white &^ (white << 1)
	starts |= space | blank&(b.newline<<1) | blank&^(white>>1)
	end := limit - 1 // places from here on are left out
	if hard := blank&(b.newline>>1) | white&(1<<uint(limit-1)); hard != 0 {
		at := bits.TrailingZeros64(hard)
		end = min(end, bits.Len64(space<<uint(63-at))+at-63)
	}

	// Contractions.
	quote := b.quote & (letter << 1)
	if cl100k {
		quote = b.quote & before
	}
	for last := -1; quote != 0; quote &= quote - 1 {
		at := bits.TrailingZeros64(quote)
		if at+3 >= limit {
			end = min(end, at)
			break
		}
		if at == last && !cl100k {
			continue // a word takes only one
		}
		n := contraction(text, at)
		if n == 0 {
			continue
		}
		last = at + n
		if !cl100k {
			starts &^= 1 << uint(at)
		}
		starts = starts&^((1<<uint(n)-2)<<uint(at)) | letter&(1<<uint(last))
	}
	return starts & (1<<uint(end) - 1) &^ 1
}
