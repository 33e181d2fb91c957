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
		for i := 0; i < len(text); {
			if class[text[i]] == 0 {
				i++
				continue
			}
			j, seen, camel := i, byte(0), false
			for ; j < len(text); j++ {
				c := class[text[j]]
				if c == 0 {
					break
				}
				seen |= c
				camel = camel || c == upper && j > i && class[text[j-1]] == lower
			}
			if word := j-i >= minWord && class[text[i]] == upper; seen&(digit|mark) != 0 || camel || word {
				from, to := i, j
				for to > from && (text[to-1] == '.' || text[to-1] == ':' || text[to-1] == '-') {
					to--
				}
				for from < to && (text[from] == '-' || text[from] == ':') {
					from++
				}
				if n := to - from; n >= minName && n <= maxName && (camel || seen&digit != 0 || marked(text[from:to]) ||
					word && n >= minWord && !beginsSentence(text[:from])) && !yield(from, to) {
					return
				}
			}
			i = j
		}
	}
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

// marked reports whether a name holds more than letters and digits.
func marked(name string) bool {
	for i := range len(name) {
		if class[name[i]] == mark {
			return true
		}
	}
	return false
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
	var seen byte
	camel := false
	for i := range len(name) {
		c := class[name[i]]
		seen |= c
		camel = camel || c == upper && i > 0 && class[name[i-1]] == lower
	}
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
