// What the vocabulary says about characters and their neighbours.
//
// Byte pair encoding starts from bytes, and most of its work is to put characters
// and pairs of letters together that it puts together nearly always. This table
// tells where the outcome of that work is certain, so that merging can start from
// larger units, and at which places a piece can be cut in two.
//
// Tokens are made in the order of their ranks, so a part x lives until the joint
// that swallows it, its parent, is made. Take two neighbouring characters a and b. A
// merge across the place between them makes some token m of a part that ends with a
// (or with the end of a) and a part that begins with b (or with the beginning of b):
//
//   - No token holds a and b side by side: nothing can ever join across this place,
//     if no character is broken. The piece may be cut here.
//   - m has only a part x of a, less than all of it, on its left. Then m must have a
//     lower rank than the parent of x in a. Or m has only a part y of b on its right;
//     then its rank must not be above that of the parent of y in b (of two equal
//     joints the left one is made first). If there is such an m, this pair of
//     neighbours is dangerous: a and b have to start as their bytes. If no pair is,
//     every character is put together whole before anything joins it.
//   - Among whole characters z a b c, a and b join at once if their joint has a lower
//     rank than any token that could take a away to the left (a token whose right
//     part is a and whose left part ends with z) and not a higher one than any that
//     could take b away to the right (left part b, right part begins with c).

package bpe

import (
	"maps"
	"slices"
	"unicode/utf8"
)

// A charTable knows the characters below U+10000. The others always start as bytes.
type charTable struct {
	byteToken [256]uint32
	chars     []char                     // by code point
	ascii     *[1 << 14]neighbours       // pairs of ASCII characters a and b, at a<<7 | b
	pairs     []charPair                 // the other pairs, in the nests of their left characters
	leads     [1 << leadBits / 64]uint64 // lead bytes that are dangerous to characters with leadDanger
	couples   []couple                   // of dangerous pairs, where their jointShift says
}

// A char is a character's token, notUnit if it starts as bytes, and the nest of those
// that it stands before.
type char struct {
	token uint32 // with flags
	nest  nest
}

// neighbours says what is known about two characters side by side.
type neighbours uint64

const (
	jointShift = 0            // joint of the two, or noToken
	leftShift  = rankBits     // lowest rank that takes the right one to the left
	rightShift = 2 * rankBits // lowest rank that takes the left one to the right
)

const (
	danger neighbours = 1 << (3*rankBits + iota)
	alive             // some token holds the two side by side

	// apart is what is known of two characters that no token holds side by side.
	apart neighbours = 1<<(3*rankBits) - 1
)

func (n neighbours) rank(shift int) uint32 { return uint32(n>>shift) & noToken }

// lower sets one of the ranks if that makes it lower.
func (n *neighbours) lower(shift int, rank uint32) {
	if rank < n.rank(shift) {
		*n = *n&^(noToken<<shift) | neighbours(rank)<<shift
	}
}

// A charPair is a right neighbour and what is known.
type charPair struct {
	right uint32
	value neighbours
}

// Flags beside a token.
const (
	notUnit    = 1 << 31 // the character starts as its bytes
	leadDanger = 1 << 30 // danger may come from the mere lead byte of the right neighbour
	coupled    = 1 << 29 // this and the next character are one unit; set with notUnit
	tokenMask  = 1<<rankBits - 1
)

const leadBits = 12 // logarithm of the number of bits of charTable.leads

// neighbours returns what is known about the characters a and b side by side, both
// below U+10000.
func (t *charTable) neighbours(a, b rune) neighbours {
	if a|b < utf8.RuneSelf {
		return t.ascii[a<<7|b]
	}
	i, j := t.chars[a].nest.places(uint32(b))
	x, y := &t.pairs[i], &t.pairs[j]
	value := apart
	if y.right == uint32(b) {
		value = y.value
	}
	if x.right == uint32(b) {
		value = x.value
	}
	return value
}

// leadEndangers tells whether a character with leadDanger may lose a part to a
// character that begins with the byte lead. It may say so for others, too.
func (t *charTable) leadEndangers(a rune, lead byte) bool {
	at := leadAt(a, lead)
	return t.leads[at/64]>>(at%64)&1 != 0
}

