package learn

import "math"

// List is what the messages that were sent are compared by with those of the next
// request.
type List struct {
	// Conversation names it; "": it has no name yet.
	Conversation string
	// Bytes are the sums of the sizes of the messages, each with those before it.
	Bytes []int
	// Thinking is what a template may leave out once it is old, in tokens.
	Thinking int
}

// prompt is a prompt that was answered.
type prompt struct {
	messages, bytes int // the bytes of all messages but the last
	sizes           []int
	media           int
	counted, cached int
}

func (s *Sent) prompt(b Bill) prompt {
	p := prompt{messages: len(s.List.Bytes), sizes: s.Sizes, media: s.Media, counted: b.Prompt, cached: b.Cached}
	if p.messages > 1 {
		p.bytes = s.List.Bytes[p.messages-2]
	}
	return p
}

// beginsIn reports whether a list holds the messages of p and some behind them. The
// last message of p may be gone: some clients put a reminder there.
func (p *prompt) beginsIn(l *List) bool {
	return p.messages > 1 && len(l.Bytes) >= p.messages && l.Bytes[p.messages-2] == p.bytes
}

// leastGrowth is the growth of a prompt, in tokens, of which a count says something.
const leastGrowth = 64

// since returns by how many tokens s is longer than p by every way of counting that may
// have counted p, and by how many the upstream counts more. longer is 0 where it may be
// owed to what a template leaves out, or to a count that is rounded.
func (p *prompt) since(s *Sent, b Bill) (longer, more int) {
	longer = math.MaxInt
	for i := range min(len(p.sizes), len(s.Sizes)) {
		if !wellBelow(p.sizes[i], p.counted) {
			longer = min(longer, s.Sizes[i]-p.sizes[i])
		}
	}
	if longer == math.MaxInt { // the upstream counts more than any
		longer = s.Sizes[0] - p.sizes[0]
	}
	longer -= max(0, s.Media-p.media) + s.List.Thinking
	if p.counted < p.sizes[0] {
		longer = longer * p.counted / p.sizes[0]
	}
	if step := gcd(p.counted, b.Prompt); longer < max(leastGrowth, 2*gcd(step, 256), 2*gcd(step, 100)) {
		return 0, 0
	}
	// Some upstreams count apart what is in their cache.
	return longer, max(b.Prompt-p.counted, b.Prompt+b.Cached-p.counted-p.cached)
}

// steady reports whether the upstream counts as much of s in proportion as of p: it
// has another tokenizer. What is left of a prompt that was cut varies.
func (p *prompt) steady(s *Sent, b Bill) bool {
	a, c := p.counted*s.Sizes[0], b.Prompt*p.sizes[0]
	return max(a, c)-min(a, c) <= max(a, c)/64
}

// mostRounded is by how many tokens a count may be rounded that leaves out what was in
// a cache.
const mostRounded = 1024

func gcd(a, b int) int {
	for b > 0 {
		a, b = b, a%b
	}
	return a
}

// growth follows the counts of one conversation.
type growth struct {
	read, last prompt // the longest that was read whole, as far as is known, and the newest
	stood      int    // the answers since then whose counts stood still
}

// stands adds an answer to its conversation. It returns what the upstream reads of longer
// prompts, once the counts of two answers stand still while the list grows by more than a
// tokenizer explains: a router may send one of them to a model that counts less. doubtful
// reports whether one has. An upstream that drops whole messages counts a little more or
// less each time. Where two are low, what was read whole before is just what it reads: it
// dropped a large message for the next. known: answers had shown how it counts.
func (m *Model) stands(s *Sent, b Bill, known bool) (reads int, doubtful bool) {
	if s.List.Conversation == "" {
		return 0, false
	}
	g := &m.memory.Conversation(m, true, "growth", s.List.Conversation).growth
	last, now, starved := g.last, s.prompt(b), s.starved(b)
	low := known && starved && last.sizes != nil && !last.steady(s, b)
	g.last = now
	if !last.beginsIn(&s.List) {
		g.read, g.stood = now, 0
		return 0, low
	}
	longer, more := g.read.since(s, b)
	step, stepMore := last.since(s, b)
	most := max(g.read.counted, b.Prompt)
	// A count that is far less leaves out what was in a cache, or what a template drops.
	less := wellBelow(b.Prompt, most) || 2*b.Prompt < s.Planned() && (!starved || m.answered > most)
	if low {
		less = b.Prompt <= s.Sizes[0]-last.sizes[0]+mostRounded
	}
	switch {
	case less || longer > 0 && 3*more >= longer:
		g.read, g.stood = now, 0
		return 0, low
	case longer == 0:
		return 0, low || g.stood > 0
	case g.stood == 0 || starved || 3*stepMore < step:
		g.stood++
	}
	if g.stood < 2 {
		return 0, true
	}
	*g = growth{}
	return most, true
}
