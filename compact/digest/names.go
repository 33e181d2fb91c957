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
	if t.seen&mark != 0 || t.from > 0 && text[t.from-1] == '<' {
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
	t.from += lineNumber(t.text[t.from:t.to])
	if t.from > 0 && t.from < t.to {
		switch c := t.text[t.from-1]; {
		case t.text[t.from] == '.' && strings.IndexByte(")]}", c) >= 0: // a method of what a call returns
			t.from++
		case c == '<' && t.to < len(t.text) && t.text[t.to] == '>' && isTag(t.text[t.from:t.to]):
			t.from = t.to
		}
	}
	if t.to-t.from < was {
		t.seen, t.camel = shape(t.text[t.from:t.to])
	}
}

// lineNumber returns the length of the number with which grep begins a line,
// glued to the first word: 12:def.
func lineNumber(token string) int {
	i := 0
	for i < len(token) && class[token[i]] == digit {
		i++
	}
	if i > 0 && i+1 < len(token) && (token[i] == ':' || token[i] == '-') && class[token[i+1]]&(lower|upper) != 0 {
		return i + 1
	}
	return 0
}

// isTag reports whether what is between < and > is a tag, rather than an address or
// a type.
func isTag(s string) bool {
	s = strings.TrimPrefix(s, "/")
	for i := range len(s) {
		if class[s[i]]&(lower|digit) == 0 && s[i] != '-' && s[i] != '_' {
			return false
		}
	}
	return true
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