func leadAt(a rune, lead byte) uint64 {
	return (uint64(a)<<8 | uint64(lead)) * mix1 >> (64 - leadBits)
}

func newCharTable(around *surroundings) *charTable {
	v := around.vocab
	t := &charTable{
		chars: make([]char, 0x10000),
		ascii: new([1 << 14]neighbours),
	}
	for i := range t.chars {
		t.chars[i].token = notUnit
	}
	for id := range uint32(byteTokens) {
		c := v.token(id)[0]
		t.byteToken[c] = id
		if c < utf8.RuneSelf {
			t.chars[c].token = id
		}
	}
	for i := range t.ascii {
		t.ascii[i] = apart
	}
	known := make(map[[2]rune]*neighbours)
	about := func(a, b rune) *neighbours {
		if a|b < utf8.RuneSelf {
			return &t.ascii[a<<7|b]
		}
		n, ok := known[[2]rune{a, b}]
		if !ok {
			n = new(neighbours)
			*n = apart
			known[[2]rune{a, b}] = n
		}
		return n
	}
	for id := uint32(byteTokens); id < uint32(v.len()); id++ {
		left, right := v.token(v.left[id]), v.token(v.right[id])
		a, sizeA := utf8.DecodeLastRune(left)
		b, sizeB := utf8.DecodeRune(right)
		if broken(a, sizeA) || broken(b, sizeB) {
			// Two parts of one character: it may stand next to others now.
			token := v.token(id)
			for i := 0; i < len(token); {
				a, size := utf8.DecodeRune(token[i:])
				i += size
				if b, next := utf8.DecodeRune(token[i:]); !broken(a, size) && !broken(b, next) {
					*about(a, b) |= alive
				}
			}
			continue
		}
		n := about(a, b)
		*n |= alive
		if sizeA == len(left) && sizeB == len(right) {
			n.lower(jointShift, id)
		}
		if sizeB == len(right) {
			n.lower(leftShift, id)
		}
		if sizeA == len(left) {
			n.lower(rightShift, id)
		}
	}
	t.findDangers(around, func(a, b rune) { *about(a, b) |= danger | alive })
	t.findCouples(around, about)

	pairs := slices.SortedFunc(maps.Keys(known), func(a, b [2]rune) int {
		return slices.Compare(a[:], b[:])
	})
	t.pairs = []charPair{{right: 1 << 31}} // the place that all characters share at first
	var rights []uint32
	for len(pairs) > 0 && pairs[0][0] < 0x10000 {
		a := pairs[0][0]
		rights = rights[:0]
		for len(rights) < len(pairs) && pairs[len(rights)][0] == a {
			rights = append(rights, uint32(pairs[len(rights)][1]))
		}
		n, holds := newNest(len(t.pairs), rights)
		t.chars[a].nest = n
		for _, i := range holds {
			if i < 0 {
				t.pairs = append(t.pairs, charPair{right: 1 << 31})
			} else {
				t.pairs = append(t.pairs, charPair{rights[i], *known[pairs[i]]})
			}
		}
		pairs = pairs[len(rights):]
	}
	return t
}

// broken tells that DecodeRune found no character, or no text.
func broken(r rune, size int) bool { return r == utf8.RuneError && size <= 1 }

// findDangers fills t.chars and t.leads, and reports the dangerous pairs.
func (t *charTable) findDangers(around *surroundings, report func(a, b rune)) {
	v := around.vocab
	for id := uint32(byteTokens); id < uint32(v.len()); id++ {
		token := v.token(id)
		c, size := utf8.DecodeRune(token)
		if size != len(token) || size > 3 || broken(c, size) {
			continue
		}
		unit := id
		for right := range around.after(id) {
			b, size := utf8.DecodeRune(right)
			switch {
			case !broken(b, size):
				report(c, b)
			case utf8.RuneStart(right[0]):
				unit |= leadDanger
				at := leadAt(c, right[0])
				t.leads[at/64] |= 1 << (at % 64)
			default:
				// The rest of a character never follows a whole one.
			}
		}
		for left := range around.before(id) {
			if a, size := utf8.DecodeLastRune(left); !broken(a, size) {
				report(a, c)
			} else {
				unit = notUnit // the end of any character could do it
			}
		}
		t.chars[c].token = unit
	}
}
