// Conflicting pairs that are merged first all the same.

package bpe

import "unicode/utf8"

// A pairUnit is a conflicting pair of characters that together are one token. Their
// parts may merge across the border between them, but that is how this token is made:
// it is merged whole before anything merges with it, unless a neighbour can take a part
// of it away. The test is the same as for a character, see findConflicts.
type pairUnit struct {
	token  uint32
	before neighbourSet // characters that may take a part of it to the left
	after  neighbourSet // and to the right
}

// A neighbourSet is a set of characters and lead bytes. It may report others, too.
type neighbourSet uint64

const everyNeighbour = ^neighbourSet(0)

func (s neighbourSet) has(c rune) bool { return s>>neighbourBit(c)&1 != 0 }
func (s *neighbourSet) add(c rune)     { *s |= 1 << neighbourBit(c) }

func neighbourBit(c rune) uint { return uint(uint32(c) * 0x9E3779B1 >> 26) }

// leadOf returns the element of a neighbourSet for a lead byte.
func leadOf(lead byte) rune { return utf8.MaxRune + 1 + rune(lead) }

// fits reports whether the pair is one unit between the characters before and after it;
// -1 means none.
func (c *pairUnit) fits(before, after rune) bool {
	return (before < 0 || !c.before.has(before)) &&
		(after < 0 || !c.after.has(after) && !c.after.has(leadOf(leadByte(after))))
}

// findPairUnits fills t.pairUnits, and sets their indexes in what is known about pairs.
func (t *charTable) findPairUnits(rules *mergeRules, about func(a, b rune) *neighbours) {
	v := rules.vocab
	for id := uint32(byteTokens); id < uint32(v.len()); id++ {
		token := v.token(id)
		a, sizeA := utf8.DecodeRune(token)
		b, sizeB := utf8.DecodeRune(token[sizeA:])
		if sizeA+sizeB < len(token) || broken(a, sizeA) || broken(b, sizeB) {
			continue
		}
		pair := about(a, b)
		if *pair&conflict == 0 {
			continue
		}
		c := pairUnit{token: id}
		for right := range rules.after(id) {
			if r, size := utf8.DecodeRune(right); !broken(r, size) {
				c.after.add(r)
			} else if utf8.RuneStart(right[0]) {
				c.after.add(leadOf(right[0]))
			}
		}
		for left := range rules.before(id) {
			if r, size := utf8.DecodeLastRune(left); !broken(r, size) {
				c.before.add(r)
			} else {
				c.before = everyNeighbour
			}
		}
		*pair = *pair&^(noToken<<mergeShift) | neighbours(len(t.pairUnits))<<mergeShift
		t.pairUnits = append(t.pairUnits, c)
	}
}
