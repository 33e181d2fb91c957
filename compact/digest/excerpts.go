package digest

import (
	"cmp"
	"slices"
	"strings"
)

const (
	// excerptShare is the share of a digest's remaining room that goes to lines
	// around names; the rest goes to bare names. On real agent runs, at half of
	// the peak, nine of ten needed names have their surroundings with it.
	excerptShare = 0.6
	// around is how many bytes of a long line stay on each side of a name, up to
	// the end of a word.
	around = 12
	// besideChars is the length up to which a line comes along with the line next
	// to it, minBeside the length from which it is worth that.
	besideChars = 60
	minBeside   = 6
	// shortShare is the share of the excerpts' room that goes to short files.
	shortShare = 0.2
)

// excerpt is the stretch [from, to) of a text that left.
type excerpt struct {
	in       string
	from, to int
}

// passage is the excerpts of one source.
type passage struct {
	*source
	excerpts []excerpt
}

// candidate is a line that may be quoted.
type candidate struct {
	*source
	excerpt
	order int
	run   *nameRun // if all names in the line are of one run
	value float64  // of the names in the line, per byte
}

// maxCandidates bounds how many names are considered for each token of room.
const maxCandidates = 4

// candidates returns the lines of the last occurrences of names. Lines with the
// most that is likely to be needed, for their length, come first.
func candidates(stats []*nameStat, room int) []*candidate {
	type place struct{ number, from int }
	at := map[place]*candidate{}
	var all []*candidate
	for _, s := range stats[:min(len(stats), maxCandidates*room)] {
		c := &candidate{source: s.source, order: len(all), run: s.run}
		if s.argument {
			if !strings.Contains(s.call.line(), s.name) {
				continue // a piece of the arguments says nothing
			}
			c.to = 40 + min(argChars, len(s.text))
		} else {
			c.excerpt = lineOf(s.text, int(s.from), int(s.to))
			if s.run == nil {
				c.excerpt = c.beside(int(s.from), int(s.to))
			}
		}
		key := place{s.number, c.from}
		if was := at[key]; was != nil {
			c, was.to = was, max(was.to, c.to)
		} else {
			at[key] = c
			all = append(all, c)
		}
		if s.run == nil {
			c.run = nil
		}
		c.value += s.score * float64(2+len(s.name))
	}
	for _, c := range all {
		c.value /= float64(lineCost + c.to - c.from)
	}
	slices.SortFunc(all, func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(b.value, a.value), cmp.Compare(a.order, b.order))
	})
	return all
}

// lineCost is the cost of a line beside its own text, in bytes.
const lineCost = 8

// quotes are the chosen excerpts.
type quotes struct {
	*part
	passages map[int]*passage // by the number of the source
	lines    map[string]bool
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
	if had == e.to-e.from || q.lines[line] || q.recorded[line] {
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
	q.misses = 0
	q.lines[line] = true
	p.excerpts = slices.Replace(p.excerpts, i, j, e)
	q.passages[src.number] = p
	return n
}

// excerpts returns the lines around the names most likely to be needed, under
// their sources. A name alone says that a thing exists, its line says what it
// is. For a name in a call's arguments the call is picked. Some room is for
// short files first. It also returns the tokens spent.
func (p *part) excerpts(room int) (written string, spent int) {
	const label = "excerpts:\n"
	if room -= p.cost(label); room < 8 {
		return "", 0
	}
	q := quotes{part: p, passages: map[int]*passage{}, lines: map[string]bool{}}
	room -= q.shortFiles(int(float64(room) * shortShare))
	for _, c := range candidates(p.names, room) {
		if room < 8 || q.misses > maxMisses {
			break
		}
		if c.run != nil && c.run.quoted {
			continue
		}
		n := 0
		if c.argument {
			n = p.pick(c.call, room)
			spent += n
		} else if n = q.take(c.source, c.excerpt, room); n > 0 && c.run != nil {
			c.run.quoted = true
		}
		if room -= n; n == 0 {
			q.misses++
		}
	}
	if len(q.passages) == 0 {
		return "", spent
	}
	written = label + q.String()
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
		for _, e := range p.excerpts {
			quote.WriteByte('\n')
			quote.WriteString(e.String())
		}
		b.WriteString(withoutLabels(quote.String())[1:])
		b.WriteByte('\n')
	}
	return b.String()
}

// lineOf returns the line of a name, or the surroundings of the name in a long
// line.
func lineOf(text string, nameFrom, nameTo int) excerpt {
	from, to := lineAt(text, nameFrom, nameTo)
	if from > 0 && text[from-1] != '\n' || to < len(text) && text[to] != '\n' || to-from > lineChars {
		from, to = wordStart(text, from, nameFrom-around), wordEnd(text, nameTo+around, to)
	}
	return excerpt{text, from, to}
}

// beside extends an excerpt by the line before and the line after, each if the
// name is at that end and the line is short.
func (e excerpt) beside(nameFrom, nameTo int) excerpt {
	if nameFrom-e.from < around && e.from > 0 && e.in[e.from-1] == '\n' {
		if f, t := lineAt(e.in, e.from-1, e.from-1); saysSome(e.in[f:t]) {
			e.from = f
		}
	}
	if e.to-nameTo < around && e.to < len(e.in) && e.in[e.to] == '\n' {
		if f, t := lineAt(e.in, e.to+1, e.to+1); saysSome(e.in[f:t]) {
			e.to = t
		}
	}
	return e
}

// saysSome reports whether a line is short, and more than a bracket.
func saysSome(line string) bool {
	return len(line) <= besideChars && len(strings.TrimSpace(line)) >= minBeside
}

// wordStart returns the start of the word at an index, but least at the least.
func wordStart(text string, least, at int) int {
	for at = max(at, least); at > least && at < len(text) && inWord(text[at]) && inWord(text[at-1]); {
		at--
	}
	return at
}

// wordEnd returns the end of the word at an index, but most at the most.
func wordEnd(text string, at, most int) int {
	for at = min(at, most); at < most && at > 0 && inWord(text[at]) && inWord(text[at-1]); {
		at++
	}
	return at
}

// inWord reports whether a byte belongs to a name or to a character beyond
// ASCII.
func inWord(c byte) bool { return class[c] != 0 || c >= 0x80 }

// String returns the excerpt, with … where it does not begin or end with a
// line.
func (e excerpt) String() string {
	s := e.in[e.from:e.to]
	if e.from > 0 && e.in[e.from-1] != '\n' {
		s = "…" + s
	}
	if e.to < len(e.in) && e.in[e.to] != '\n' {
		s += "…"
	}
	return s
}

func isBlank(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// merge joins an excerpt with those of a sorted list that it touches: joined
// replaces list[i:j], whose excerpts have had bytes.
func (e excerpt) merge(list []excerpt) (joined excerpt, i, j, had int) {
	for i < len(list) && list[i].to < e.from {
		i++
	}
	for j = i; j < len(list) && list[j].from <= e.to; j++ {
		e.from, e.to = min(e.from, list[j].from), max(e.to, list[j].to)
		had += list[j].to - list[j].from
	}
	return e, i, j, had
}
