// Byte pair encoding of a piece: the two neighbours that merge into the token of the
// lowest rank become one, the leftmost of equals first, until no two neighbours merge.

package bpe

import "math/bits"

// smallUnits is the length in bytes up to which a piece is merged in two small arrays
// and one word, with a look at all pairs for each merge. For most pieces nothing
// cleverer is as fast. Longer ones are merged in window.go.
const smallUnits = 64

// A smallMerge is the state of merging up to smallUnits units.
type smallMerge struct {
	ids  [smallUnits]uint32 // token of the unit at i, if i is live
	rank [smallUnits]uint32 // of the merge of the unit at i with the next live one, <<6 | i
	live uint64             // a bit for each place that holds a unit
	last int                // the last place
}

const noRank = noToken << 6

// start begins with the bytes of a piece, one to smallUnits.
func (f *smallMerge) start(e *Encoding, piece []byte) {
	n := len(piece)
	for i := range (n + 15) &^ 15 {
		f.rank[i&63] = noRank
	}
	last := e.byteToken[piece[0]]
	f.ids[0] = last
	for i, c := range piece[1:] {
		id := e.byteToken[c]
		f.rank[i&63] = e.pairs.join(last, id)<<6 | uint32(i)
		f.ids[(i+1)&63] = id
		last = id
	}
	f.live = ^uint64(0) >> (64 - uint(n))
	f.last = n - 1
}

// step merges two neighbours. It returns false if none merge; then the live places have
// the tokens.
func (f *smallMerge) step(pairs *pairTable) bool {
	best := lowest16(&f.rank, 0)
	for i := 16; i < f.last; i += 16 {
		best = min(best, lowest16(&f.rank, i))
	}
	if best >= noRank {
		return false
	}
	i, merged := best&63, best>>6
	above := f.live & (^uint64(1) << i) // live places right of i
	below := f.live &^ (^uint64(0) << i)
	gone := bits.TrailingZeros64(above)
	f.live &^= above & -above
	above &= above - 1
	f.ids[i] = merged
	f.rank[gone&63] = noRank
	// Without a right neighbour it is noToken, which merges with nothing.
	right := f.ids[bits.TrailingZeros64(above)&63]
	if above == 0 {
		right = noToken
	}
	j := uint32(63 - bits.LeadingZeros64(below))
	left := f.ids[j&63]
	if below == 0 {
		left = pairs.nothing()
	}
	f.rank[i] = pairs.join(merged, right)<<6 | i
	f.rank[j&63] = pairs.join(left, merged)<<6 | j
	return true
}

// lowest16 returns the lowest of sixteen. It is a function of its own, and not
// inlined, because the compiler makes branches of min, which would be guessed wrong,
// where it sees that the result is used as an index.
//
//go:noinline
func lowest16(rank *[smallUnits]uint32, from int) uint32 {
	x := rank[from&48:][:16]
	a := min(x[0], x[1], x[2], x[3])
	b := min(x[4], x[5], x[6], x[7])
	c := min(x[8], x[9], x[10], x[11])
	d := min(x[12], x[13], x[14], x[15])
	return min(a, b, c, d)
}

// merge returns the number of tokens of a piece, and appends them to dst if keep is
// set.
func (s *scratch) merge(e *Encoding, piece []byte, dst []uint32, keep bool) (int, []uint32) {
	if len(piece) > smallUnits {
		return e.mergeLong(piece, dst, keep)
	}
	f := &s.small
	f.start(e, piece)
	for f.step(e.pairs) {
	}
	for live := f.live; keep && live != 0; live &= live - 1 {
		dst = append(dst, f.ids[bits.TrailingZeros64(live)])
	}
	return bits.OnesCount64(f.live), dst
}
