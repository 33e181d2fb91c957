// What the vocabulary says about neighbouring characters.
//
// Byte pair encoding starts from bytes, and most of its work is to merge bytes into
// characters, and pairs of letters, that it merges nearly always. This table says where
// the outcome of that work is certain, so that merging can start from larger units, and
// where a piece can be cut in two.
//
// Tokens are merged in the order of their ranks, so a part x lives until the token that
// absorbs it, its parent, is merged. Take two neighbouring characters a and b. A merge
// across the border between them makes some token m of a part that ends with a (or with
// the end of a) and a part that begins with b (or with the beginning of b):
//
//   - No token has a and b side by side: nothing ever merges across this border, as long
//     as both characters are valid. The piece may be cut here.
//   - m has only a part x of a, less than all of it, on its left. Then m must have a
//     lower rank than the parent of x in a. Or m has only a part y of b on its right.
//     Then its rank must not be above that of the parent of y in b, because of two equal
//     merges the left one comes first. If there is such an m, the pair is conflicting: a
//     and b have to start as their bytes. If no pair is, every character is merged whole
//     before anything merges with it.
//   - Among whole characters z a b c, a and b merge at once if their token has a lower
//     rank than any token that could take a away to the left (a token whose right part is
//     a and whose left part ends with z) and not a higher one than any that could take b
//     away to the right (left part b, right part begins with c).

package bpe

import (
	"maps"
	"slices"
	"unicode/utf8"
)

// A charTable has the characters below U+10000. All others start as bytes.
type charTable struct {
	byteToken [256]uint32
	chars     []char                     // by code point
	ascii     *[1 << 14]neighbours       // pairs of ASCII characters a and b, at a<<7 | b
	pairs     []charPair                 // the other pairs, in the tables of their left characters
	leads     [1 << leadBits / 64]uint64 // lead bytes that conflict with characters with leadConflict
	pairUnits []pairUnit                 // of conflicting pairs, at the index in their mergeShift
}

// A char is a character's token, notUnit if it starts as bytes, and the table of its
// right neighbours.
type char struct {
	token  uint32 // with flags
	cuckoo cuckoo
}

// neighbours describes two characters side by side.
type neighbours uint64

const (
	mergeShift = 0            // the token of the two, or noToken
	leftShift  = rankBits     // lowest rank that takes the right one to the left
	rightShift = 2 * rankBits // lowest rank that takes the left one to the right
)

const (
	conflict neighbours = 1 << (3*rankBits + iota)
	related             // some token has the two side by side

	// unrelated describes two characters that no token holds side by side.
	unrelated neighbours = 1<<(3*rankBits) - 1
)

func (n neighbours) rank(shift int) uint32 { return uint32(n>>shift) & noToken }

// lower sets one of the ranks if rank is lower.
func (n *neighbours) lower(shift int, rank uint32) {
	if rank < n.rank(shift) {
		*n = *n&^(noToken<<shift) | neighbours(rank)<<shift
	}
}

// A charPair is a right neighbour and what is known about the pair.
type charPair struct {
	right uint32
	value neighbours
}

// Flags beside a token.
const (
	notUnit       = 1 << 31 // the character starts as its bytes
	leadConflict  = 1 << 30 // conflict may come from the mere lead byte of the right neighbour
	pairUnitStart = 1 << 29 // this and the next character are one unit; set with notUnit
	tokenMask     = 1<<rankBits - 1
)

const leadBits = 12 // logarithm of the number of bits of charTable.leads

// neighbours returns what is known about the characters a and b side by side, both
// below U+10000.
func (t *charTable) neighbours(a, b rune) neighbours {
	if a|b < utf8.RuneSelf {
		return t.ascii[a<<7|b]
	}
	i, j := t.chars[a].cuckoo.places(uint32(b))
	x, y := &t.pairs[i], &t.pairs[j]
	value := unrelated
	if y.right == uint32(b) {
		value = y.value
	}
	if x.right == uint32(b) {
		value = x.value
	}
	return value
}

