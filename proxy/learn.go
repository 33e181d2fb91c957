package proxy

import (
	"time"

	"laconic/proxy/overflow"
)

// What upstreams say is believed within bounds: some write 0, or a number that
// cannot be meant.
const (
	leastBelieved = 128         // tokens: no window is smaller
	mostBelieved  = 100_000_000 // tokens
	leastMessages = 8
	leastPercent  = 70
	mostPercent   = 150
	// leastCounted is the prompt, in tokens, below which counts are mostly
	// framing and say little about the counter.
	leastCounted = 500
)

// tooLongBy is how much shorter a prompt is tried when a refusal tells nothing
// that explains it.
const tooLongBy = 0.7

// sized is what is known about a body that was sent.
type sized struct {
	estimate int // tokens by the counter, before Percent
	bytes    int
	asked    int // tokens of answer that the request asks for; 0: it does not say
}

// hopeless tells whether no prompt could be short enough: the answer that was
// asked for takes all there is, or all but a sixteenth.
func hopeless(r overflow.Refusal) bool {
	return believable(r.Limit) > 0 && noRoom(r.Output, r.Limit)
}

// noRoom tells whether an answer leaves no room in a window for a prompt that
// is worth to be made.
func noRoom(answer, window int) bool { return answer > 0 && answer >= window-window/16 }

func believable(n int) int {
	if n < leastBelieved || n > mostBelieved {
		return 0
	}
	return n
}

// learn takes from a refusal what it tells: the limit, whether the answer
// counts. What it tells of the counter is counted; 0 when that is nothing.
func (l *Learnt) learn(now time.Time, r overflow.Refusal, s sized) (counted int) {
	limit := believable(r.Limit)
	switch r.Kind {
	case overflow.Count:
		if r.Limit >= leastMessages && r.Limit < 1<<20 {
			l.Messages, l.Until = r.Limit, now.Add(limitLife)
		}
		return 0
	case overflow.Bytes:
		share := tooLongBy
		if r.Limit > 0 && s.bytes > 0 {
			share = min(0.9, 0.9*float64(r.Limit)/float64(s.bytes))
		}
		l.cap(now, int(share*float64(s.estimate)))
		return 0
	}
	switch {
	case limit == 0:
	case r.Alone:
		l.Input = limit
	default:
		l.Window = limit
	}
	if limit > 0 {
		l.Until = now.Add(limitLife)
	}
	if r.Output > 0 {
		l.Sums = true
		if s.asked == 0 {
			l.Answer = r.Output
		}
	}
	switch {
	case r.AtLeast:
	case r.Prompt > 0:
		counted = r.Prompt
	case r.Total > s.asked:
		l.Sums = true
		if s.asked > 0 {
			counted = r.Total - s.asked
		}
	}
	if s.estimate < leastCounted || counted > mostBelieved {
		return 0
	}
	return counted
}

// cap lowers the longest prompt that is tried.
func (l *Learnt) cap(now time.Time, n int) {
	n = max(n, leastBelieved/2)
	if l.Cap == 0 || n < l.Cap {
		l.Cap = n
	}
	l.Until = now.Add(limitLife)
}
