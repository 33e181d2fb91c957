package bpe

import (
	"strings"
	"testing"
)

// Whatever the text, the tokens and their number are those of the slow reference.
func FuzzCount(f *testing.F) {
	for _, s := range scriptSamples {
		f.Add(s)
	}
	for _, a := range atoms {
		f.Add(strings.Repeat(a+" ", 3) + "x" + a + a)
	}
	o200k, cl100k := newSlow(O200k()), newSlow(Cl100k())
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 4_000 {
			t.Skip("the slow reference is quadratic")
		}
		checkTokens(t, O200k(), o200k, text)
		checkTokens(t, Cl100k(), cl100k, text)
	})
}
