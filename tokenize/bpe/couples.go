// Dangerous neighbours that are put together all the same.

package bpe

import "unicode/utf8"

// A couple is a dangerous pair of neighbours that together are one token. Their parts
// may join across the place between them, but that is how this token is made: it is
// put together whole before anything joins it, as long as no part of it can be taken
// away by what stands around it. The question is the same as for a character, and so
// is the answer: see findDangers.
type couple struct {
	token  uint32
	before neighbourSet // characters that may take a part of it to the left
	after  neighbourSet // and to the right
}

// A neighbourSet is a set of characters or lead bytes. It may hold more than what was
// put in.
type neighbourSet uint64

const everyNeighbour = ^neighbourSet(0)

func (s neighbourSet) has(c rune) bool { return s>>neighbourBit(c)&1 != 0 }
func (s *neighbourSet) add(c rune)     { *s |= 1 << neighbourBit(c) }

func neighbourBit(c rune) uint { return uint(uint32(c) * 0x9E3779B1 >> 26) }

// leadOf is what stands for a lead byte in a neighbourSet.
func leadOf(lead byte) rune { return utf8.MaxRune + 1 + rune(lead) }

// fits tells whether a couple is one unit between the characters before and after
// it; -1 is none.
func (c *couple) fits(before, after rune) bool {
	return (before < 0 || !c.before.has(before)) &&
		(after < 0 || !c.after.has(after) && !c.after.has(leadOf(leadByte(after))))
}

// findCouples fills t.couples, and points to them from what is known about pairs.
func (t *charTable) findCouples(around *surroundings, about func(a, b rune) *neighbours) {
	v := around.vocab
	for id := uint32(byteTokens); id < uint32(v.len()); id++ {
		token := v.token(id)
		a, sizeA := utf8.DecodeRune(token)
		b, sizeB := utf8.DecodeRune(token[sizeA:])
		if sizeA+sizeB < len(token) || broken(a, sizeA) || broken(b, sizeB) {
			continue
		}
		pair := about(a, b)
		if *pair&danger == 0 {
			continue
		}
		c := couple{token: id}
		for right := range around.after(id) {
			if r, size := utf8.DecodeRune(right); !broken(r, size) {
				c.after.add(r)
			} else if utf8.RuneStart(right[0]) {
				c.after.add(leadOf(right[0]))
			}
		}
		for left := range around.before(id) {
			if r, size := utf8.DecodeLastRune(left); !broken(r, size) {
				c.before.add(r)
			} else {
				c.before = everyNeighbour
			}
		}
		*pair = *pair&^(noToken<<jointShift) | neighbours(len(t.couples))<<jointShift
		t.couples = append(t.couples, c)
	}
}
