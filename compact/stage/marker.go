package stage

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// What a marker stands for.
const (
	ofResult = "tool result"
	ofProse  = "assistant prose"
)

// elided is the marker that stands in place of a text of n bytes.
func elided(n int, of string) string {
	return "(elided: " + strconv.Itoa(n) + " bytes of " + of + ")"
}

// superseded is the marker that stands in place of a result that a later one
// made superfluous. It gives no size: all of it stands below.
const superseded = "(superseded by a later result)"

// isElided tells whether such a marker, or superseded, is all of a text.
func isElided(text string) bool {
	if text == superseded {
		return true
	}
	rest, ok := strings.CutPrefix(text, "(elided: ")
	if !ok || len(rest) > 60 {
		return false
	}
	digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
	return digits > 0 && (rest[digits:] == " bytes of "+ofResult+")" || rest[digits:] == " bytes of "+ofProse+")")
}

// clip is a text of which only head and tail are left. A text that is whole
// has no tail, and its head is all of it.
type clip struct {
	size       int // bytes of the original
	head, tail string
}

// notice is the line between head and tail. It gives the sizes of all three,
// which makes it recognisable: see clipOf.
func (c clip) notice() string {
	if c.tail == "" {
		return fmt.Sprintf("\n[trimmed: %d bytes of %s, the first %d are left]", c.size, ofResult, len(c.head))
	}
	return fmt.Sprintf("\n[trimmed: %d bytes of %s, the first %d and the last %d are left]\n", c.size, ofResult, len(c.head), len(c.tail))
}

func (c clip) whole() bool { return len(c.head) == c.size }

func (c clip) String() string {
	if c.whole() {
		return c.head
	}
	return c.head + c.notice() + c.tail
}

// clipMark is how the notice of a clip begins.
const clipMark = "[trimmed: "

// clipOf reads a text that may have been clipped before. Only a text whose
// sizes add up to those of its notice counts as clipped; anything else, a tool
// result that quotes a notice included, is whole.
func clipOf(text string) clip {
	// The search goes for the bracket: line ends are common in results.
	for at := 0; ; {
		i := strings.Index(text[at:], clipMark)
		if i < 0 {
			return clip{size: len(text), head: text}
		}
		at += i
		var c clip
		var head, tail int
		rest := text[at+len(clipMark):]
		if n, _ := fmt.Sscanf(rest[:min(len(rest), 120)], "%d bytes of tool result, the first %d and the last %d are", &c.size, &head, &tail); n >= 2 && head == at-1 {
			c.head = text[:head]
			if n == 3 && tail > 0 && tail <= len(text) {
				c.tail = text[len(text)-tail:]
			}
			if c.head+c.notice()+c.tail == text && c.size > len(c.head)+len(c.tail) {
				return c
			}
		}
		at += len(clipMark)
	}
}

// keep clips further: at most so many characters of head and of tail stay.
// Cuts fall between lines where a line ends close by, never inside a
// character.
func (c clip) keep(head, tail int) clip {
	out := clip{size: c.size, head: c.head, tail: c.tail}
	if c.whole() {
		if utf8.RuneCountInString(c.head) <= head+tail {
			return c
		}
		out.tail = c.head
	}
	out.head = firstRunes(out.head, head)
	out.tail = lastRunes(out.tail, tail)
	return out
}

// near is how far from the wanted place a cut looks for the end of a line, as
// a part of what is kept.
const near = 5

func firstRunes(s string, n int) string {
	if n <= 0 {
		return ""
	}
	if len(s) <= n {
		return s
	}
	i := 0
	for ; n > 0 && i < len(s); n-- {
		_, w := utf8.DecodeRuneInString(s[i:])
		i += w
	}
	if i == len(s) {
		return s
	}
	if j := strings.LastIndexByte(s[:i], '\n'); j > i-i/near {
		return s[:j]
	}
	return s[:i]
}

func lastRunes(s string, n int) string {
	if n <= 0 {
		return ""
	}
	if len(s) <= n {
		return s
	}
	i := len(s)
	for ; n > 0 && i > 0; n-- {
		_, w := utf8.DecodeLastRuneInString(s[:i])
		i -= w
	}
	if i == 0 {
		return s
	}
	if j := strings.IndexByte(s[i:], '\n'); j >= 0 && j < (len(s)-i)/near {
		return s[i+j+1:]
	}
	return s[i:]
}
