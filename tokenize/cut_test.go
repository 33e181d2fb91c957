package tokenize

import (
	"encoding/json"
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
