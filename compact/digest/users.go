package digest

import (
	"cmp"
	"iter"
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

// sentences yields each sentence of a text as text[from:to], but nothing of code
// between fences and of lines that are tags or JSON.
func sentences(text string) iter.Seq2[int, int] {
	return func(yield func(from, to int) bool) {
		fenced := false
		for at, next := 0, 0; at < len(text); at = next {
			end := lineEnds(text, at)
			next = end + 1
			line := strings.TrimSpace(text[at:end])
			if strings.HasPrefix(line, "```") {
				fenced = !fenced
				continue
			}
			if fenced || line == "" || isData(line) {
				continue
			}
			for wraps(text, at, end) {
				end = lineEnds(text, end+1)
				next = end + 1
			}
			for from := at; from < end; {
				to := from + sentenceLength(text[from:end])
				if !yield(from, to) {
					return
				}
				from = to
			}
		}
	}
}

// isData reports whether a line is a tag or JSON.
func isData(line string) bool {
	return line[0] == '<' && strings.IndexByte(line, ' ') < 0 || line[0] == '{' ||
		line[0] == '[' && len(line) > 1 && strings.IndexByte(`{["`, line[1]) >= 0
}

// lineEnds returns the index of the end of the line at an index.
func lineEnds(text string, at int) int {
	if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
		return at + i
	}
	return len(text)
}

// wraps reports whether a sentence continues behind the end of a line: the line is
// long, and a small letter follows.
func wraps(text string, from, end int) bool {
	return end-from >= 40 && end+1 < len(text) && class[text[end+1]] == lower && strings.IndexByte(".!?:;", text[end-1]) < 0
}

// sentenceLength returns the length of the sentence that a text begins with,
// with the blanks after it.
func sentenceLength(text string) int {
	for at := 0; ; {
		i := strings.IndexAny(text[at:], ".!?")
		if i < 0 {
			return len(text)
		}
		at += i + 1
		for at < len(text) && strings.IndexByte(`.!?)"'*`, text[at]) >= 0 {
			at++
		}
		if at < len(text) && (!isBlank(text[at]) || abbreviated(text[:at])) {
			continue
		}
		for at < len(text) && isBlank(text[at]) {
			at++
		}
		return at
	}
}

// abbreviated reports whether a text ends with an abbreviation, or with the
// number of a list item.
func abbreviated(text string) bool {
	word := text[strings.LastIndexByte(text, ' ')+1:]
	bare := strings.TrimSuffix(word, ".")
	if bare == "" || len(bare) == len(word) {
		return false
	}
	return len(bare) <= 2 && class[bare[0]]&(upper|digit) != 0 || abbreviations[bare] ||
		len(bare) <= 4 && strings.IndexByte(bare, '.') >= 0 && class[bare[0]]&(lower|upper) != 0 // e.g.
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
	abbreviations = setOf("Mrs Prof approx etc vs No")
	polite        = setOf("yes no ok okay sure great thanks thank hi hello hey please alright right good perfect yep yeah well")
	opinions      = setOf("remember recall have know see think believe understand mind get find care")
	wishes        = setOf("want need prefer expect insist")
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
