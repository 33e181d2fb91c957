package digest

import (
	"math"
	"slices"
	"strings"

	"laconic/compact"
)

// listNames writes the names most likely to be needed, in the order of their first occurrence. A run of names that differ by a number
// is one entry, written as its ends.
func (p *part) listNames(room int) {
	const label = "names:"
	room -= p.cost(label) + 2
	written := p.text.String()
	var chosen []*nameStat
	var list strings.Builder
	misses := 0
	for _, s := range p.names {
		if room < 3 || misses > maxMisses {
			break
		}
		if s.told == p.index.anew || !s.value || s.run != nil && s.run.listed {
			continue
		}
		entry := s.entry()
		n := p.cost(entry) + 1
		if n > room || strings.Contains(written, entry) || strings.Contains(list.String(), entry) {
			misses++
			continue
		}
		misses = 0
		if s.told = p.index.anew; s.run != nil {
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
	slices.SortFunc(chosen, func(a, b *nameStat) int { return int(a.order - b.order) })
	p.text.WriteString(label)
	for _, s := range chosen {
		p.text.WriteByte(' ')
		p.text.WriteString(s.entry())
	}
	p.text.WriteByte('\n')
}

// nameStat describes a name.
type nameStat struct {
	name    string
	visible int32 // how often it occurs in what the model reads
	told    int32 // index.anew as of the newest part that has it
	turn    int32 // the part to which it is new
	// In what left:
	occurrence         // the last one
	order      int32   // of the first occurrence
	latest     int32   // index of the last message with the name, or -1
	args, msgs int32   // how many calls and messages have the name
	least      int32   // length of the shortest text with the name
	prose      bool    // an assistant wrote it
	value      bool    // it occurred outside the keys of JSON
	near       bool    // it occurred near a name that the model read then
	shape      float32 // shapeWeight, or 0 if it was not computed yet
	score      float64 // how likely it is to be needed, per character
	run        *nameRun
}

// forget forgets what is known of the name in what left.
func (s *nameStat) forget() {
	*s = nameStat{name: s.name, visible: s.visible, told: s.told, shape: s.shape, latest: -1, least: math.MaxInt32}
}

// entry returns the text for the name in the list of names: for a run its ends.
func (s *nameStat) entry() string {
	if s.run != nil {
		return s.run.first + "…" + s.run.last
	}
	return s.name
}

// observe adds an occurrence of the name.
func (s *nameStat) observe(src *source, from, to int32) {
	if src.argument {
		s.args++
	} else if src.role == compact.Assistant {
		s.prose = true
	}
	s.occurrence = occurrence{src, from, to}
	if at := int32(src.at); s.latest != at {
		s.msgs++
		s.latest = at
	}
	s.least = min(s.least, int32(min(len(src.text), math.MaxInt32)))
	s.value = s.value || !asKey(src.text[to:])
}

// proximity finds the names of a text that occur near one that the model reads.
type proximity struct {
	last int // the end of the last name that the model reads
	open [4]struct {
		s  *nameStat
		to int
	}
	next int
}

// nearBytes is the distance up to which two names are near each other.
const nearBytes = 80

func (n *proximity) observe(s *nameStat, from, to int) {
	if s.visible == 0 {
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

// weight returns how likely the name is to be needed, per character. How likely a
// later call uses a name was measured on real agent runs: by its shape, by how
// many calls and messages have it, by its age, by the length of the text around
// it, because one name of a listing of thousands is seldom the one, and by what
// it occurs near.
func (s *nameStat) weight(messages int) float64 {
	if s.shape == 0 {
		s.shape = float32(shapeWeight(s.name))
	}
	w := float64(s.shape)
	w *= [...]float64{1, 4, 8}[min(s.args, 2)]
	w *= [...]float64{1, 1, 2.5, 4, 6}[min(s.msgs, 4)]
	w *= ages[int(s.latest)*(len(ages)-1)/messages]
	w *= min(4, max(0.3, math.Sqrt(1000/float64(s.least+1))))
	if s.prose {
		w *= 1.5
	}
	if s.near {
		w *= 3
	}
	if !s.value {
		w /= 100
	}
	return w / float64(2+len(s.name))
}

// ages are the factors by which newer names weigh more: those of the newest
// messages eight times as much as those of the oldest.
var ages = func() (factors [65]float64) {
	for i := range factors {
		factors[i] = math.Exp2(3 * float64(i) / float64(len(factors)-1))
	}
	return factors
}()

// occurrence is one place of a name: text[from:to] of a source.
type occurrence struct {
	*source
	from, to int32
}

// asKey reports whether a name is a key of JSON, by the text after it. The JSON
// may itself be in a string of JSON.
func asKey(rest string) bool {
	rest = strings.TrimLeft(rest, "\\")
	return strings.HasPrefix(rest, "\":") || strings.HasPrefix(rest, "\" :")
}
