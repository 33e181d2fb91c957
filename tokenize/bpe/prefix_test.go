package bpe

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

// The start of a text is cut between tokens and between characters, has no more
// tokens than asked for, and is the whole text where that has no more.
func TestPrefix(t *testing.T) {
	for _, e := range []*Encoding{O200k(), Cl100k()} {
		for _, text := range append(scriptSamples, strings.Repeat(" the", 3000), strings.Repeat("\"\\\u0001\n\t</\u2028😀\"", 50), strings.Repeat("🤷🏻‍♀️", 40)) {
			whole := e.CountString(text)
			longest := ""
			for _, n := range []int{-1, 0, 1, 2, 3, 7, 20, whole - 1, whole, whole + 1} {
				p := e.Prefix(text, n)
				switch {
				case !strings.HasPrefix(text, p) || !utf8.ValidString(p):
					t.Errorf("%s %d: %q is no start of %.40q", e.Name(), n, p, text)
				case e.CountString(p) > max(0, n):
					t.Errorf("%s: %q has %d tokens, not %d", e.Name(), p, e.CountString(p), n)
				case n >= whole && p != text:
					t.Errorf("%s: %q for all %d tokens of %.40q", e.Name(), p, whole, text)
				case n > 0 && len(p) < len(longest):
					t.Errorf("%s: %d tokens are shorter than fewer: %q", e.Name(), n, p)
				case n >= 3 && n < whole && len(p) < n/8:
					t.Errorf("%s: %d tokens of %.40q give %q only", e.Name(), n, text, p)
				}
				longest = p
				// Written as JSON afterwards, no escape is cut.
				written, _ := json.Marshal(p)
				if back := ""; json.Unmarshal(written, &back) != nil || back != p {
					t.Errorf("%s: %q comes back from JSON as %q", e.Name(), p, back)
				}
			}
		}
		if got := e.Prefix("fine\xffnot", 100); got != "fine" {
			t.Errorf("%q", got)
		}
	}
}

// The cut is at the last of the borders of the text's own tokens, the first n of
// them, at which a character begins and before which the start, counted by
// itself, has no more than n. (Its own tokens may be others: within the text
// blanks leave the last of them to the word behind.)
func TestPrefixEndsAtABorderOfTheTextsTokens(t *testing.T) {
	f := func(e *Encoding, text string, n int) {
		t.Helper()
		end, want := 0, 0
		for i, token := range e.AppendTokens(nil, []byte(text)) {
			if i == n {
				break
			}
			end += len(e.vocab.token(token))
			if (end == len(text) || utf8.RuneStart(text[end])) && e.CountString(text[:end]) <= n {
				want = end
			}
		}
		if got := e.Prefix(text, n); got != text[:want] {
			t.Fatalf("%s: %d tokens of %q are %q, want %q", e.Name(), n, text, got, text[:want])
		}
	}
	pieces := []string{
		"🧿", "🤷🏻‍♀️", "👩‍👩‍👧‍👦", "བོད་སྐད་", "ཀྵ", " ", "  ", "\n", "\r\n\t", "\u2028", "a", "it's", "I'LL", "ABCdef", "日本語",
		"e\u0301", "ǅ", "ʰ", "123456", "\u00a0", "...", "/\n", "𝒯𝓱𝓮", strings.Repeat(" ", 200), strings.Repeat("ab", 150),
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 150 {
		var text strings.Builder
		for range 1 + rng.IntN(12) {
			text.WriteString(pieces[rng.IntN(len(pieces))])
		}
		for _, e := range []*Encoding{O200k(), Cl100k()} {
			for n := range 25 {
				f(e, text.String(), n)
			}
		}
	}
	for _, e := range []*Encoding{O200k(), Cl100k()} {
		f(e, "a 🧿", 2)
		f(e, strings.Repeat(" ", 5_000)+"x", 3)
		f(e, strings.Repeat("ab", 5_000), 3)
	}
	if got := O200k().Prefix("a 🧿", 2); got != "a" {
		t.Errorf("%q", got)
	}
}