// leadConflicts reports whether a character with leadConflict may lose a part to a
// character that begins with the byte lead. It may be true for others, too.
func (t *charTable) leadConflicts(a rune, lead byte) bool {
	at := leadAt(a, lead)
	return t.leads[at/64]>>(at%64)&1 != 0
}

func leadAt(a rune, lead byte) uint64 {
	return (uint64(a)<<8 | uint64(lead)) * mix1 >> (64 - leadBits)
}

func newCharTable(rules *mergeRules) *charTable {
	v := rules.vocab
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
		t.ascii[i] = unrelated
	}
	known := make(map[[2]rune]*neighbours)
	about := func(a, b rune) *neighbours {
		if a|b < utf8.RuneSelf {
			return &t.ascii[a<<7|b]
		}
		n, ok := known[[2]rune{a, b}]
		if !ok {
			n = new(neighbours)
			*n = unrelated
			known[[2]rune{a, b}] = n
		}
		return n
	}
	for id := uint32(byteTokens); id < uint32(v.len()); id++ {
		left, right := v.token(v.left[id]), v.token(v.right[id])
		a, sizeA := utf8.DecodeLastRune(left)
		b, sizeB := utf8.DecodeRune(right)
		if broken(a, sizeA) || broken(b, sizeB) {
			// Two parts of one character, which may have neighbours now.
			token := v.token(id)
			for i := 0; i < len(token); {
				a, size := utf8.DecodeRune(token[i:])
				i += size
				if b, next := utf8.DecodeRune(token[i:]); !broken(a, size) && !broken(b, next) {
					*about(a, b) |= related
				}
			}
			continue
		}
		n := about(a, b)
		*n |= related
		if sizeA == len(left) && sizeB == len(right) {
			n.lower(mergeShift, id)
		}
		if sizeB == len(right) {
			n.lower(leftShift, id)
		}
		if sizeA == len(left) {
			n.lower(rightShift, id)
		}
	}
	t.findConflicts(rules, func(a, b rune) { *about(a, b) |= conflict | related })
	t.findPairUnits(rules, about)

	pairs := slices.SortedFunc(maps.Keys(known), func(a, b [2]rune) int {
		return slices.Compare(a[:], b[:])
	})
	t.pairs = []charPair{{right: 1 << 31}} // shared by all characters at first
	var rights []uint32
	for len(pairs) > 0 && pairs[0][0] < 0x10000 {
		a := pairs[0][0]
		rights = rights[:0]
		for len(rights) < len(pairs) && pairs[len(rights)][0] == a {
			rights = append(rights, uint32(pairs[len(rights)][1]))
		}
		n, holds := newCuckoo(len(t.pairs), rights)
		t.chars[a].cuckoo = n
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

// broken reports whether DecodeRune found no character, or no text.
func broken(r rune, size int) bool { return r == utf8.RuneError && size <= 1 }

// findConflicts fills t.chars and t.leads, and reports the conflicting pairs.
func (t *charTable) findConflicts(rules *mergeRules, report func(a, b rune)) {
	v := rules.vocab
	for id := uint32(byteTokens); id < uint32(v.len()); id++ {
		token := v.token(id)
		c, size := utf8.DecodeRune(token)
		if size != len(token) || size > 3 || broken(c, size) {
			continue
		}
		unit := id
		for right := range rules.after(id) {
			b, size := utf8.DecodeRune(right)
			switch {
			case !broken(b, size):
				report(c, b)
			case utf8.RuneStart(right[0]):
				unit |= leadConflict
				at := leadAt(c, right[0])
				t.leads[at/64] |= 1 << (at % 64)
			default:
				// The rest of a character never follows a whole character.
			}
		}
		for left := range rules.before(id) {
			if a, size := utf8.DecodeLastRune(left); !broken(a, size) {
				report(a, c)
			} else {
				unit = notUnit // the end of any character could take a part
			}
		}
		t.chars[c].token = unit
	}
}
