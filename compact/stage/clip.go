package stage

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// clip is a text of which only head and tail remain. The head of a whole text is
// all of it.
type clip struct {
	size       int // bytes of the original
	head, tail string
}

// notice returns the line between head and tail. It states the sizes of the
// original, the head and the tail, by which clipOf recognizes it.
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

// clipMark begins the notice of a clip.
const clipMark = "[trimmed: "

// notices matches what may be the notice of a clip, from clipMark on.
var notices = regexp.MustCompile(regexp.QuoteMeta(clipMark) + `(\d+) bytes of ` + ofResult + `, the first \d+ (?:and the last \d+ )?are left\]\n?`)

// clipOf parses a text that may have been clipped before. A text is clipped only
// if its sizes are those of its notice. Any other text is whole, even one that
// quotes a notice.
func clipOf(text string) clip {
	for _, at := range notices.FindAllStringSubmatchIndex(text, -1) {
		start, end := max(0, at[0]-1), at[1]
		c := clip{head: text[:start], tail: text[end:]}
		c.size, _ = strconv.Atoi(text[at[2]:at[3]])
		if text[start:end] == c.notice() && c.size > len(c.head)+len(c.tail) {
			return c
		}
	}
	return clip{size: len(text), head: text}
}

// keep clips the text to at most head and tail characters. A cut falls between
// lines if a line ends nearby, and never inside a character.
func (c clip) keep(head, tail int) clip {
	if c.whole() {
		if utf8.RuneCountInString(c.head) <= head+tail {
			return c
		}
		c.tail = c.head
	}
	c.head, c.tail = firstRunes(c.head, head), lastRunes(c.tail, tail)
	return c
}

// nearShare is how far from its place a cut may move to the end of a line: one
// in so many bytes of what is kept.
const nearShare = 5

func firstRunes(s string, n int) string {
	i := 0
	for ; n > 0 && i < len(s); n-- {
		_, w := utf8.DecodeRuneInString(s[i:])
		i += w
	}
	if j := strings.LastIndexByte(s[:i], '\n'); i < len(s) && j > i-i/nearShare {
		return s[:j]
	}
	return s[:i]
}

func lastRunes(s string, n int) string {
	i := len(s)
	for ; n > 0 && i > 0; n-- {
		_, w := utf8.DecodeLastRuneInString(s[:i])
		i -= w
	}
	if j := strings.IndexByte(s[i:], '\n'); i > 0 && j >= 0 && j < (len(s)-i)/nearShare {
		return s[i+j+1:]
	}
	return s[i:]
}
