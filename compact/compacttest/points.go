package compacttest

import (
	"slices"

	"laconic/compact"
)

// RequestPoints are the prefixes that end before an assistant message and
// behind a whole round, and the whole list; but none within an answer whose rest
// is joined to it or carries bound thinking. A request that was answered by
// nothing leaves none: repair removes the empty answer. Nor does one whose
// results the rest of the list gives to other calls: one that ends between a
// call and its result, above all. The promise stable excepts these.
func RequestPoints(msgs []compact.Message) []int {
	settled := settledIn(msgs)
	bound := make([]bool, len(msgs)) // per message: the answer carries bound thinking from here on
	for k := len(msgs) - 1; k >= 0; k-- {
		bound[k] = msgs[k].Role == compact.Assistant && (msgs[k].Bound() || k+1 < len(msgs) && bound[k+1])
	}
	var points []int
	for k := 1; k < len(msgs); k++ {
		inRound := msgs[k-1].Role == compact.Assistant && (len(msgs[k-1].Calls) > 0 || bound[k]) || msgs[k].Joined
		if msgs[k].Role == compact.Assistant && !inRound && !msgs[k].Empty() && settled(k) {
			points = append(points, k)
		}
	}
	if len(msgs) > 0 {
		points = append(points, len(msgs))
	}
	return points
}

// settledIn returns a func that reports whether the messages after a prefix
// change nothing of what repair makes of the prefix.
func settledIn(msgs []compact.Message) func(k int) bool {
	whole := map[compact.RepairMode][]compact.Message{}
	for _, mode := range []compact.RepairMode{compact.RepairAnswer, compact.RepairDrop} {
		if out, edits := compact.Repair(msgs, mode); len(edits) > 0 {
			whole[mode] = out
		}
	}
	same := func(a, b compact.Message) bool {
		return a.Origin == b.Origin && a.Role == b.Role && a.Answers == b.Answers
	}
	return func(k int) bool {
		for mode, out := range whole {
			now, _ := compact.Repair(msgs[:k], mode)
			if len(now) > len(out) || !slices.EqualFunc(now, out[:len(now)], same) {
				return false
			}
		}
		return true
	}
}
