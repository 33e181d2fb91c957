package stage

import (
	"cmp"
	"slices"
	"unicode/utf8"
)

const (
	// excerptShare is the part of the room of a digest, behind the user's words
	// and the calls, that goes to names with what stood around them; the rest
	// goes to bare names. Measured on real agent runs: at a half nine of ten
	// names that are needed have their surroundings too, and no more than one
	// in five hundred is lost for it.
	excerptShare = 0.5
	// around is how many characters of its text stay on each side of a name,
	// and upToBlank how many more bytes where that ends with a whole word.
	around    = 12
	upToBlank = 8
)

// excerpt is the stretch [from, to) of a text that left.
type excerpt struct {
	text     string
	from, to int
}

// excerpts writes the names most likely to be needed with their surroundings:
// a name alone says that a thing is there, its surroundings say what it is.
// Neighbours share one stretch. It gives the tokens spent.
func (d *digest) excerpts(stats []*nameStat, room int) (spent int) {
	const label = "excerpts:\n"
	room -= d.cost(label)
	type passage struct {
		order    int // of the first name taken from the text
		excerpts []excerpt
	}
	passages := map[int]*passage{} // by the number of the text
	for _, s := range stats {
		if room < 8 {
			break
		}
		if s.seen {
			continue
		}
		p := passages[s.number]
		if p == nil {
			p = &passage{order: s.order}
		}
		e, i, j, had := s.surroundings().merge(p.excerpts)
		if had == e.to-e.from {
			continue // it stands there already
		}
		n := d.cost(e.text[e.from:e.to])*(e.to-e.from-had)/(e.to-e.from) + 1
		if passages[s.number] == nil {
			n++
		}
		if n > room {
			continue
		}
		room -= n
		p.excerpts = slices.Replace(p.excerpts, i, j, e)
		passages[s.number] = p
	}
	if len(passages) == 0 {
		return 0
	}
	ordered := make([]*passage, 0, len(passages))
	for _, p := range passages {
		ordered = append(ordered, p)
	}
	slices.SortFunc(ordered, func(a, b *passage) int { return cmp.Compare(a.order, b.order) })
	start := d.text.Len()
	d.text.WriteString(label)
	for _, p := range ordered {
		for _, e := range p.excerpts {
			d.text.WriteString("…")
			d.text.WriteString(unlabelled(e.text[e.from:e.to]))
		}
		d.text.WriteString("…\n")
	}
	return d.cost(d.text.String()[start:])
}

// surroundings is the name where it stood last, with what stood around it.
func (s *nameStat) surroundings() excerpt {
	from, to := s.from, s.to
	for range around {
		_, n := utf8.DecodeLastRuneInString(s.text[:from])
		from -= n
		_, n = utf8.DecodeRuneInString(s.text[to:])
		to += n
	}
	for k := from; k > 0 && k > from-upToBlank; k-- {
		if isBlank(s.text[k-1]) {
			from = k
			break
		}
	}
	for k := to; k < len(s.text) && k < to+upToBlank; k++ {
		if isBlank(s.text[k]) {
			to = k
			break
		}
	}
	return excerpt{s.text, from, to}
}

func isBlank(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// merge joins an excerpt with those of the sorted list that it touches: it
// replaces list[i:j], which held had bytes.
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
