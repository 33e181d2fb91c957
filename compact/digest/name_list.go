package digest

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"strings"

	"laconic/compact"
)

// names writes the names most likely to be needed that no kept message has, in
// the order of their first occurrence. A run of names that differ by a number
// is one entry, written as its ends.
func (d *digest) names(stats []*nameStat, room int) {
	const label = "names:"
	room -= d.cost(label) + 2
	written := d.text.String()
	var chosen []*nameStat
	var list strings.Builder
	misses := 0
	for _, s := range stats {
		if room < 3 || misses > maxMisses {
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

// nameStat describes a name in the messages that left.
type nameStat struct {
	occurrence  // the last one
	name        string
	order       int  // of the first occurrence
	latest      int  // index of the last message with the name
	args, msgs  int  // how many calls and messages have the name
	least       int  // length of the shortest text with the name
	prose, seen bool // an assistant wrote it; a kept message has it
	value       bool // it occurred outside the keys of JSON
	near        bool // it occurred near a name that a kept message has
	score       float64
	run         *nameRun
}

// entry returns the text for the name in the list of names: for a run its ends.
func (s *nameStat) entry() string {
	if s.run != nil {
		return s.run.first + "…" + s.run.last
	}
	return s.name
}

// namesIn returns the names in the messages that left, most likely needed
// first. How likely a later call uses a name was measured on real agent runs:
// by its shape, by how many calls and messages have it, by its age, by the
// length of the text around it, because one name of a listing of thousands is
// seldom the one, and by what it occurs near.
func (d *digest) namesIn() []*nameStat {
	index := make(map[string]*nameStat)
	for i := range d.kept {
		for text := range unwrapped(&d.kept[i]) {
			for from, to := range names(text) {
				if name := text[from:to]; len(index) < maxNames && index[name] == nil {
					index[strings.Clone(name)] = &nameStat{seen: true}
				}
			}
		}
	}
	var all []*nameStat
	found := 0
	for i := range d.sources {
		src := &d.sources[i]
		near := proximity{last: -nearBytes - 1}
		for from, to := range names(src.text) {
			name := src.text[from:to]
			s := index[name]
			if s == nil {
				if len(all) == maxNames {
					all = d.ranked(all)
					for _, weak := range all[maxNames/2:] {
						delete(index, weak.name)
					}
					all = all[:maxNames/2]
				}
				s = &nameStat{name: name, order: found, least: math.MaxInt, latest: -1}
				index[name] = s
				all = append(all, s)
				found++
			}
			near.observe(s, from, to)
			if !s.seen {
				s.observe(src, from, to)
			}
		}
	}
	all = d.ranked(all)
	markRuns(all)
	return all
}

// maxNames bounds the memory that names take: if there are more, the less
// likely half is forgotten. It is many times what a list of names holds.
const maxNames = 1 << 15

// ranked sorts names by how likely they are to be needed, as far as they are
// known by now.
func (d *digest) ranked(all []*nameStat) []*nameStat {
	for _, s := range all {
		s.score = s.weight(len(d.lost))
	}
	slices.SortFunc(all, func(a, b *nameStat) int {
		return cmp.Or(cmp.Compare(b.score, a.score), a.order-b.order)
	})
	return all
}

// unwrapped yields the texts and the arguments of a message.
func unwrapped(m *compact.Message) iter.Seq[string] {
	return func(yield func(string) bool) {
		for p := range m.Parts {
			if m.Parts[p].Kind != compact.KindText {
				continue
			}
			text := m.Parts[p].Text.String()
			if m.Role.Result() {
				text = unwrap(text)
			}
			if !yield(text) {
				return
			}
		}
		for c := range m.Calls {
			if !yield(unwrap(m.Calls[c].Arguments.String())) {
				return
			}
		}
	}
}

// observe adds an occurrence of the name.
func (s *nameStat) observe(src *source, from, to int) {
	if src.argument {
		s.args++
	} else if src.role == compact.Assistant {
		s.prose = true
	}
	s.occurrence = occurrence{src, from, to}
	if s.latest != src.at {
		s.msgs++
		s.latest = src.at
	}
	s.least = min(s.least, len(src.text))
	s.value = s.value || !asKey(src.text[to:])
}

// proximity finds the names of a text that occur near a seen name.
type proximity struct {
	last int // the end of the last seen name
	open [4]struct {
		s  *nameStat
		to int
	}
	next int
}

// nearBytes is the distance up to which two names are near each other.
const nearBytes = 80

func (n *proximity) observe(s *nameStat, from, to int) {
	if !s.seen {
		s.near = s.near || from-n.last <= nearBytes
		n.open[n.next].s, n.open[n.next].to = s, to
		n.next = (n.next + 1) % len(n.open)
		return
	}
	n.last = to
	for i := range n.open {
		if o := n.open[i]; o.s != nil && from-o.to <= nearBytes {
			o.s.near = true
		}
		n.open[i].s = nil
	}
}

// weight returns how likely the name is to be needed, per character.
func (s *nameStat) weight(messages int) float64 {
	w := shapeWeight(s.name)
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

// occurrence is one place of a name: text[from:to] of a source.
type occurrence struct {
	*source
	from, to int
}

// asKey reports whether a name is a key of JSON, by the text after it. The JSON
// may itself be in a string of JSON.
func asKey(rest string) bool {
	rest = strings.TrimLeft(rest, "\\")
	return strings.HasPrefix(rest, "\":") || strings.HasPrefix(rest, "\" :")
}
