// The vocabulary read backwards, while the tables are made: which tokens have which
// parts.

package bpe

import "iter"

// A mergeIndex lists, for each token, the tokens that have it as their left part, or as
// their right part, ascending.
type mergeIndex struct{ start, list []uint32 }

func (x mergeIndex) of(part uint32) []uint32 { return x.list[x.start[part]:x.start[part+1]] }

func indexMerges(v *vocab, part []uint32) mergeIndex {
	x := mergeIndex{make([]uint32, v.len()+2), make([]uint32, v.len())}
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

// mergeRules say what could take a part of a token away while the token is merged. The
// parts at its right end are its own right part, the right part of that, and so on.
// Each part lives until its parent is merged, so a merge of a part with a right
// neighbour must have a lower rank than the parent. With a left neighbour an equal rank
// is enough, because of two equal merges the left one comes first.
type mergeRules struct {
	vocab           *vocab
	byLeft, byRight mergeIndex
}

func newMergeRules(v *vocab) *mergeRules {
	return &mergeRules{v, indexMerges(v, v.left), indexMerges(v, v.right)}
}

// after yields the right neighbours that could take a part of the token.
func (s *mergeRules) after(token uint32) iter.Seq[[]byte] {
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

// before yields the left neighbours that could take a part of the token.
func (s *mergeRules) before(token uint32) iter.Seq[[]byte] {
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
