package digest

import (
	"math"
	"slices"
	"strings"

	"laconic/compact"
)

// mostMisses bounds how many things a section looks at that do not fit, or
// stand there already.
const mostMisses = 256

// names writes the names most likely to be needed that the model reads nowhere
// else, in the order in which they came up first. A run of names that differ by
// a number is one entry, told by its ends.
func (d *digest) names(stats []*nameStat, room int) {
	const label = "names:"
	room -= d.cost(label) + 2
	written := d.text.String()
	var chosen []*nameStat
	var list strings.Builder
	misses := 0
	for _, s := range stats {
		if room < 3 || misses > mostMisses {
			break
		}
		if s.run != nil && s.run.listed {
			continue
		}
		entry := s.entry()
		n := d.cost(entry) + 1
		if n > room || strings.Contains(written, entry) || strings.Contains(list.String(), entry) {
			misses++
			continue
		}
		misses = 0
		if s.run != nil {
			s.run.listed = true
		}
		room -= n
		chosen = append(chosen, s)
		list.WriteString(entry)
		list.WriteByte(' ')
	}
	if len(chosen) == 0 {
		return
	}
	slices.SortFunc(chosen, func(a, b *nameStat) int { return a.order - b.order })
	d.text.WriteString(label)
	for _, s := range chosen {
		d.text.WriteByte(' ')
		d.text.WriteString(s.entry())
	}
	d.text.WriteByte('\n')
}

// nameStat is what is known of a name in what left.
type nameStat struct {
	sighting    // the last one
	name        string
	order       int  // counts up with first appearance
	latest      int  // index of the last message that names it
	args, msgs  int  // how many calls and messages name it
	least       int  // length of the shortest text that does
	prose, seen bool // an assistant wrote it; the model still reads it
	value       bool // it stood somewhere as something else than a key of JSON
	near        bool // it stood near a name that the model still reads
	score       float64
	run         *nameRun
}

// entry is what the list of names says for it.
func (s *nameStat) entry() string {
	if s.run != nil {
		return s.run.first + "…" + s.run.last
	}
	return s.name
}

// namesIn finds the names of what left that no kept message shows, and weighs
// them. How likely a name is to be used by a later call was measured on real
// agent runs: by what it looks like (a path, a snake_case word), by how many
// calls and messages named it, by how long ago, by how long the text was that
// it stood in, one name of a listing of thousands is seldom the one, and by
// what it stood near.
func (d *digest) namesIn() []*nameStat {
	index := make(map[string]*nameStat)
	for i := range d.kept {
		eachReading(&d.kept[i], func(text string) {
			names(text, func(from, to int) {
				if name := text[from:to]; len(index) < mostNames && index[name] == nil {
					index[strings.Clone(name)] = &nameStat{seen: true}
				}
			})
		})
	}
	var all []*nameStat
	found := 0
	for i := range d.sources {
		src := &d.sources[i]
		n := neighbours{last: -nearby - 1}
		names(src.text, func(from, to int) {
			name := src.text[from:to]
			s := index[name]
			if s == nil {
				if len(all) == mostNames {
					all = d.likeliest(all)
					for _, weak := range all[mostNames/2:] {
						delete(index, weak.name)
					}
					all = all[:mostNames/2]
				}
				s = &nameStat{name: name, order: found, least: math.MaxInt, latest: -1}
				index[name] = s
				all = append(all, s)
				found++
			}
			n.note(s, from, to)
			if !s.seen {
				s.sight(src, from, to)
			}
		})
	}
	all = d.likeliest(all)
	findRuns(all)
	return all
}

// mostNames bounds the memory that names take: where there are more, the less
// likely half is forgotten. It is many times what a list of names holds.
const mostNames = 1 << 15

// likeliest sorts names by how likely they are to be needed, as far as they are
// known by now.
func (d *digest) likeliest(all []*nameStat) []*nameStat {
	for _, s := range all {
		s.score = s.weigh(len(d.lost))
	}
	slices.SortFunc(all, func(a, b *nameStat) int {
		switch {
		case a.score > b.score:
			return -1
		case a.score < b.score:
			return 1
		}
		return a.order - b.order
	})
	return all
}

// eachReading calls f for the texts and the arguments of a message.
func eachReading(m *compact.Message, f func(text string)) {
	for p := range m.Parts {
		if m.Parts[p].Kind == compact.KindText {
			text := m.Parts[p].Text.String()
			if m.Role.Result() {
				text = reading(text)
			}
			f(text)
		}
	}
	for c := range m.Calls {
		f(reading(m.Calls[c].Arguments.String()))
	}
}

// sight notes one more place of a name.
func (s *nameStat) sight(src *source, from, to int) {
	if src.argument {
		s.args++
	} else if src.role == compact.Assistant {
		s.prose = true
	}
	s.sighting = sighting{src, from, to}
	if s.latest != src.at {
		s.msgs++
		s.latest = src.at
	}
	s.least = min(s.least, len(src.text))
	s.value = s.value || !asKey(src.text[to:])
}

// neighbours finds the names of a text that stand near one that the model
// still reads.
type neighbours struct {
	last int // where the last name that is read ends
	open [4]struct {
		s  *nameStat
		to int
	}
	next int
}

// nearby is how many bytes apart names are near each other.
const nearby = 80

func (n *neighbours) note(s *nameStat, from, to int) {
	if !s.seen {
		s.near = s.near || from-n.last <= nearby
		n.open[n.next].s, n.open[n.next].to = s, to
		n.next = (n.next + 1) % len(n.open)
		return
	}
	n.last = to
	for i := range n.open {
		if o := n.open[i]; o.s != nil && from-o.to <= nearby {
			o.s.near = true
		}
		n.open[i].s = nil
	}
}

// weigh is how much a name is worth per character.
func (s *nameStat) weigh(messages int) float64 {
	w := looks(s.name)
	w *= [...]float64{1, 4, 8}[min(s.args, 2)]
	w *= [...]float64{1, 1, 2.5, 4, 6}[min(s.msgs, 4)]
	w *= math.Exp2(3 * float64(s.latest) / float64(messages))
	w *= min(4, max(0.3, math.Sqrt(1000/float64(s.least+1))))
	if s.prose {
		w *= 1.5
	}
	if s.near {
		w *= 3
	}
	if !s.value {
		w /= 10
	}
	return w / float64(2+len(s.name))
}

// sighting is one place of a name: text[from:to] of a source.
type sighting struct {
	*source
	from, to int
}

// asKey reports from what follows a name whether it is a key of JSON, which may
// itself stand in a string of JSON.
func asKey(rest string) bool {
	rest = strings.TrimLeft(rest, "\\")
	return strings.HasPrefix(rest, "\":") || strings.HasPrefix(rest, "\" :")
}
