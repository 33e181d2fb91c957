package stage

import (
	"math"
	"slices"
	"strings"

	"laconic/compact"
)

// names writes the names most likely to be needed that the model reads nowhere
// else, in the order in which they came up first.
func (d *digest) names(stats []*nameStat, room int) {
	const label = "names:"
	room -= d.cost(label) + 2
	written := d.text.String()
	var chosen []*nameStat
	var list strings.Builder
	for _, s := range stats {
		if room < 3 {
			break
		}
		n := d.cost(s.name) + 1
		if n > room || strings.Contains(written, s.name) || strings.Contains(list.String(), s.name) {
			continue
		}
		room -= n
		chosen = append(chosen, s)
		list.WriteString(s.name)
		list.WriteByte(' ')
	}
	if len(chosen) == 0 {
		return
	}
	slices.SortFunc(chosen, func(a, b *nameStat) int { return a.order - b.order })
	d.text.WriteString(label)
	for _, s := range chosen {
		d.text.WriteByte(' ')
		d.text.WriteString(s.name)
	}
	d.text.WriteByte('\n')
}

// nameStat is what is known of a name in what left.
type nameStat struct {
	sighting    // the last one
	name        string
	order       int  // counts up with first appearance
	args, msgs  int  // how many calls and messages name it
	source      int  // length of the shortest text that does
	prose, seen bool // an assistant wrote it; the model still reads it
	value       bool // it stood somewhere as something else than a key of JSON
	score       float64
}

// namesIn finds the names of lost messages that no kept message shows, and
// weighs them. How likely a name is to be used by a later call was measured on
// real agent runs: by what it looks like (a path, a snake_case word), by how
// many calls and messages named it, by how long ago, and by how long the text
// was that it stood in: one name of a listing of thousands is seldom the one.
func namesIn(lost, kept []compact.Message) []*nameStat {
	index := make(map[string]*nameStat)
	visit(kept, func(w sighting) {
		if name := w.name(); index[name] == nil {
			index[strings.Clone(name)] = &nameStat{seen: true}
		}
	})
	var all []*nameStat
	visit(lost, func(w sighting) {
		name := w.name()
		s := index[name]
		if s == nil {
			s = &nameStat{name: name, order: len(all), source: math.MaxInt}
			s.at = -1
			index[name] = s
			all = append(all, s)
		}
		if s.seen {
			return
		}
		if w.argument {
			s.args++
		} else if w.role == compact.Assistant {
			s.prose = true
		}
		if s.at != w.at {
			s.msgs++
		}
		s.sighting = w
		s.source = min(s.source, len(w.text))
		s.value = s.value || !asKey(w.text[w.to:])
	})
	for _, s := range all {
		s.score = s.weigh(len(lost))
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

// weigh is how much a name is worth per character.
func (s *nameStat) weigh(messages int) float64 {
	w := looks(s.name)
	w *= [...]float64{1, 4, 8}[min(s.args, 2)]
	w *= [...]float64{1, 1, 2.5, 4, 6}[min(s.msgs, 4)]
	w *= math.Exp2(3 * float64(s.at) / float64(messages))
	w *= min(4, max(0.3, math.Sqrt(1000/float64(s.source+1))))
	if s.prose {
		w *= 1.5
	}
	if !s.value {
		w /= 10
	}
	return w / float64(2+len(s.name))
}

// sighting is one place of a name: text[from:to].
type sighting struct {
	text     string
	from, to int
	number   int // of the text, among all that were visited
	at       int // index of its message
	role     compact.Role
	argument bool // the text is the arguments of a call
}

func (w *sighting) name() string { return w.text[w.from:w.to] }

// visit calls f for every name in the texts and arguments of messages.
func visit(msgs []compact.Message, f func(sighting)) {
	number := 0
	look := func(text string, at int, argument bool) {
		w := sighting{text: text, number: number, at: at, role: msgs[at].Role, argument: argument}
		names(text, func(from, to int) {
			w.from, w.to = from, to
			f(w)
		})
		number++
	}
	for i := range msgs {
		m := &msgs[i]
		for p := range m.Parts {
			if m.Parts[p].Kind == compact.KindText {
				look(m.Parts[p].Text.String(), i, false)
			}
		}
		for c := range m.Calls {
			look(m.Calls[c].Arguments.String(), i, true)
		}
	}
}

// asKey tells from what follows a name whether it is a key of JSON, which may
// itself stand in a string of JSON.
func asKey(rest string) bool {
	rest = strings.TrimLeft(rest, "\\")
	return strings.HasPrefix(rest, "\":") || strings.HasPrefix(rest, "\" :")
}
