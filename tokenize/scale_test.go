package tokenize

import (
	"strings"
	"testing"
)

func TestMixOfAText(t *testing.T) {
	f := func(text string, want mix) {
		t.Helper()
		for shift := range 9 { // every alignment of the words that are read at once
			padded := strings.Repeat("-", shift) + text + "-"
			if got := mixOf([]byte(padded)); got != want {
				t.Errorf("%q: %+v, want %+v", padded, got, want)
			}
		}
	}
	f("", mix{})
	f("plain text, no digits at all, of some length", mix{})
	f("1", mix{digits: 1, groups: 1})
	f("1234567890", mix{digits: 10, groups: 4})
	f("1 22 333, 4444; 2024-11-05", mix{digits: 18, groups: 9})
	f("/0123456789:", mix{digits: 10, groups: 4}) // the neighbours of the digits in ASCII
	f("a/b.go (see x_y, A-B)", mix{signs: 3})
	f("a/ b /c ../d 1.5 é/f g\n.h", mix{accents: 2, digits: 2, groups: 2})
	f("1é2", mix{accents: 2, digits: 2, groups: 2})
	f("  1 2\t\t3 \n4 \n  55  x", mix{digits: 6, groups: 5, gaps: 3})
	f("Grüße", mix{accents: 4})
	f("Привет", mix{other: 12})
	f("日本語", mix{other: 9})
	f("한국어", mix{other: 9})
	f("नमस्ते", mix{rare: 18})
	f("שלום", mix{rare: 8})
	f("🙂", mix{other: 4})
}

func TestFactorFollowsTheText(t *testing.T) {
	s := &scale{plain: 110, other: 150, rare: 300}
	f := func(text string, n, want int) {
		t.Helper()
		if got := s.of(n, []byte(text)); got != want {
			t.Errorf("%d tokens of %.20q cost %d, want %d", n, text, got, want)
		}
	}
	f(strings.Repeat("x", 1_000), 100, 110)
	f(strings.Repeat("x", 1_000), 101, 112) // 111.1
	f(strings.Repeat("日", 300), 100, 150)
	f(strings.Repeat("日", 150)+strings.Repeat("x", 450), 100, 130) // half of the bytes
	f(strings.Repeat("न", 300), 100, 300)
	f("é"+strings.Repeat("x", 998), 100, 112)     // 34 of 1,000 bytes count as of that language: 111.36
	f(strings.Repeat("größe ", 100), 100, 150)    // all of them
	f("a", 1, 1)                                  // no byte becomes two tokens
	f(strings.Repeat("é", 10), 20, 20)            //
	f(strings.Repeat("x", 1<<20), 1<<20, 1<<20)   //
	f(strings.Repeat("12345678 ", 100), 400, 440) // this one has no digits
	s = &scale{plain: 100, other: 100, rare: 100, digits: true}
	f(strings.Repeat("12345678, ", 100), 400, 400+800-300) // three for each of the hundred runs
	f("1, 2, 3 and 4", 10, 10)                             // single digits cost what they did
	f(strings.Repeat("123", 100), 100, 300)
	s = &scale{plain: 100, other: 100, rare: 100, signs: true}
	f(strings.Repeat("src/a.go ", 100), 400, 400+150) // three quarters for each of two signs
	s = &scale{plain: 110, other: 100, rare: 100, gaps: true}
	f(strings.Repeat("   12 x", 100), 500, 550-100) // one for each of the gaps
}
