// Byte pair encoding of a piece: the two neighbours that merge into the token of the
// lowest rank become one, the leftmost of equals first, until no two neighbours merge.
// It takes time in proportion to the length of the piece, whatever that is.
//
// A client may send one word of four megabytes, so the plain method, which looks at
// all pairs for each merge, is used on windows of some hundred bytes that overlap, and
// looks at one pair of each sixteen. The tokens of the windows are joined by a fact published with GitHub's bpe crate
// (github.com/github/rust-gems, crates/bpe, README, corollaries I to III):
//
//   - a sequence of tokens is called valid when byte pair encoding of its text
//     returns it; every text has exactly one;
//   - every part of a valid sequence is valid;
//   - two valid sequences, of which the first ends with the very token (at the very
//     place) that the second starts with, make one valid sequence.
//
// So: merge a window; pick a token t of it that starts well before its end; merge the
// window that starts where t starts; if its first token is t, all before t is final,
// and the second window takes the place of the first. If it is not t, the end of the
// first window was too near to decide, and all windows are made again, twice as long.
// A window that reaches the end of the piece is final as a whole.
//
// A window of n bytes costs n²/16 steps at most and yields about seven eighths of it. No
// text is known for which many windows are too short.

package bpe

import (
	"slices"
	"unicode/utf8"
)

// firstWindow is the length of a window to begin with, in bytes: longer than any token
// by so much that nearly always the first is long enough.
const firstWindow = 4 * maxTokenBytes

// count returns the number of tokens of a piece.
func (m *merger) count(e *Encoding, piece []byte) (n int) {
	for size := firstWindow; ; size *= 2 {
		n = 0
		if m.merge(e, piece, size, func(tokens []uint32) { n += len(tokens) }) {
			return n
		}
	}
}

// merge calls found with the tokens of a piece, which it finds by windows of so many
// bytes. It returns false if they are too short.
func (m *merger) merge(e *Encoding, piece []byte, size int, found func([]uint32)) bool {
	for link := uint32(noToken); ; {
		end := min(size, len(piece))
		for end < len(piece) && !utf8.RuneStart(piece[end]) {
			end++
		}
		m.mergeWindow(e, piece[:end])
		if link != noToken && m.tokens[0] != link {
			return false
		}
		if end == len(piece) {
			found(m.tokens)
			return true
		}
		// The last token that starts in the first seven eighths of the window.
		last, at := 0, 0
		for at+len(e.vocab.token(m.tokens[last])) <= size*7/8 {
			at += len(e.vocab.token(m.tokens[last]))
			last++
		}
		if last == 0 {
			return false
		}
		found(m.tokens[:last])
		link, piece = m.tokens[last], piece[at:]
	}
}

// A merger merges stretches of text one after the other. Its units are bytes at first.
type merger struct {
	ids        []uint32 // of the units: what was merged so far
	next, prev []int32  // live neighbours; the last has next = number of units
	pairs      []uint64 // for each unit, the rank of its merge with the next one, and its place
	lowest     []uint64 // of each 16 pairs
	tokens     []uint32 // of the text that was merged last
}

// noPair is greater than every pair that merges.
const noPair = uint64(noToken) << 32

// mergeWindow sets m.tokens to those of a text.
func (m *merger) mergeWindow(e *Encoding, text []byte) {
	n := len(text)
	if len(m.ids) < n {
		m.ids, m.next, m.prev, m.pairs = make([]uint32, n), make([]int32, n), make([]int32, n), make([]uint64, (n+15)&^15)
	}
	ids, next, prev := m.ids[:n], m.next[:n], m.prev[:n]
	for i, c := range text {
		ids[i], next[i], prev[i] = e.byteToken[c], int32(i+1), int32(i-1)
	}
	pairs := m.pairs[:(n+15)&^15]
	for i := range pairs {
		pairs[i] = noPair
		if i+1 < n {
			pairs[i] = uint64(e.pairs.join(ids[i], ids[i+1]))<<32 | uint64(i)
		}
	}
	m.lowest = m.lowest[:0]
	for i := 0; i < n; i += 16 {
		m.lowest = append(m.lowest, min16(pairs[i:]))
	}
	set := func(i int, pair uint64) {
		pairs[i] = pair
		m.lowest[i/16] = min16(pairs[i&^15:])
	}
	for {
		best := slices.Min(m.lowest)
		if best >= noPair {
			break
		}
		i, merged := int(uint32(best)), uint32(best>>32)
		gone := next[i]
		right := int(next[gone])
		ids[i], next[i] = merged, int32(right)
		set(int(gone), noPair)
		if right < n {
			prev[right] = int32(i)
			set(i, uint64(e.pairs.join(merged, ids[right]))<<32|uint64(i))
		} else {
			set(i, noPair)
		}
		if left := int(prev[i]); left >= 0 {
			set(left, uint64(e.pairs.join(ids[left], merged))<<32|uint64(left))
		}
	}
	m.tokens = m.tokens[:0]
	for i := 0; i < n; i = int(next[i]) {
		m.tokens = append(m.tokens, ids[i])
	}
}

func min16(x []uint64) uint64 {
	_ = x[15]
	a := min(x[0], x[1], x[2], x[3])
	b := min(x[4], x[5], x[6], x[7])
	c := min(x[8], x[9], x[10], x[11])
	d := min(x[12], x[13], x[14], x[15])
	return min(a, b, c, d)
}
