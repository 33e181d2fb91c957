// The units that merging starts from.

package bpe

import "unicode/utf8"

// unitRoom is the room for the units of a stretch of text.
type unitRoom struct {
	chars  []rune       // its characters; of a part of one, the byte + loosePart
	at     []int32      // where each starts, and where the last ends
	tokens []uint32     // their tokens and flags, see charTable
	beside []neighbours // of each character and the next

	ids []uint32 // the units: tokens, with cutAfter

	whole bool // all characters are units, or in couples
}

const (
	// cutAfter is set on a unit when nothing joins it, or what it becomes part of,
	// with what follows. The last unit has it.
	cutAfter = 1 << 31

	loosePart = utf8.MaxRune + 1
)

// grow makes room for n characters.
func (u *unitRoom) grow(n int) {
	if len(u.chars) < n {
		u.chars = make([]rune, n)
		u.at = make([]int32, n+1)
		u.tokens = make([]uint32, n)
		u.beside = make([]neighbours, n)
		u.ids = make([]uint32, n+3*min(n, fewUnits))
	}
}

// read reads the characters of the text, as many as there is room for, and returns
// how many. The text is valid UTF-8, except that it may start inside a character.
func (u *unitRoom) read(t *charTable, text []byte) int {
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
		n := apart
		if a := u.chars[i]; a|b < 0x10000 {
			n = t.neighbours(a, b)
		}
		u.beside[i] = n
		all |= n
	}
	u.beside[k-1] = apart
	u.whole = flags&notUnit == 0
	if all&danger != 0 || flags&leadDanger != 0 {
		u.breakUp(t, k)
		u.whole = u.couple(t, k)
	}
	return k
}

// readASCII does what read does that startWhole needs, for up to fewUnits bytes. It
// returns false if not all of them are ASCII.
func (u *unitRoom) readASCII(t *charTable, text []byte) bool {
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
	beside[n-1] = apart
	return all < 0x80
}

// breakUp makes characters start as bytes that have dangerous neighbours.
func (u *unitRoom) breakUp(t *charTable, k int) {
	for i := range k - 1 {
		a, b := u.chars[i], u.chars[i+1]
		switch {
		case u.beside[i]&danger != 0:
			if a >= utf8.RuneSelf {
				u.tokens[i] |= notUnit
			}
			if b >= utf8.RuneSelf {
				u.tokens[i+1] |= notUnit
			}
		case u.tokens[i]&leadDanger != 0 && t.leadEndangers(a, leadByte(b)):
			u.tokens[i] |= notUnit
		}
	}
}

// couple puts dangerous neighbours together where they are one unit all the same. It returns whether no character is
// left that starts as bytes.
func (u *unitRoom) couple(t *charTable, k int) bool {
	var flags uint32
	for i := 0; i < k; i++ {
		if u.beside[i]&danger != 0 && u.beside[i].rank(jointShift) != noToken {
			before, after := rune(-1), rune(-1)
			if i > 0 {
				before = u.chars[i-1]
			}
			if i+2 < k {
				after = u.chars[i+2]
			}
			if c := &t.couples[u.beside[i].rank(jointShift)]; c.fits(before, after) {
				u.tokens[i] = c.token | notUnit | coupled
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

// cut tells whether nothing can join across the place behind character i.
func (u *unitRoom) cut(i int) bool {
	return u.beside[i]&alive == 0 && (u.tokens[i]|u.tokens[i+1])&notUnit == 0
}

// write makes units of the first k characters of the text and returns how many. If
// there are more characters, it must be possible to cut there.
func (u *unitRoom) write(t *charTable, text []byte, k int) int {
	n := 0
	left := uint32(noToken) // lowest rank that takes character i to the left
	for i := 0; i < k; {
		token := u.tokens[i]
		if token&coupled != 0 {
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
			if joint := u.beside[i].rank(jointShift); joint < left && i+1 < k && u.tokens[i+1]&notUnit == 0 {
				right := uint32(noToken) // lowest rank that takes character i+1 to the right
				if i+2 < k {
					right = u.beside[i+1].rank(rightShift)
					if u.tokens[i+2]&notUnit != 0 {
						right = 0
					}
				}
				if joint <= right {
					i++
					token = joint
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
