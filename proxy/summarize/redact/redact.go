// Package redact masks what has the shape of a credential.
//
// It promises:
//
//   - exact: everything else stays byte for byte.
//   - linear: the time is proportional to the text, whatever it holds. Each pattern
//     starts at one of its words and reads a bounded window after it.
//   - pure: the result is a function of the text.
//
// It cannot know every credential. It is a net, not a wall.
package redact

import (
	"cmp"
	"math/bits"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// mask replaces a secret.
const mask = "[secret]"

// window is how many bytes of the text a pattern reads from its word on.
// windowOfKey is the window of private keys.
const (
	window      = 512
	windowOfKey = 16 << 10
)

// pattern describes one kind of secret.
type pattern struct {
	kind string
	// words are what a match begins with, in lower case and of three bytes at
	// least. The text is compared with them in any case.
	words []string
	// inside permits a word inside a longer one, as in DB_PASSWORD.
	inside bool
	// near must follow in the window; assigned: a sign must follow the name.
	near     string
	assigned bool
	// command must precede on the same line of a shell, and except must not match
	// the text before the word.
	command string
	except  *regexp.Regexp
	// expr matches from the word on. Its last group that took part is the
	// secret; without such a group the match has no secret.
	expr *regexp.Regexp
	// end matches where a secret without quotes ends before the match of expr.
	end *regexp.Regexp
	// least is the length of the shortest secret.
	least int
	// has must match the secret, and not must not. Both see the quote in front
	// of a quoted one.
	has, not *regexp.Regexp
	// valid reports whether a secret is one, where no expression can tell.
	valid  func(string) bool
	window int // 0: the constant
}

// Text returns s with a mark in place of every secret.
func Text(s string) string {
	found := secrets(s)
	if len(found) == 0 {
		return s
	}
	slices.SortFunc(found, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	var b strings.Builder
	done := 0
	for _, f := range found {
		if f.from >= done {
			b.WriteString(s[done:f.from] + mask)
		}
		done = max(done, f.to)
	}
	b.WriteString(s[done:])
	return b.String()
}

// span is a part of a text.
type span struct{ from, to int }

// table is the patterns and where to look for them. starts[i][b] has bit n if a
// word of pattern n has b as its byte i, in any case: the bits that three bytes
// of a text share are those of the patterns that may begin there.
type table struct {
	patterns []pattern
	starts   [3][256]uint64
}

// all is made when it is needed first: the expressions take a while to compile.
var all = sync.OnceValue(func() *table {
	t := &table{patterns: patterns()}
	for n := range t.patterns {
		for _, w := range t.patterns[n].words {
			for i := range t.starts {
				t.starts[i][w[i]] |= 1 << n
				if w[i] >= 'a' && w[i] <= 'z' {
					t.starts[i][w[i]-'a'+'A'] |= 1 << n
				}
			}
		}
	}
	return t
})

// secrets returns the places of all secrets; they may overlap.
func secrets(s string) (found []span) {
	t := all()
	next := make([]int, len(t.patterns)) // where a pattern may match again
	for at := 0; at+2 < len(s); at++ {
		candidates := t.starts[0][s[at]] & t.starts[1][s[at+1]] & t.starts[2][s[at+2]]
		for ; candidates != 0; candidates &= candidates - 1 {
			n := bits.TrailingZeros64(candidates)
			if at < next[n] {
				continue
			}
			f, read := t.patterns[n].find(s, at)
			if f.to > 0 {
				found = append(found, f)
			}
			next[n] = max(read, f.to)
		}
	}
	return found
}

// find matches p at a place of s. It returns the secret, if any, and the end of
// the match: nothing of this kind begins before that, or a text made of words
// would be read to its end for each of them.
func (p *pattern) find(s string, at int) (f span, read int) {
	if !p.startsAt(s, at) {
		return span{}, at
	}
	size := cmp.Or(p.window, window)
	end := min(len(s), at+size)
	before := s[max(0, at-size):at]
	if p.near != "" && !strings.Contains(s[at:end], p.near) || p.assigned && !signFollows(s[at:end]) ||
		p.except != nil && p.except.MatchString(before[max(0, len(before)-16):]) {
		return span{}, at
	}
	m := p.expr.FindStringSubmatchIndex(s[at:end])
	if m == nil {
		return span{}, at
	}
	read = at + m[1]
	for len(m) > 2 && m[len(m)-2] < 0 {
		m = m[:len(m)-2] // a group that took no part
	}
	if len(m) == 2 || !inCommand(before, p.command) {
		return span{}, read
	}
	f = span{at + m[len(m)-2], at + m[len(m)-1]}
	judged := f.from
	if f.from > 0 && (s[f.from-1] == '"' || s[f.from-1] == '\'') {
		judged--
	} else if p.end != nil {
		if m := p.end.FindStringIndex(s[f.from:f.to]); m != nil {
			f.to = f.from + m[0]
		}
	}
	switch secret := s[judged:f.to]; {
	case f.to-f.from < p.least,
		p.has != nil && !p.has.MatchString(secret),
		p.not != nil && p.not.MatchString(secret),
		p.valid != nil && !p.valid(secret):
		return span{}, read
	}
	if f.to == end { // maybe it is longer than the window
		f.to = len(s) - len(strings.TrimLeftFunc(s[end:], inValue))
	}
	return f, read
}

// startsAt reports whether one of the words of p is at a place of s.
func (p *pattern) startsAt(s string, at int) bool {
	if !p.inside && at > 0 && inWord(s[at-1]) && !escape.MatchString(s[max(0, at-6):at]) {
		return false
	}
	return slices.ContainsFunc(p.words, func(w string) bool { return len(s)-at >= len(w) && strings.EqualFold(s[at:at+len(w)], w) })
}

// inCommand reports whether a text ends in a line of a shell, continued lines
// included, that has the command.
func inCommand(s, command string) bool {
	at := strings.LastIndex(s, command)
	return at >= 0 && strings.Count(s[at:], "\n") == strings.Count(s[at:], "\\\n")
}

// signFollows reports whether s may be a name with a sign behind it. Most text is
// not, and needs no expression.
func signFollows(s string) bool {
	at := strings.IndexAny(s[:min(len(s), 96)], ":=")
	return at > 0 && !strings.ContainsAny(s[:at], "\n,;.(){}<>")
}

// escape matches an escape of JSON at the end of a text, as in \nsk-…: its
// letter is no part of the word that follows.
var escape = regexp.MustCompile(`\\(?:[nrtbf]|u[0-9A-Fa-f]{4})$`)

// inWord reports whether b is a letter, a digit or an underscore.
func inWord(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '_'
}

// inValue reports whether r may be in a value without quotes.
func inValue(r rune) bool { return !strings.ContainsRune(" \t\r\n\"'\\;,&", r) }
