package prompt

import (
	"fmt"
	"strings"

	"laconic/compact/quote"
)

// Split joins blocks, in order, into pieces of at most room tokens each. If that
// makes more than most pieces, the longest blocks keep only head and tail. Split
// returns nil if even that is not enough: such a transcript is not worth its
// price.
func Split(blocks []string, cost func(string) int, room, most int) []string {
	if room < leastRoom {
		return nil
	}
	costs := make([]int, len(blocks))
	for i, b := range blocks {
		costs[i] = cost(b)
	}
	for limit := room * 9 / 10; limit >= leastBlock; limit = limit * 2 / 3 {
		if pieces := pack(blocks, costs, cost, room, most, limit); pieces != nil {
			return pieces
		}
	}
	return nil
}

// leastRoom is the smallest room for a piece, and leastBlock the size below which
// a message is not cut; both in tokens.
const (
	leastRoom  = 256
	leastBlock = 24
)

func pack(blocks []string, costs []int, cost func(string) int, room, most, limit int) []string {
	var pieces []string
	var piece strings.Builder
	spent := 0
	for i, block := range blocks {
		n := costs[i]
		if n > limit {
			block, n = shortened(block, cost, n, limit)
		}
		if spent+n > room && spent > 0 {
			if pieces = append(pieces, piece.String()); len(pieces) == most {
				return nil
			}
			piece.Reset()
			spent = 0
		}
		piece.WriteString(block)
		spent += n
	}
	if spent > 0 {
		pieces = append(pieces, piece.String())
	}
	return pieces
}

// shortened returns head and tail of a block that costs n tokens, and their cost,
// at most limit.
func shortened(block string, cost func(string) int, n, limit int) (string, int) {
	const foot = "</message>\n"
	for chars := len(block) * limit / max(1, n); chars > 64; chars = chars * 4 / 5 {
		head, tail := len(quote.First(block, chars*6/10)), len(quote.First(block, len(block)-chars*4/10))
		out := block[:head] + fmt.Sprintf("\n[%d bytes left out]\n", tail-head) + block[tail:]
		if m := cost(out); m <= limit {
			return out, m
		}
	}
	head := block[:strings.IndexByte(block+"\n", '\n')]
	out := head + "\n[left out]\n" + foot
	return out, cost(out)
}
