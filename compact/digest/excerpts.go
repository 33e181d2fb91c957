package digest

import (
	"cmp"
	"container/heap"
	"slices"
	"strings"
)

const (
	// excerptShare is the share of a part's remaining room that goes to lines
	// around names; the rest goes to bare names. On real agent runs, more lines
	// cost more names than they had. In a part of less than smallPart tokens they
	// get smallExcerptShare.
	excerptShare      = 0.6
	smallExcerptShare = 0.7
	smallPart         = 512
	// shortShare is the share of the excerpts' room that goes to short files. In
	// a small part they get minShort tokens, but at most mostShort of that room:
	// an agent reads its task and its settings once, and needs them to the end.
	shortShare = 0.2
	minShort   = 200
	mostShort  = 0.6

	excerptLabel = "excerpts:\n"
)

// passage is the excerpts of one source.
type passage struct {
	*source
	excerpts []excerpt
}

// quotes are the chosen excerpts.
type quotes struct {
	*part
	passages map[int]*passage // by the number of the source
	misses   int
}

// take quotes an excerpt of a source, unless it does not fit or is quoted
// already. It returns the tokens spent.
func (q *quotes) take(src *source, e excerpt, room int) int {
	p := q.passages[src.number]
	if p == nil {
		p = &passage{source: src}
	}
	e, i, j, had := e.merge(p.excerpts)
	line := strings.Trim(e.in[e.from:e.to], "-*• \t\r\n")
	if had == e.to-e.from || q.recorded[line] {
		return 0
	}
	n := q.cost(e.in[e.from:e.to])*(e.to-e.from-had)/(e.to-e.from) + 1
	if len(p.excerpts) == 0 {
		n += q.cost(src.label()) + 2
	}
	if n > room {
		q.misses++
		return 0
	}
	if src.role.Result() && src.call != nil && src.call.whole() {
		q.recorded[src.call.name()] = true // its label is the call
	}
	q.misses = 0
	q.recorded[line] = true
	q.index.tell(line)
	p.excerpts = slices.Replace(p.excerpts, i, j, e)
	q.passages[src.number] = p
	return n
}

// excerpts returns the lines around the names most likely to be needed, under
// their sources. A name alone says that a thing exists, its line says what it
// is. For a name in the line of a call the call is picked. Some room is for
// short files first. It also returns the tokens spent.
func (p *part) excerpts(room int) (written string, spent int) {
	if room -= p.cost(excerptLabel); room < leastRoom {
		return "", 0
	}
	q := quotes{part: p, passages: map[int]*passage{}}
	room -= q.shortFiles(max(share(room, shortShare), min(minShort, share(room, mostShort))))
	next := q.candidates(room)
	for next.Len() > 0 && room >= leastRoom && q.misses <= maxMisses {
		c := heap.Pop(next).(*candidate)
		if c.worth <= 0 {
			break
		}
		// Some of its names may be in the record by now.
		if worth := q.worth(c); worth < c.worth {
			if c.worth, c.weighed = worth, c.weighed+1; c.weighed <= maxWeighed {
				heap.Push(next, c)
			}
			continue
		}
		n := 0
		if c.ofCall {
			n = p.pick(c.call, room)
			spent += n
		} else {
			n = q.take(c.source, c.excerpt, room)
		}
		if room -= n; n == 0 {
			q.misses++
			continue
		}
		for _, beside := range []*candidate{c.before, c.after} {
			if beside != nil && beside.place >= 0 {
				if worth := q.worth(beside); worth > beside.worth {
					beside.worth = worth
					heap.Fix(next, beside.place)
				}
			}
		}
	}
	if len(q.passages) == 0 {
		return "", spent
	}
	written = q.String()
	return written, spent + p.cost(written)
}

// String returns the excerpts under their sources, in the order of the sources.
func (q *quotes) String() string {
	ordered := make([]*passage, 0, len(q.passages))
	for _, p := range q.passages {
		ordered = append(ordered, p)
	}
	slices.SortFunc(ordered, func(a, b *passage) int { return cmp.Compare(a.number, b.number) })
	var b strings.Builder
	last := ""
	for _, p := range ordered {
		if from := "from " + p.label() + ":"; from != last {
			b.WriteString(from + "\n")
			last = from
		}
		var quote strings.Builder
		for i, e := range p.excerpts {
			if i > 0 && strings.IndexByte(e.in[p.excerpts[i-1].to:e.from], '\n') < 0 {
				quote.WriteString("…") // of one line
			} else {
				quote.WriteByte('\n')
			}
			quote.WriteString(e.in[e.from:e.to])
		}
		b.WriteString(withoutLabels(quote.String())[1:])
		b.WriteByte('\n')
	}
	return b.String()
}
