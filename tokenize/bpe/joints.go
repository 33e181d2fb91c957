// Which tokens are made of which: the vocabulary read backwards, while the tables are
// made.

package bpe

import "iter"

// A jointIndex lists, for each token, the tokens that have it as one given part,
// ascending.
type jointIndex struct{ start, list []uint32 }

func (x jointIndex) of(part uint32) []uint32 { return x.list[x.start[part]:x.start[part+1]] }

func joints(v *vocab, part []uint32) jointIndex {
	x := jointIndex{make([]uint32, v.len()+2), make([]uint32, v.len())}
	for t := byteTokens; t < v.len(); t++ {
		x.start[part[t]+2]++
	}
	for i := 1; i < len(x.start); i++ {
		x.start[i] += x.start[i-1]
	}
	for t := byteTokens; t < v.len(); t++ {
		at := &x.start[part[t]+1]
		x.list[*at] = uint32(t)
		*at++
	}
	x.start = x.start[:v.len()+1]
	return x
}

// surroundings tell what could take a part of a token away while it is being put
// together. The parts at its right end are its own right part, the right part of that
// and so on; each of them lives until its parent is made, so a joint of a part with
// something on its right must have a lower rank than the parent. On the left side an
// equal rank is enough: of two equal joints the left one is made first.
type surroundings struct {
	vocab           *vocab
	byLeft, byRight jointIndex
}

func newSurroundings(v *vocab) *surroundings {
	return &surroundings{v, joints(v, v.left), joints(v, v.right)}
}

// after yields what, standing behind the token, could take a part of it.
func (s *surroundings) after(token uint32) iter.Seq[[]byte] {
	v := s.vocab
	return func(yield func([]byte) bool) {
		for parent := token; parent >= byteTokens; parent = v.right[parent] {
			for _, m := range s.byLeft.of(v.right[parent]) {
				if m >= parent {
					break
				}
				if !yield(v.token(v.right[m])) {
					return
				}
			}
		}
	}
}

// before yields what, standing before the token, could take a part of it.
func (s *surroundings) before(token uint32) iter.Seq[[]byte] {
	v := s.vocab
	return func(yield func([]byte) bool) {
		for parent := token; parent >= byteTokens; parent = v.left[parent] {
			for _, m := range s.byRight.of(v.left[parent]) {
				if m > parent {
					break
				}
				if !yield(v.token(v.left[m])) {
					return
				}
			}
		}
	}
}
