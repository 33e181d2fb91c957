package compact

import (
	"cmp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// plainID returns an id with _ in the place of what is no letter or digit of ASCII.
func plainID(id string) string {
	return strings.Map(func(c rune) rune {
		if c == '-' || c < utf8.RuneSelf && alphanumeric(string(c)) {
			return c
		}
		return '_'
	}, id)
}

// longestID is the length of the longest id that OpenAI takes.
const longestID = 40

// freshID returns an id made of id that is not taken, with *next or a later
// number at its end. An id of nine letters and digits keeps that form, which
// Mistral demands. All calls of a message share next, because starting again for
// each would be quadratic.
func freshID(id string, longest int, taken func(string) bool, next *int) string {
	id = cmp.Or(id, "call")
	for ; ; *next++ {
		suffix := strconv.Itoa(*next)
		s := strings.ToValidUTF8(id[:min(len(id), longest-1-len(suffix))], "") + "_" + suffix
		if len(id) == 9 && alphanumeric(id) && len(suffix) < 9 {
			s = id[:9-len(suffix)] + suffix
		}
		if !taken(s) {
			return s
		}
	}
}

func alphanumeric(s string) bool {
	return !strings.ContainsFunc(s, func(c rune) bool { return (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') })
}

// crosses reports whether a call or result with that id may leave its round.
func crosses(id string) bool {
	_, named := NameIn(id)
	return !named && id != ""
}
