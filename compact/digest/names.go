package digest

import (
	"iter"
	"strings"
)

// The lengths of names, in bytes: the least, the largest, and the least of a
// capitalized word.
const (
	minName = 4
	maxName = 100
	minWord = 8
)

// names yields every text[from:to] that looks like the name of a thing: a path, an
// identifier, a number, an id, a date, a long capitalized word that does not
// begin a sentence. Other plain words are not names.
func names(text string) iter.Seq2[int, int] {
	return func(yield func(from, to int) bool) {
		for t := (tokens{text: text}); t.next(); {
			if t.isName() && !yield(t.from, t.to) {
				return
			}
		}
	}
}

// tokens are the longest runs of letters, digits and marks of a text, from left
// to right, without the marks that end a sentence.
type tokens struct {
	text     string
	at       int  // where the next run may begin
	from, to int  // of the token
	seen     byte // the classes of its bytes
	camel    bool // a capital follows a small letter
	long     bool // the run was minWord bytes and began with a capital
}

// next finds the next token, and reports whether there is one.
func (t *tokens) next() bool {
	text, i := t.text, t.at
	for i < len(text) && class[text[i]] == 0 {
		i++
	}
	if i == len(text) {
		return false
	}
	t.from = i
	t.seen, t.camel = 0, false
	before := byte(0)
	for ; i < len(text); i++ {
		c := class[text[i]]
		if c == 0 {
			break
		}
		t.seen |= c
		t.camel = t.camel || c == upper && before == lower
		before = c
	}
	t.at, t.to = i, i
	t.long = i-t.from >= minWord && class[text[t.from]] == upper
	if t.seen&mark != 0 {
		t.trim()
	}
	return true
}

// trim leaves out the marks at both ends of the token that belong to the sentence.
func (t *tokens) trim() {
	was := t.to - t.from
	for t.to > t.from && (t.text[t.to-1] == '.' || t.text[t.to-1] == ':' || t.text[t.to-1] == '-') {
		t.to--
	}
	for t.from < t.to && (t.text[t.from] == ':' || t.text[t.from] == '-') {
		t.from++
	}
	if t.to-t.from < was {
		t.seen, t.camel = shape(t.text[t.from:t.to])
	}
}

// isName reports whether the token looks like the name of a thing.
func (t *tokens) isName() bool {
	n := t.to - t.from
	return n >= minName && n <= maxName &&
		(t.camel || t.seen&(digit|mark) != 0 || t.long && n >= minWord && !beginsSentence(t.text[:t.from]))
}

// words yields each word, a run of ASCII letters, as text[from:to].
func words(text string) iter.Seq2[int, int] { return spansOf(text, lower|upper) }

// spansOf yields each longest text[from:to] of bytes of some classes.
func spansOf(text string, classes byte) iter.Seq2[int, int] {
	return func(yield func(from, to int) bool) {
		for i := 0; i < len(text); {
			if class[text[i]]&classes == 0 {
				i++
				continue
			}
			j := i + 1
			for j < len(text) && class[text[j]]&classes != 0 {
				j++
			}
			if !yield(i, j) {
				return
			}
			i = j
		}
	}
}

// shape returns the classes of the bytes of a name, and whether a capital follows
// a small letter.
func shape(name string) (seen byte, camel bool) {
	before := byte(0)
	for i := range len(name) {
		c := class[name[i]]
		seen |= c
		camel = camel || c == upper && before == lower
		before = c
	}
	return seen, camel
}

// beginsSentence reports whether a word after a text begins a sentence or a
// line.
func beginsSentence(before string) bool {
	at := len(before)
	for at > 0 && len(before)-at < 8 && strings.IndexByte(" \t\"'([*_#>-", before[at-1]) >= 0 {
		at--
	}
	return at == 0 || strings.IndexByte(".!?:\n\r", before[at-1]) >= 0
}

// The classes of bytes that names are made of.
const (
	lower = 1 << iota
	upper
	digit
	mark
)

var class = func() (t [256]byte) {
	for c := 'a'; c <= 'z'; c++ {
		t[c], t[c-'a'+'A'] = lower, upper
	}
	for c := '0'; c <= '9'; c++ {
		t[c] = digit
	}
	for _, c := range "_./:-@" {
		t[c] = mark
	}
	return t
}()

// shapeWeight returns how likely a name of this shape is to be used by a later
// call, relative to other shapes; measured on real agent runs.
func shapeWeight(name string) float64 {
	seen, camel := shape(name)
	switch {
	case strings.ContainsRune(name, '/'):
		return 2
	case seen&(lower|upper) == 0:
		return 1 // a number, a date
	case strings.ContainsRune(name, '.'):
		return 1.5
	case strings.ContainsRune(name, '_'):
		return 4
	case seen&digit != 0:
		return 3
	case camel:
		return 1.2
	}
	return 0.3
}
