// The splitters ask of a code point: is it a letter, and of which case, a mark, a
// number, white space, or something else?

package bpe

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// A class is a set of bits, chosen so that the two letter sets of the o200k
// pattern, which overlap, are one bit each.
type class = uint8

const (
	isUpper     class = 1 << iota // \p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}: allowed in the upper part of a word
	isLower                       // \p{Ll}\p{Lm}\p{Lo}\p{M}: allowed in the lower part
	isMark                        // \p{M}
	classNumber                   // \p{N}
	classSpace                    // \s, which is White_Space

	classOther  class = 0
	classLetter       = isUpper | isLower // every letter and every mark has at least one of its bits
	classMark         = isUpper | isLower | isMark
)

// classFile has a line for each run of code points of one class: first, last and the
// letter of the class, of the Unicode version that the reference tokenizer uses.
// testdata/oracle/classes.mjs writes it.
//
//go:embed data/unicode-16.0.0.classes
var classFile string

// classes has the class of every code point. readClasses fills it, before any splitter runs.
var classes [utf8.MaxRune + 1]class

var readClasses = sync.OnceFunc(func() {
	letters := map[string]class{"U": isUpper, "l": isLower, "L": classLetter, "M": classMark, "N": classNumber, "S": classSpace}
	for line := range strings.Lines(classFile) {
		f := strings.Fields(line)
		first, _ := strconv.ParseUint(f[0], 16, 32)
		last, _ := strconv.ParseUint(f[1], 16, 32)
		k := letters[f[2]]
		for cp := first; cp <= last; cp++ {
			classes[cp] = k
		}
	}
})

// classAt returns the class and the length in bytes of the character at text[p].
func classAt(text []byte, p int) (class, int) {
	if c := text[p]; c < utf8.RuneSelf {
		return classes[c], 1
	}
	r, size := utf8.DecodeRune(text[p:])
	return classes[r], size
}
