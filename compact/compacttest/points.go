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
	if _, edits := compact.Repair(msgs, compact.RepairAnswer); len(edits) == 0 {
		return func(int) bool { return true }
	}
	whole := owners(msgs)
	return func(k int) bool {
		now, both := owners(msgs[:k]), 0
		for result, call := range whole {
			if call >= k {
				continue
			}
			if is, ok := now[result]; !ok || is != call {
				return false
			}
			both++
		}
		return len(now) == both && !quotes(msgs[:k])
	}
}

// owners returns, per result that repair keeps, the message whose call it
// answers, both by Origin.
func owners(msgs []compact.Message) map[int]int {
	out, _ := compact.Repair(msgs, compact.RepairAnswer)
	of, call := make(map[int]int), compact.Added
	for i := range out {
		switch m := &out[i]; {
		case !m.Role.Result():
			call = m.Origin
		case m.Origin != compact.Added:
			of[m.Origin] = call
		}
	}
	return of
}

// quotes reports whether repair quotes the results of a list, which holds only
// as long as the list is nothing else.
func quotes(msgs []compact.Message) bool {
	for _, mode := range []compact.RepairMode{compact.RepairAnswer, compact.RepairDrop} {
		_, edits := compact.Repair(msgs, mode)
		if slices.ContainsFunc(edits, func(e compact.Edit) bool { return e.Op == compact.OpQuote }) {
			return true
		}
	}
	return false
}
