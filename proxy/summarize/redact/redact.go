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

// window is how many bytes of the text a pattern reads from its word on, unless
// it says otherwise.
const window = 512

// pattern describes one kind of secret.
type pattern struct {
	kind string
	// words are what a match begins with, in lower case and of three bytes at
	// least. The text is compared with them in any case.
	words []string
	// inside permits a word inside a longer one, as in DB_PASSWORD.
	inside bool
	// window bounds what is read from the word on, in bytes; 0: the constant. It
	// ends before the first byte behind the word that is not within, for a command
	// with its line of a shell, and for what begins with head before the next head.
	window  int
	within  func(byte) bool
	command bool
	head    string
	// assigned: a sign must follow the name.
	assigned bool
	// expr matches in the window. Its last group that took part is the secret;
	// without such a group the match has no secret.
	expr *regexp.Regexp
	// except must not match the text before the word.
	except *regexp.Regexp
	// end matches where a secret without quotes ends before the match of expr.
	end *regexp.Regexp
	// least is the length of the shortest secret.
	least int
	// has must match the secret, and not must not. Both see the quote in front
	// of a quoted one.
	has, not *regexp.Regexp
	// valid reports whether a secret is one, where no expression can tell.
	valid func(string) bool
}

// Text returns s with a mark in place of every secret.
func Text(s string) string {
	found, _ := secrets(s)
	slices.SortFunc(found, func(a, b extent) int { return cmp.Compare(a.from, b.from) })
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

// extent is a part of a text.
type extent struct{ from, to int }

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

// secrets returns the places of all secrets, which may overlap, and how many
// bytes the expressions were given.
func secrets(s string) (found []extent, given int) {
	t := all()
	next := make([]int, len(t.patterns)) // where a pattern may match next
	for at := 0; at+2 < len(s); at++ {
		candidates := t.starts[0][s[at]] & t.starts[1][s[at+1]] & t.starts[2][s[at+2]]
		for ; candidates != 0; candidates &= candidates - 1 {
			n := bits.TrailingZeros64(candidates)
			p := &t.patterns[n]
			if at < next[n] || !p.startsAt(s, at) {
				continue
			}
			end := p.windowEnd(s, at)
			if !strings.HasPrefix(s[at:end], p.head) || p.assigned && !signFollows(s[at:end]) {
				continue
			}
			given += end - at
			for _, m := range p.expr.FindAllStringSubmatchIndex(s[at:end], -1) {
				if p.except != nil && p.except.MatchString(s[max(0, at-16):at]) {
					break
				}
				// Nothing of this kind begins within a match.
				next[n] = at + m[1]
				if f, ok := p.secret(s, at, end, m); ok {
					found, next[n] = append(found, f), max(next[n], f.to)
				}
			}
			if p.command {
				next[n] = end
			}
		}
	}
	return found, given
}

// windowEnd returns where the window of p ends whose word is at a place of s.
func (p *pattern) windowEnd(s string, at int) int {
	end := min(len(s), at+cmp.Or(p.window, window))
	if p.head != "" {
		if n := strings.Index(s[at+1:end], p.head); n >= 0 {
			return at + 1 + n
		}
	}
	for i := at + len(p.words[0]); p.within != nil && i < end; i++ {
		if !p.within(s[i]) {
			return i
		}
	}
	for i := at + 1; p.command && i < end; i++ {
		if s[i] == '\n' && s[i-1] != '\\' {
			return i
		}
	}
	return end
}

// secret returns the secret of a match in the window from at to end.
func (p *pattern) secret(s string, at, end int, m []int) (f extent, ok bool) {
	for len(m) > 2 && m[len(m)-2] < 0 {
		m = m[:len(m)-2] // a group that took no part
	}
	if len(m) == 2 {
		return extent{}, false
	}
	f = extent{at + m[len(m)-2], at + m[len(m)-1]}
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
		return extent{}, false
	}
	if f.to == end && end-at == cmp.Or(p.window, window) { // maybe it is longer
		f.to = len(s) - len(strings.TrimLeftFunc(s[end:], inValue))
	}
	return f, true
}

// startsAt reports whether one of the words of p is at a place of s.
func (p *pattern) startsAt(s string, at int) bool {
	if !p.inside && at > 0 && inWord(s[at-1]) && !escape.MatchString(s[max(0, at-6):at]) {
		return false
	}
	return slices.ContainsFunc(p.words, func(w string) bool { return len(s)-at >= len(w) && strings.EqualFold(s[at:at+len(w)], w) })
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

// inName reports whether b may be in a name with dashes, and inToken in one with
// dots as well.
func inName(b byte) bool  { return inWord(b) || b == '-' }
func inToken(b byte) bool { return inName(b) || b == '.' }

// inAuthority reports whether b may be in the part of a URL that names its host.
func inAuthority(b byte) bool { return strings.IndexByte(" \t\f\r\n/\"'<>", b) < 0 }

// inValue reports whether r may be in a value without quotes.
func inValue(r rune) bool { return !strings.ContainsRune(" \t\r\n\"'\\;,&", r) }
