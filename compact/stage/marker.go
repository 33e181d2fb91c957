package stage

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"laconic/compact"
	"laconic/compact/digest"
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
// made superfluous. It tells no size: all of it stands below.
const superseded = "(superseded by a later result)"

const (
	firstLineChars = 80
	// markerShare is the part of a result that its marker takes at most, in
	// bytes.
	markerShare = 0.25
	// longestMarker is longer than any marker, in bytes.
	longestMarker = 400
)

// elidedResult is the marker of a result that can be acted on: beside the size
// it tells the call that made the result, nil where that is not known, and the
// first line, each as far as the marker stays short beside the result.
func elidedResult(text string, call *compact.Call) string {
	size := clipOf(text).size
	room := min(int(markerShare*float64(size)), longestMarker-1)
	marker := strings.TrimSuffix(elided(size, ofResult), ")")
	if call != nil {
		if more := marker + "; " + notMarked.Replace(masked(digest.DescribeCall(call))); len(more) < room {
			marker = more
		}
	}
	if more := marker + "; it begins: " + firstLine(text); len(more) < room {
		marker = more
	}
	return marker + ")"
}

// firstLine is the first line of a text that says something.
func firstLine(text string) string {
	line := digest.FirstLine(text, 8*firstLineChars)
	return notMarked.Replace(digest.OneLine(masked(line), firstLineChars))
}

// notMarked takes away the form of markers and notices.
var notMarked = strings.NewReplacer("(elided: ", "(elided ", clipMark, "(trimmed ")

// isElided reports whether such a marker, or superseded, is all of a text.
func isElided(text string) bool {
	if text == superseded {
		return true
	}
	_, ok := elidedSize(text)
	return ok
}

// elidedSize returns the size that a marker tells; false for any other text.
func elidedSize(text string) (size int, ok bool) {
	rest, ok := strings.CutPrefix(text, "(elided: ")
	if !ok || len(text) > longestMarker || !strings.HasSuffix(text, ")") || strings.IndexByte(text, '\n') >= 0 {
		return 0, false
	}
	digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
	size, err := strconv.Atoi(rest[:digits])
	if err != nil {
		return 0, false
	}
	for _, of := range []string{ofResult, ofProse} {
		if more, ok := strings.CutPrefix(rest[digits:], " bytes of "+of); ok && (more == ")" || strings.HasPrefix(more, "; ")) {
			return size, true
		}
	}
	return 0, false
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
