// Which two neighbouring tokens become one.

package bpe

import (
	"cmp"
	"slices"
	"unicode/utf8"
)

// noToken is what two tokens become that do not merge. It is greater than every rank.
const noToken = 1<<rankBits - 1

// A pairTable finds the joint of two tokens: the joints of each left part have a nest.
//
// Merging asks for one joint after the other and cannot go on before it has the answer,
// so what matters is that the answer is in a near cache. Only one token in seven is ever
// a right part; for the others the question is led to the first place, which is free.
type pairTable struct {
	rights *[1 << rankBits / 32]uint32 // a bit per token: is it ever a right part?
	lefts  []nest                      // per token, of place 0 if it is never a left part; and one more, of nothing
	joints []joint
}

// A joint is a right part and, below it, the token. Free places have noToken.
type joint uint64

const free joint = noToken<<rankBits | noToken

// join returns the token that l and r become, noToken if they stay two.
func (t *pairTable) join(l, r uint32) uint32 {
	n := t.lefts[l] & -nest(t.rights[r/32%(1<<rankBits/32)]>>(r%32)&1)
	i, j := n.places(r)
	a, b := t.joints[i], t.joints[j]
	found := free
	if uint32(b>>rankBits) == r {
		found = b
	}
	if uint32(a>>rankBits) == r {
		found = a
	}
	return uint32(found) & noToken
}

// nothing returns a left part that joins with nothing. As a right part, noToken does
// not.
func (t *pairTable) nothing() uint32 { return uint32(len(t.lefts) - 1) }

func newPairTable(around *surroundings) *pairTable {
	v, index := around.vocab, around.byLeft
	t := &pairTable{
		rights: new([1 << rankBits / 32]uint32),
		lefts:  make([]nest, v.len()+1),
		joints: append(make([]joint, 0, 9*v.len()/4), free),
	}
	for _, r := range v.right[byteTokens:] {
		t.rights[r/32] |= 1 << (r % 32)
	}
	var lefts []uint32
	for l := range uint32(v.len()) {
		if len(index.of(l)) > 0 {
			lefts = append(lefts, l)
		}
	}
	slices.SortFunc(lefts, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(script(v.token(a)), script(v.token(b))), cmp.Compare(a, b))
	})
	var rights []uint32
	for _, l := range lefts {
		of := index.of(l)
		rights = rights[:0]
		for _, m := range of {
			rights = append(rights, v.right[m])
		}
		n, holds := newNest(len(t.joints), rights)
		t.lefts[l] = n
		for _, i := range holds {
			if i < 0 {
				t.joints = append(t.joints, free)
			} else {
				t.joints = append(t.joints, joint(rights[i])<<rankBits|joint(of[i]))
			}
		}
	}
	return t
}

// script puts tokens of one script next to each other: by the page of the first
// character that is not ASCII.
func script(token []byte) rune {
	for i, c := range token {
		if c >= utf8.RuneSelf {
			r, _ := utf8.DecodeRune(token[i:])
			return r >> 7
		}
	}
	return 0
}
