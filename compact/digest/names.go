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
		for from, to := range spansOf(text, lower|upper|digit|mark) {
			word := to-from >= minWord && class[text[from]] == upper
			// The trims of package strings take five times as long: these are all the
			// words of a history.
			for to > from && (text[to-1] == '.' || text[to-1] == ':' || text[to-1] == '-') {
				to--
			}
			for from < to && (text[from] == ':' || text[from] == '-') {
				from++
			}
			if to-from < minName || to-from > maxName {
				continue
			}
			seen, camel := shape(text[from:to])
			if (camel || seen&(digit|mark) != 0 || word && to-from >= minWord && !beginsSentence(text[:from])) && !yield(from, to) {
				return
			}
		}
	}
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
