// Byte pair encoding of a piece: the two neighbours that merge into the token of the
// lowest rank become one, the leftmost of equals first, until no two neighbours merge.
// It takes time in proportion to the length of the piece, whatever that is.
//
// A client may send one word of four megabytes, so the plain method, which looks at
// all pairs for each merge, is not an option, and one merge over the whole piece
// would need twenty times its memory. Instead a long piece is merged in windows that
// overlap, and their tokens are joined by a fact published with GitHub's bpe crate
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
// A window of n bytes costs O(n log n) and yields about seven eighths of it. No text is
// known for which a first window is too short; starting again log n times would still
// be the worst.

package bpe

import "unicode/utf8"

// firstWindow is the length of a window to begin with, in bytes: several times
// maxTokenBytes, so that nearly always the first is long enough.
const firstWindow = 8 * maxTokenBytes

// count returns the number of tokens of a piece.
func (m *merger) count(e *Encoding, piece []byte) (n int) {
	for size := firstWindow; ; size *= 2 {
		n = 0
		if m.merge(e, piece, size, func(tokens []uint32) { n += len(tokens) }) {
			return n
		}
	}
}

// appendTokens appends the tokens of a piece to dst.
func (m *merger) appendTokens(e *Encoding, dst []uint32, piece []byte) []uint32 {
	before := len(dst)
	for size := firstWindow; ; size *= 2 {
		dst = dst[:before]
		if m.merge(e, piece, size, func(tokens []uint32) { dst = append(dst, tokens...) }) {
			return dst
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
		for at+e.vocab.size(m.tokens[last]) <= size*7/8 {
			at += e.vocab.size(m.tokens[last])
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
	lowest     minTree
	tokens     []uint32 // of the text that was merged last
}

// mergeWindow sets m.tokens to those of a text.
func (m *merger) mergeWindow(e *Encoding, text []byte) {
	n := len(text)
	if len(m.ids) < n {
		m.ids, m.next, m.prev = make([]uint32, max(64, n)), make([]int32, max(64, n)), make([]int32, max(64, n))
	}
	ids, next, prev := m.ids[:n], m.next[:n], m.prev[:n]
	for i, c := range text {
		ids[i], next[i], prev[i] = e.byteToken[c], int32(i+1), int32(i-1)
	}
	lowest := &m.lowest
	lowest.reset(n - 1)
	for i := range n - 1 {
		lowest.levels[0][i] = ranked(e.pairs.join(ids[i], ids[i+1]), i)
	}
	lowest.fill()
	for {
		best := lowest.get()
		merged := uint32(best >> 32)
		if merged == noToken {
			break
		}
		i := int(uint32(best))
		gone := int(next[i])
		right := int(next[gone])
		ids[i], next[i] = merged, int32(right)
		if gone < n-1 {
			lowest.set(gone, highest)
		}
		if right < n {
			prev[right] = int32(i)
			lowest.set(i, ranked(e.pairs.join(merged, ids[right]), i))
		} else {
			lowest.set(i, highest)
		}
		if left := int(prev[i]); left >= 0 {
			lowest.set(left, ranked(e.pairs.join(ids[left], merged), left))
		}
	}
	m.tokens = m.tokens[:0]
	for i := 0; i < n; i = int(next[i]) {
		m.tokens = append(m.tokens, ids[i])
	}
}

// ranked returns a number that orders pairs by the rank of their merge, then from left
// to right.
func ranked(merged uint32, i int) uint64 { return uint64(merged)<<32 | uint64(uint32(i)) }

// minTree finds the lowest of many numbers, some of which change. It is a tree with
// sixteen branches at each node: levels[0] are the numbers, levels[k+1][i] is the lowest
// of levels[k][16i:16i+16], and the last level is one number. A change costs one look at
// sixteen neighbours per level, without the unpredictable branch that a heap has at each
// step.
type minTree struct{ levels [][]uint64 }

const highest = uint64(noToken) << 32

// reset makes room for n numbers, all of them highest.
func (l *minTree) reset(n int) {
	l.levels = l.levels[:cap(l.levels)]
	for k := 0; ; k++ {
		room := 1
		if n > 1 {
			room = (n + 15) &^ 15
		}
		if k == len(l.levels) {
			l.levels = append(l.levels, nil)
		}
		if cap(l.levels[k]) < room {
			l.levels[k] = make([]uint64, room)
		}
		l.levels[k] = l.levels[k][:room]
		for i := range l.levels[k] {
			l.levels[k][i] = highest
		}
		if room == 1 {
			l.levels = l.levels[:k+1]
			return
		}
		n = room / 16
	}
}

// fill computes all levels from the first.
func (l *minTree) fill() {
	for k := 1; k < len(l.levels); k++ {
		for i := 0; i < len(l.levels[k-1]); i += 16 {
			l.levels[k][i/16] = min16(l.levels[k-1][i:])
		}
	}
}

// get returns the lowest number.
func (l *minTree) get() uint64 { return l.levels[len(l.levels)-1][0] }

// set changes number i.
func (l *minTree) set(i int, x uint64) {
	l.levels[0][i] = x
	for k := 1; k < len(l.levels); k++ {
		i >>= 4
		low := min16(l.levels[k-1][16*i:])
		if l.levels[k][i] == low {
			return
		}
		l.levels[k][i] = low
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
