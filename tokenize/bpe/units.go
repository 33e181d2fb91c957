// The units that merging starts from.

package bpe

import "unicode/utf8"

// unitBuffer has the units of a stretch of text.
type unitBuffer struct {
	chars  []rune       // the characters; for a part of one, the byte + loosePart
	at     []int32      // the start of each, and the end of the last
	tokens []uint32     // the tokens and flags of the characters, see charTable
	beside []neighbours // of each character and the next

	ids []uint32 // the units: tokens, with cutAfter

	whole bool // all characters are units, or parts of pair units
}

const (
	// cutAfter is set on a unit if neither it nor anything it becomes part of merges
	// with the next unit. The last unit has it.
	cutAfter = 1 << 31

	loosePart = utf8.MaxRune + 1
)

// grow makes room for n characters.
func (u *unitBuffer) grow(n int) {
	if len(u.chars) < n {
		u.chars = make([]rune, n)
		u.at = make([]int32, n+1)
		u.tokens = make([]uint32, n)
		u.beside = make([]neighbours, n)
		u.ids = make([]uint32, n+3*min(n, smallUnits))
	}
}

// read reads as many characters of the text as the buffer holds, and returns how many.
// The text is valid UTF-8, except that it may start inside a character.
func (u *unitBuffer) read(t *charTable, text []byte) int {
	k, i := 0, 0
	var flags uint32
	for ; i < len(text) && k < len(u.chars); k++ {
		u.at[k] = int32(i)
		c := text[i]
		r := rune(c)
		token := uint32(notUnit)
		switch {
		case c < 0x80:
			token = t.chars[c].token
			i++
		case c < 0xC0:
			r += loosePart
			i++
		case c < 0xE0:
			r = rune(c&0x1F)<<6 | rune(text[i+1]&0x3F)
			token = t.chars[r].token
			i += 2
		case c < 0xF0:
			b := text[i+1 : i+3]
			r = rune(c&0x0F)<<12 | rune(b[0]&0x3F)<<6 | rune(b[1]&0x3F)
			token = t.chars[r].token
			i += 3
		default:
			b := text[i+1 : i+4]
			r = rune(c&0x07)<<18 | rune(b[0]&0x3F)<<12 | rune(b[1]&0x3F)<<6 | rune(b[2]&0x3F)
			i += 4
		}
		u.chars[k], u.tokens[k] = r, token
		flags |= token
	}
	u.at[k] = int32(i)
	var all neighbours
	for i, b := range u.chars[1:k] {
		n := unrelated
		if a := u.chars[i]; a|b < 0x10000 {
			n = t.neighbours(a, b)
		}
		u.beside[i] = n
		all |= n
	}
	u.beside[k-1] = unrelated
	u.whole = flags&notUnit == 0
	if all&conflict != 0 || flags&leadConflict != 0 {
		u.breakUp(t, k)
		u.whole = u.pairUnit(t, k)
	}
	return k
}

// readASCII does the part of read that startWhole needs, for up to smallUnits bytes. It
// returns false if not all of them are ASCII.
func (u *unitBuffer) readASCII(t *charTable, text []byte) bool {
	n := len(text)
	tokens, beside := u.tokens[:n], u.beside[:n]
	all := text[0]
	last := text[0]
	tokens[0] = t.byteToken[last]
	for i, c := range text[1:] {
		all |= c
		tokens[i+1] = t.byteToken[c]
		beside[i] = t.ascii[(uint(last)<<7|uint(c))&(1<<14-1)]
		last = c
	}
	beside[n-1] = unrelated
	return all < 0x80
}

// breakUp makes characters with conflicting neighbours start as bytes.
func (u *unitBuffer) breakUp(t *charTable, k int) {
	for i := range k - 1 {
		a, b := u.chars[i], u.chars[i+1]
		switch {
		case u.beside[i]&conflict != 0:
			if a >= utf8.RuneSelf {
				u.tokens[i] |= notUnit
			}
			if b >= utf8.RuneSelf {
				u.tokens[i+1] |= notUnit
			}
		case u.tokens[i]&leadConflict != 0 && t.leadConflicts(a, leadByte(b)):
			u.tokens[i] |= notUnit
		}
	}
}

// pairUnit merges the conflicting pairs that are one unit all the same. It reports
// whether no character is left that starts as bytes.
func (u *unitBuffer) pairUnit(t *charTable, k int) bool {
	var flags uint32
	for i := 0; i < k; i++ {
		if u.beside[i]&conflict != 0 && u.beside[i].rank(mergeShift) != noToken {
			before, after := rune(-1), rune(-1)
			if i > 0 {
				before = u.chars[i-1]
			}
			if i+2 < k {
				after = u.chars[i+2]
			}
			if c := &t.pairUnits[u.beside[i].rank(mergeShift)]; c.fits(before, after) {
				u.tokens[i] = c.token | notUnit | pairUnitStart
				i++
				continue
			}
		}
		flags |= u.tokens[i]
	}
	return flags&notUnit == 0
}

// leadByte returns the first byte of the character.
func leadByte(c rune) byte {
	switch {
	case c < 0x80:
		return byte(c)
	case c < 0x800:
		return 0xC0 | byte(c>>6)
	case c < 0x10000:
		return 0xE0 | byte(c>>12)
	}
	return 0xF0 | byte(c>>18)
}

// cut reports whether nothing merges across the border after character i.
func (u *unitBuffer) cut(i int) bool {
	return u.beside[i]&related == 0 && (u.tokens[i]|u.tokens[i+1])&notUnit == 0
}

// write makes units of the first k characters of the text and returns how many. If
// there are more characters, the text must be cut after the kth.
func (u *unitBuffer) write(t *charTable, text []byte, k int) int {
	n := 0
	left := uint32(noToken) // lowest rank that takes character i to the left
	for i := 0; i < k; {
		token := u.tokens[i]
		if token&pairUnitStart != 0 {
			u.ids[n] = token & tokenMask
			n++
			i++
			left = 0
		} else if token&notUnit != 0 {
			for _, b := range text[u.at[i]:u.at[i+1]] {
				u.ids[n] = t.byteToken[b]
				n++
			}
			left = 0 // a part of this character may take the next
		} else {
			if merged := u.beside[i].rank(mergeShift); merged < left && i+1 < k && u.tokens[i+1]&notUnit == 0 {
				right := uint32(noToken) // lowest rank that takes character i+1 to the right
				if i+2 < k {
					right = u.beside[i+1].rank(rightShift)
					if u.tokens[i+2]&notUnit != 0 {
						right = 0
					}
				}
				if merged <= right {
					i++
					token = merged
				}
			}
			u.ids[n] = token & tokenMask
			n++
			left = u.beside[i].rank(leftShift)
		}
		if i+1 == k || u.cut(i) {
			u.ids[n-1] |= cutAfter
		}
		i++
	}
	return n
}

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
