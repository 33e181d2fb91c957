// Byte pair encoding of a piece: the two neighbours whose joint has the lowest rank
// become one, the leftmost of equals first, until no two neighbours have a joint.

package bpe

import "math/bits"

// fewUnits is the length up to which units are merged in two small arrays and one
// word, by looking at all pairs for each merge. For the few units that most pieces
// have, nothing cleverer is as fast; longer stretches go to window.go.
const fewUnits = 64

// A few is the room for merging up to fewUnits units.
type few struct {
	ids  [fewUnits]uint32 // token of the unit at i, if i is live
	rank [fewUnits]uint32 // joint of the unit at i and the next live one, <<6 | i
	live uint64           // a bit for each place that holds a unit
	last int              // the last place
}

const noRank = noToken << 6

// start begins with up to fewUnits units, at least one.
func (f *few) start(pairs *pairTable, units []uint32) {
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

// startWhole begins with k characters that u.read has read, at most fewUnits, all of
// which are units; see unitRoom.write. A unit's place is that of its first character.
func (f *few) startWhole(pairs *pairTable, u *unitRoom, k int) {
	for i := range (k + 15) &^ 15 {
		f.rank[i&63] = noRank
	}
	tokens, besides := u.tokens[:k], u.beside[:k]
	f.live, f.last = 0, k-1
	unit := pairs.nothing() // the one before i
	place := uint32(0)
	whole := false // it is more than a character
	before := apart
	for i := 0; i < k; i++ {
		beside := besides[i]
		token := tokens[i] & tokenMask
		rank := before.rank(jointShift)
		was := whole
		whole = false
		if tokens[i]&coupled != 0 {
			whole = true
			beside = besides[i+1]
		} else if joint := beside.rank(jointShift); joint < before.rank(leftShift) && tokens[i+1]&coupled == 0 {
			next := apart
			if i+1 < k {
				next = besides[i+1]
			}
			if joint <= next.rank(rightShift) {
				token, whole, beside = joint, true, next
			}
		}
		if (was || whole) && before&alive != 0 {
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

// step merges two neighbours. It returns false when none can be merged; then the
// live places hold the tokens.
func (f *few) step(pairs *pairTable) bool {
	best := lowest16(&f.rank, 0)
	for i := 16; i < f.last; i += 16 {
		best = min(best, lowest16(&f.rank, i))
	}
	if best >= noRank {
		return false
	}
	i, joint := best&63, best>>6
	above := f.live & (^uint64(1) << i) // live places right of i
	below := f.live &^ (^uint64(0) << i)
	gone := bits.TrailingZeros64(above)
	f.live &^= above & -above
	above &= above - 1
	f.ids[i] = joint
	f.rank[gone&63] = noRank
	// Without a neighbour the question is about noToken, which joins with nothing.
	right := f.ids[bits.TrailingZeros64(above)&63]
	if above == 0 {
		right = noToken
	}
	j := uint32(63 - bits.LeadingZeros64(below))
	left := f.ids[j&63]
	if below == 0 {
		left = pairs.nothing()
	}
	f.rank[i] = pairs.join(joint, right)<<6 | i
	f.rank[j&63] = pairs.join(left, joint)<<6 | j
	return true
}

// lowest16 returns the lowest of sixteen. It is a function of its own, and not
// inlined, because the compiler makes branches of min, which would be guessed wrong,
// where it sees that the result is used as an index.
//
//go:noinline
func lowest16(rank *[fewUnits]uint32, from int) uint32 {
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
			// There is no room for all. Go as far as the last place to cut, but not
			// behind the last character but one: what follows is not known to the last.
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
			for end-start < fewUnits && end < n {
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
			f := &s.few
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
