// What one goroutine needs while it counts: room for a batch of pieces, and the
// counts of the words it saw lately.
//
// Text repeats its words. Most of those it repeats most are tokens, but the table of
// all tokens is too large for the near caches of a processor, and words that are not
// tokens have to be merged. So both kinds are remembered here, next to each other.

package bpe

import (
	"encoding/binary"
)

const (
	wordBits = 14 // logarithm of the number of short words remembered, 8 bytes each
	midBits  = 14 // the same for longer words that are not tokens, 16 bytes each
	longBits = 12 // and for the longest, 32 bytes each
)

type scratch struct {
	ends [batchSize]int
	open [batchSize]uint8 // indexes of the pieces still to be counted

	// Short pieces and their counts: a shortKey, with the count above the length.
	words [1 << wordBits]uint64
	// Longer pieces that are not tokens: with the count above the length.
	mids  [1 << midBits]midKey
	longs [1 << longBits]longKey

	small smallMerge
}

const (
	countShift = 59 // of the count in a word; there are 7 at most
	midShift   = 60 // of the count in a longer word; there are 15 at most
)

func newScratch() *scratch {
	return new(scratch)
}

// countPieces returns the number of tokens of the pieces that start at p and end at
// ends[:n].
func (s *scratch) countPieces(e *Encoding, text []byte, p, n int) int {
	open := 0
	total := 0
	first := p
	for i, end := range s.ends[:n] {
		size := end - p
		missed := 1
		if size <= maxShort {
			var k shortKey
			if p+8 <= len(text) {
				k = binary.LittleEndian.Uint64(text[p:])&(1<<(8*uint(size)&63)-1) | uint64(size)<<56
			} else {
				k = keyOfShort(text[p:end])
			}
			x := s.words[hashShort(k)>>(64-wordBits)]
			differ := (x ^ k) &^ (7 << countShift)
			missed = int((differ | -differ) >> 63)
			total += int(x>>countShift) & (missed - 1)
		}
		s.open[open%batchSize] = uint8(i)
		open += missed
		p = end
	}
	missing := 0
	for _, i := range s.open[:open] {
		p := first
		if i > 0 {
			p = s.ends[i-1]
		}
		piece := text[p:s.ends[i]]
		t := e.pieces
		var differ uint64
		switch size := len(piece); {
		case size <= maxShort:
			k := keyOfShort(piece)
			h := hashShort(k)
			differ = k ^ t.shortKeys[t.short.place(h)]
			if differ == 0 {
				s.words[h>>(64-wordBits)] = k | 1<<countShift
			}
		case size <= maxMid:
			k := keyOfMid(piece)
			f := &t.midKeys[t.mid.place(hashMid(k))]
			differ = k.first ^ f.first | k.rest ^ f.rest
		case size <= maxLong:
			k := keyOfLong(piece)
			f := &t.longKeys[t.long.place(hashLong(k))]
			differ = k.first ^ f.first | k.second ^ f.second | k.last ^ f.last | k.size ^ f.size
		default:
			if _, ok := t.find(piece); !ok {
				differ = 1
			}
		}
		s.open[missing] = i
		missing += int((differ | -differ) >> 63)
	}
	total += open - missing
	for _, i := range s.open[:missing] {
		p := first
		if i > 0 {
			p = s.ends[i-1]
		}
		total += s.countMerged(e, text[p:s.ends[i]])
	}
	return total
}

// countMerged returns the number of tokens of a piece that is not a token.
func (s *scratch) countMerged(e *Encoding, piece []byte) int {
	size := len(piece)
	if size <= maxShort {
		k := keyOfShort(piece)
		count := s.mergeCount(e, piece)
		s.words[hashShort(k)>>(64-wordBits)] = k | uint64(count)<<countShift
		return count
	}
	if size <= maxMid {
		k := keyOfMid(piece)
		f := &s.mids[hashMid(k)>>(64-midBits)]
		if f.first == k.first && (f.rest^k.rest)&^(15<<midShift) == 0 {
			return int(f.rest >> midShift)
		}
		count := s.mergeCount(e, piece)
		k.rest |= uint64(count) << midShift
		*f = k
		return count
	}
	if size > maxLong {
		return s.mergeCount(e, piece)
	}
	k := keyOfLong(piece)
	f := &s.longs[hashLong(k)>>(64-longBits)]
	if f.first == k.first && f.second == k.second && f.last == k.last && f.size&0xFF == k.size {
		return int(f.size >> 8)
	}
	count := s.mergeCount(e, piece)
	*f = k
	f.size |= uint64(count) << 8
	return count
}

// mergeCount merges a piece and returns the number of its tokens.
func (s *scratch) mergeCount(e *Encoding, piece []byte) int {
	n, _ := s.merge(e, piece, nil, false)
	return n
}
