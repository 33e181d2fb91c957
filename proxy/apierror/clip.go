package apierror

import (
	"strings"
	"unicode"
)

// Clip returns at most the first most bytes of a text of the client's or the
// upstream's, made safe for a log. Each character that does not print (controls,
// line breaks, marks that turn the direction of text) becomes U+FFFD.
func Clip(s string, most int) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, s[:min(len(s), most)])
}
