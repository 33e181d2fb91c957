package digest

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// sentence is a sentence of a user.
type sentence struct {
	*source
	text   string  // on one line
	order  int     // in the source
	weight float64 // how much an agent needs it
}

// The weights of sentences that bind; of others the weight is much less.
const (
	bindsFirmly = 20
	binds       = 10
)

const (
	sentenceChars = 300 // of a quoted sentence
	// sentencesOfText is how many sentences of one text may be recorded.
	sentencesOfText = 40
	// usualText is the length of what users write, in bytes. In a longer text
	// most is pasted.
	usualText = 1000
)

// readUser finds the sentences in a text of a user.
func (r *Record) readUser(s *source) {
	rarity := min(1, math.Sqrt(usualText/float64(len(s.text)+1)))
	bound, at := false, s.binding
	for from, to := range sentences(s.text) {
		weight := 0.0
		for ; len(at) > 0 && int(at[0]) < to; at = at[1:] {
			if word := int(at[0]); word >= from {
				weight = max(weight, bindingWeight(s.text[from:word], s.text[word:to]))
			}
		}
		text := OneLine(s.text[from:to], sentenceChars)
		bound = bound || weight > 0
		if weight == 0 {
			weight = plainWeight(text) * rarity
		}
		if weight > 0 {
			s.said = append(s.said, sentence{s, text, len(s.said), weight})
		}
	}
	if len(s.said) > sentencesOfText {
		slices.SortStableFunc(s.said, func(a, b sentence) int { return cmp.Compare(b.weight, a.weight) })
		s.said = slices.Clone(s.said[:sentencesOfText])
	}
	if r.all.users = append(r.all.users, s); bound {
		r.all.binding = append(r.all.binding, s)
	}
}

// bindingWeight returns how much a sentence binds by one of its words, which
// begins the text after; 0 if the sentence only tells what is: I don't remember.
func bindingWeight(before, after string) float64 {
	word, rest := firstWord(after)
	switch word {
	case "only":
		return binds
	case "do", "don", "don't":
		switch subject := lastWord(before); subject {
		case "", "please", "and", "but", "so", "also", "just", "then", "or":
			return bindsFirmly
		case "i", "we", "you":
			verb, _ := firstWord(strings.TrimPrefix(strings.TrimPrefix(rest, "’t"), " not"))
			if !opinions[verb] {
				return binds
			}
		}
		return 0
	}
	return bindsFirmly
}

// plainWeight returns how much an agent needs a sentence without words that bind:
// 0 if it is only polite, less for questions and what the user tells of himself,
// more for what holds in general.
func plainWeight(text string) float64 {
	text = strings.TrimLeft(text, "-*•>#0123456789.) ")
	first, rest := firstWord(text)
	w := 1.0
	for polite[first] {
		if first != "please" {
			w = 0.6 // it agrees to what the assistant proposed
		}
		text = strings.TrimLeft(rest, ",.!;:- ")
		first, rest = firstWord(text)
	}
	blanks := strings.Count(text, " ")
	if foreign := strings.IndexFunc(text, func(c rune) bool { return c >= 0x2E80 }) >= 0; foreign {
		blanks = len(text) / 6 // a script without blanks
	}
	switch {
	case blanks == 0 || len(text) < 8:
		return 0
	case strings.HasSuffix(strings.TrimRight(text, `"')* `), "?"):
		w *= 0.3
	case blanks < 4:
		w *= 0.5
	}
	if verb, _ := firstWord(rest); strings.HasPrefix(first, "i'") || (first == "i" || first == "my") && !wishes[verb] {
		w *= 0.6
	}
	for from, to := range words(text) {
		if general[strings.ToLower(text[from:to])] {
			return w * 1.5
		}
	}
	return w
}

// firstWord returns the word that a text begins with, in lower case, and what
// follows it.
func firstWord(text string) (word, rest string) {
	text = strings.TrimLeft(text, " ")
	i := 0
	for i < len(text) && (class[text[i]]&(lower|upper) != 0 || text[i] == '\'') {
		i++
	}
	return strings.ToLower(text[:i]), text[i:]
}

// lastWord returns the word that a text ends with, in lower case.
func lastWord(text string) string {
	text = strings.TrimRight(text, " ")
	i := len(text)
	for i > 0 && class[text[i-1]]&(lower|upper) != 0 {
		i--
	}
	return strings.ToLower(text[i:])
}

var (
	polite   = setOf("yes no ok okay sure great thanks thank hi hello hey please alright right good perfect yep yeah well")
	opinions = setOf("remember recall have know see think believe understand mind get find care")
	wishes   = setOf("want need prefer expect insist")
	// general are words of what holds in general.
	general = setOf("every each any all none nothing nobody everything everyone without until till most least instead rather except unless " +
		"limits should shall may might cannot stay stays keep keeps remain remains leave avoid stick prefer want not no whenever wherever " +
		"before after later during while if when only")
)

func setOf(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}

// writeUsers writes the sentences of users that an agent needs most, those of a
// text on one line, in their order. Sentences that bind come first and may fill
// the room, others only plain. It returns the tokens spent.
func (p *part) writeUsers(room, plain int) (spent int) {
	var all []sentence
	for _, s := range p.users {
		all = append(all, s.said...)
	}
	for _, s := range p.binding {
		all = append(all, s.said...) // again, or too old for users
	}
	slices.SortStableFunc(all, func(a, b sentence) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(b.number, a.number), cmp.Compare(a.order, b.order))
	})
	var chosen []sentence
	labelled := map[*source]bool{}
	misses := 0
	for _, s := range all {
		if spent >= room || misses > maxMisses {
			break
		}
		if p.recorded[s.text] {
			continue
		}
		n := p.cost(s.text) + 1
		if !labelled[s.source] {
			n += 2
		}
		left := room - spent
		if s.weight < binds {
			left = plain - spent
		}
		if n > left {
			misses++
			continue
		}
		p.recorded[s.text], labelled[s.source] = true, true
		spent += n
		chosen = append(chosen, s)
	}
	if len(chosen) == 0 && misses > 0 && !p.recorded[all[0].text] && plain > leastRoom { // none fits
		s := all[0]
		s.text = OneLine(s.text, 3*(plain-3))
		if n := p.cost(s.text) + 3; n <= plain {
			chosen, spent = append(chosen, s), n
		}
	}
	slices.SortFunc(chosen, func(a, b sentence) int {
		return cmp.Or(cmp.Compare(a.number, b.number), cmp.Compare(a.order, b.order))
	})
	for i, s := range chosen {
		if i == 0 || chosen[i-1].source != s.source {
			p.text.WriteString("user:")
		}
		p.text.WriteString(" " + s.text)
		if i+1 == len(chosen) || chosen[i+1].source != s.source {
			p.text.WriteByte('\n')
		}
	}
	return spent
}
