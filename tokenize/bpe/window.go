// Byte pair encoding of pieces of any length, in time that grows with the length
// and no faster.
//
// A client may send one word of four megabytes, so the plain method, which looks at
// all pairs for each merge, is not an option, and one merge over the whole piece
// would need twenty times its memory. Instead the piece is merged in windows that
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
// first window was too near to decide, and both are made twice as long. If a longer
// window no longer starts with the token that links it to the final ones, all windows
// are made again, twice as long. A window that reaches the end of the piece
// is final as a whole.
//
// A window of n bytes costs O(n log n) and yields about seven eighths of it, and
// doubling at most doubles the sum. No text is known for which a first window is too
// short; if one were, starting again log n times would still be the worst.
//
// Long repetitions, such as rules of dashes or a file of blanks, are common enough to
// be worth a shortcut: when the text that follows repeats what the window just read,
// the next windows would find the same tokens again, and are counted without being
// merged.

package bpe

import (
	"encoding/binary"
	"math/bits"
	"sync"
	"unicode/utf8"
)

// firstWindow is the length of a window to begin with, in bytes: several times
// maxTokenBytes, so that nearly always the first is long enough.
const firstWindow = 8 * maxTokenBytes

// A window is the state of merging one stretch of a piece.
type window struct {
	start, end int      // the stretch
	tokens     []uint32 // its tokens

	ids        []uint32 // of the units: what was merged so far, bytes at first
	next, prev []int32  // live neighbours; the last has next = number of units
	lowest     minTree
}

// windows are the two windows that a long piece needs; they are reused.
type windows struct{ a, b window }

var windowPool = sync.Pool{New: func() any { return new(windows) }}

// mergeLong merges a piece of any length. It returns the number of its tokens, and
// appends them to dst if keep is set.
func (e *Encoding) mergeLong(piece []byte, dst []uint32, keep bool) (int, []uint32) {
	before := len(dst)
	for first := firstWindow; ; first *= 2 {
		count, dst, ok := e.mergeWindows(piece, first, dst[:before], keep)
		if ok {
			return count, dst
		}
	}
}

// mergeWindows is mergeLong with windows of so many bytes to begin with, as long as
// they may have to be. It returns false if that does not lead to a result.
func (e *Encoding) mergeWindows(piece []byte, first int, dst []uint32, keep bool) (int, []uint32, bool) {
	w := windowPool.Get().(*windows)
	defer func() {
		w.a.trim()
		w.b.trim()
		windowPool.Put(w)
	}()
	now, then := &w.a, &w.b
	count, size := 0, first
	now.merge(e, piece, 0, size)
	for now.end < len(piece) {
		// The last token that starts in the first seven eighths of the window.
		i, at := 0, 0
		for {
			next := at + e.vocab.size(now.tokens[i])
			if next > size*7/8 {
				break
			}
			i, at = i+1, next
		}
		if i > 0 {
			then.merge(e, piece, now.start+at, size)
		}
		if i == 0 || then.tokens[0] != now.tokens[i] {
			size *= 2
			link := now.tokens[0]
			now.merge(e, piece, now.start, size)
			if now.start > 0 && now.tokens[0] != link {
				return 0, dst, false // what is before rests on it
			}
			continue
		}
		// How often is the text of this window repeated here, at steps of at?
		again := (samePrefix(piece[now.start:], piece[now.start+at:]) + at - (now.end - now.start)) / at
		final := now.tokens[:i]
		count += i * max(again, 1)
		if keep {
			for range max(again, 1) {
				dst = append(dst, final...)
			}
		}
		if again > 0 {
			now.start += again * at
			now.end += again * at
		} else {
			now, then = then, now
		}
		size = first
	}
	if keep {
		dst = append(dst, now.tokens...)
	}
	count += len(now.tokens)
	return count, dst, true
}

// samePrefix returns the length of the longest common prefix; b is a tail of a.
func samePrefix(a, b []byte) int {
	n := 0
	for n+8 <= len(b) {
		if x := binary.LittleEndian.Uint64(a[n:]) ^ binary.LittleEndian.Uint64(b[n:]); x != 0 {
			return n + bits.TrailingZeros64(x)/8
		}
		n += 8
	}
	for n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// merge fills w.tokens with the tokens of the piece from start on, of so many bytes and
// up to three more that end a character.
func (w *window) merge(e *Encoding, piece []byte, start, size int) {
	w.start, w.end = start, len(piece)
	if size < len(piece)-start {
		w.end = start + size
		for w.end < len(piece) && !utf8.RuneStart(piece[w.end]) {
			w.end++
		}
	}
	text := piece[w.start:w.end]
	n := len(text)
	if len(w.ids) < n {
		w.ids, w.next, w.prev = make([]uint32, n), make([]int32, n), make([]int32, n)
	}
	ids, next, prev := w.ids[:n], w.next[:n], w.prev[:n]
	for i, c := range text {
		ids[i], next[i], prev[i] = e.byteToken[c], int32(i+1), int32(i-1)
	}
	lowest := &w.lowest
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
			lowest.set(gone, ranked(noToken, 0))
		}
		if right < n {
			prev[right] = int32(i)
			lowest.set(i, ranked(e.pairs.join(merged, ids[right]), i))
		} else {
			lowest.set(i, ranked(noToken, 0))
		}
		if left := int(prev[i]); left >= 0 {
			lowest.set(left, ranked(e.pairs.join(ids[left], merged), left))
		}
	}
	w.tokens = w.tokens[:0]
	for i := 0; i < n; i = int(next[i]) {
		w.tokens = append(w.tokens, ids[i])
	}
}

// trim releases the memory of an unusually large window.
func (w *window) trim() {
	if len(w.next) > 16*firstWindow {
		*w = window{}
	}
}

// ranked returns a number that orders pairs by the rank of their merge, then from left
// to right.
func ranked(merged uint32, i int) uint64 { return uint64(merged)<<32 | uint64(uint32(i)) }

// minTree finds the lowest of many numbers, some of which change. It is a tree with
// sixteen branches at each node: levels[0] are the numbers, levels[k+1][i] is the lowest
// of levels[k][16i:16i+16], and the last level is one number. A change costs one look at sixteen neighbours per level, without the
// unpredictable branch that a heap has at each step.
type minTree struct{ levels [][]uint64 }

const highest = uint64(noToken) << 32

// reset makes room for n numbers, all of them highest.
func (l *minTree) reset(n int) {
	l.levels = l.levels[:cap(l.levels)]
	for k := 0; ; k++ {
		if k == len(l.levels) {
			l.levels = append(l.levels, nil)
		}
		room := n
		if n > 1 {
			room = (n + 15) &^ 15
		}
		room = max(room, 1)
		if cap(l.levels[k]) < room {
			l.levels[k] = make([]uint64, room)
		}
		level := l.levels[k][:room]
		for i := range level {
			level[i] = highest
		}
		l.levels[k] = level
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
		for i := range l.levels[k-1] {
			if i%16 == 0 {
				l.levels[k][i/16] = min16(l.levels[k-1][i : i+16])
			}
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
		low := min16(l.levels[k-1][16*i : 16*i+16])
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
