// Byte pair encoding of a piece: the two neighbours that merge into the token of the
// lowest rank become one, the leftmost of equals first, until no two neighbours merge.

package bpe

import "math/bits"

// smallUnits is the length up to which units are merged in two small arrays and one
// word, with a look at all pairs for each merge. For the number of units in most pieces
// nothing cleverer is as fast. Longer stretches are merged in window.go.
const smallUnits = 64

// A smallMerge is the state of merging up to smallUnits units.
type smallMerge struct {
	ids  [smallUnits]uint32 // token of the unit at i, if i is live
	rank [smallUnits]uint32 // of the merge of the unit at i with the next live one, <<6 | i
	live uint64             // a bit for each place that holds a unit
	last int                // the last place
}

const noRank = noToken << 6

// start begins with one to smallUnits units.
func (f *smallMerge) start(pairs *pairTable, units []uint32) {
	n := len(units)
	for i := range (n + 15) &^ 15 {
		f.rank[i&63] = noRank
	}
	for i, id := range units {
		f.ids[i&63] = id &^ cutAfter
		if id&cutAfter == 0 {
			f.rank[i&63] = pairs.join(id, units[i+1]&^cutAfter)<<6 | uint32(i)
		}
	}
	f.live = ^uint64(0) >> (64 - uint(n))
	f.last = n - 1
}

// startWhole begins with k characters that u.read has read, at most smallUnits, all of
// which are units; see unitBuffer.write. A unit's place is that of its first character.
func (f *smallMerge) startWhole(pairs *pairTable, u *unitBuffer, k int) {
	for i := range (k + 15) &^ 15 {
		f.rank[i&63] = noRank
	}
	tokens, besides := u.tokens[:k], u.beside[:k]
	f.live, f.last = 0, k-1
	unit := pairs.nothing() // before i
	place := uint32(0)
	whole := false // unit is more than a character
	before := unrelated
	for i := 0; i < k; i++ {
		beside := besides[i]
		token := tokens[i] & tokenMask
		rank := before.rank(mergeShift)
		was := whole
		whole = false
		if tokens[i]&pairUnitStart != 0 {
			whole = true
			beside = besides[i+1]
		} else if merged := beside.rank(mergeShift); merged < before.rank(leftShift) && tokens[i+1]&pairUnitStart == 0 {
			next := unrelated
			if i+1 < k {
				next = besides[i+1]
			}
			if merged <= next.rank(rightShift) {
				token, whole, beside = merged, true, next
			}
		}
		if (was || whole) && before&related != 0 {
			rank = pairs.join(unit, token)
		}
		f.rank[place&63] = rank<<6 | place
		f.ids[i&63] = token
		f.live |= 1 << uint(i)
		unit, place, before = token, uint32(i), beside
		if whole {
			i++
		}
	}
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
	u := &s.units
	count := 0
	for {
		k := u.read(e.chars, piece)
		more := int(u.at[k]) < len(piece)
		if more {
			// The buffer is full. Go up to the last place to cut, but not past the last
			// character but one, because the neighbour of the last is not read yet.
			for k -= 2; k > 0 && !u.cut(k-1); k-- {
			}
			if k == 0 {
				n, dst := e.mergeLong(piece, dst, keep)
				return count + n, dst
			}
		}
		n := u.write(e.chars, piece, k)
		for start := 0; start < n; {
			end := start + 1
			for end-start < smallUnits && end < n {
				end++
			}
			for u.ids[end-1]&cutAfter == 0 {
				if end--; end == start {
					at := 0
					for _, id := range u.ids[:start] {
						at += e.vocab.size(id &^ cutAfter)
					}
					n, dst := e.mergeLong(piece[at:], dst, keep)
					return count + n, dst
				}
			}
			f := &s.small
			f.start(e.pairs, u.ids[start:end])
			for f.step(e.pairs) {
			}
			count += bits.OnesCount64(f.live)
			for live := f.live; keep && live != 0; live &= live - 1 {
				dst = append(dst, f.ids[bits.TrailingZeros64(live)])
			}
			start = end
		}
		if !more {
			return count, dst
		}
		piece = piece[u.at[k]:]
	}
}
