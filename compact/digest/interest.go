package digest

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// interest knows what the work is about: the terms that the messages which stay,
// the users and the assistant name. A line is worth what its terms are, and less
// the more lines have them.
type interest struct {
	terms map[string]int32
	list  []term
	most  int
	long  int   // the length of the longest line
	lines int32 // that were counted
}

type term struct {
	want  float32 // how much it is spoken of
	lines float32 // how many lines of results have it
	last  int32   // the last of them
}

// feed notes that a text of some weight speaks of its terms. Plain words are
// terms only with words set, as in what users say.
func (x *interest) feed(text string, weight float32, words bool) {
	x.most += len(text) / bytesPerTerm
	terms(text, func(t string, name bool) {
		w := weight
		if !name {
			w /= 4
		}
		if words || name {
			if i, ok := x.of(t); ok {
				x.list[i].want = min(x.list[i].want+w, mostWanted)
			}
		}
	})
}

// of returns the number of a term, or false if there are too many.
func (x *interest) of(t string) (i int32, ok bool) {
	if i, ok = x.terms[t]; ok || len(x.list) >= x.most {
		return i, ok
	}
	i = int32(len(x.list))
	x.terms[t] = i
	x.list = append(x.list, term{})
	return i, true
}

// interest returns what the terms of a line are worth, once all lines are counted: the dearest
// counts whole, others less.
func (b *body) interest(x *interest, i int) float32 {
	var best best
	ids := b.ids[b.lines[i].terms[0]:b.lines[i].terms[1]]
	for k, id := range ids {
		t := &x.list[id]
		p := max(t.want, met) * 1.3 / (1 + 0.03*t.lines/max(1, t.want))
		if t.last != b.first+int32(i) {
			p *= before
		}
		if !slices.Contains(ids[:min(k, 16)], id) {
			best.add(p)
		}
	}
	return best[0] + best[1]*0.71 + best[2]*0.58 + best[3]*0.5
}

// best are the largest of some numbers, in falling order.
type best [4]float32

func (b *best) add(s float32) {
	for i := range b {
		b[i], s = max(b[i], s), min(b[i], s)
	}
}

func (b *best) sum() float32 { return b[0] + b[1] + b[2] + b[3] }

// terms calls f for the terms of a text: names of things, their last parts, plain words, and in
// other alphabets pairs of characters.
func terms(text string, f func(term string, name bool)) {
	for s := range strings.FieldsFuncSeq(text, func(r rune) bool {
		return (r|' ' < 'a' || r|' ' > 'z') && !strings.ContainsRune(digits+"_./:-@", r)
	}) {
		s = strings.TrimLeft(strings.TrimRight(s, ".:-"), ":-")
		name := isName(s)
		if len(s) < minName || len(s) > maxName || !name && len(s) < minTerm {
			continue
		}
		f(s, name)
		for _, marks := range []string{"/:.", "/"} {
			if last := s[strings.LastIndexAny(s, marks)+1:]; len(last) < len(s) && len(last) >= minTerm {
				f(last, true)
			}
		}
	}
	for s := range strings.FieldsFuncSeq(text, func(r rune) bool { return r < utf8.RuneSelf }) {
		_, n := utf8.DecodeRuneInString(s)
		for at := n; at < len(s); at += n {
			before := n
			_, n = utf8.DecodeRuneInString(s[at:])
			f(s[at-before:at+n], false)
		}
	}
}

const digits = "0123456789"

// isName reports whether a term has digits or marks, or a capital behind a small letter.
func isName(term string) bool {
	for i := range len(term) {
		if c := term[i]; c < 'A' || c == '_' || c < 'a' && i > 0 && term[i-1] >= 'a' {
			return true
		}
	}
	return false
}

// specifics returns how many words of a line have letters and digits, but for paths.
func specifics(l string) (n int) {
	terms(l, func(t string, name bool) {
		if name && len(t) >= 6 && strings.ContainsAny(t, digits) && strings.IndexByte(t, '/') < 0 {
			n++
		}
	})
	return n
}
