package bpe

import (
	"bytes"
	"iter"
	"math/rand/v2"
	"slices"
	"testing"
	"unicode/utf8"
)

// sets are the texts that the encodings are compared on, each walked by every test run in steps, so that it takes
// seconds. The oracle takes every text.
var sets = []struct {
	name  string
	step  int // one text of so many
	texts iter.Seq[string]
}{
	{"scripts", 7, scriptTexts},
	{"every code point", 211, codePointTexts},
	{"runs", 29, runTexts},
	{"tokens", 61, tokenTexts},
	{"blocks", 11, blockTexts},
	{"long words", 31, longWordTexts},
	{"broken UTF-8", 11, brokenTexts},
	{"mixes", 1, fuzzTexts(500_000)},
}

// name returns OpenAI's name of an encoding.
func (e *Encoding) name() string {
	if e == Cl100k() {
		return "cl100k_base"
	}
	return "o200k_base"
}

// Every text has the tokens that the slow reference gives it.
func TestTokensAreThoseOfTheSlowReference(t *testing.T) {
	for _, e := range []*Encoding{O200k(), Cl100k()} {
		slow := newSlow(e)
		for _, set := range sets {
			t.Run(e.name()+"/"+set.name, func(t *testing.T) {
				step := set.step
				if testing.Short() && step > 1 {
					step *= 10
				}
				n := 0
				for text := range set.texts {
					if n++; n%step == 0 {
						checkTokens(t, e, slow, text)
					}
				}
				if n < 40*set.step {
					t.Errorf("only %d texts", n)
				}
			})
		}
	}
}

// tokens returns the tokens of a text, all by merging.
func tokens(e *Encoding, text string) (all []uint32) {
	b := repaired([]byte(text))
	e.split(b, func(p, end int) {
		n := len(all)
		for size := firstWindow; !new(merger).merge(e, b[p:end], size, func(ids []uint32) { all = append(all, ids...) }); size *= 2 {
			all = all[:n]
		}
	})
	return all
}

// checkTokens compares the tokens of a text, and their number, with what the slow reference says.
func checkTokens(t *testing.T, e *Encoding, slow *slowEncoding, text string) {
	t.Helper()
	want := slow.tokens(string(repaired([]byte(text))))
	if got := tokens(e, text); !slices.Equal(got, want) {
		t.Fatalf("%s: the tokens of %q:\ngot  %v\nwant %v", e.name(), text, got, want)
	}
	if got := e.Count([]byte(text)); got != len(want) {
		t.Fatalf("%s: %q counts %d, want %d", e.name(), text, got, len(want))
	}
}

// Words that differ in one place only are not mixed up in the memory of words. Tokens are not made from it.
func TestRememberedWordsAreNotMixedUp(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 13))
	words := 8_000
	if testing.Short() {
		words = 500 // under the race detector
	}
	for _, e := range []*Encoding{O200k(), Cl100k()} {
		for size := 2; size <= maxWord+1; size++ {
			// Letters at one end, in the middle, at the other end, and all else the same: many more such words than
			// there are places to remember them.
			for _, at := range []int{0, max(0, size/2-2), max(0, size-5)} {
				word := bytes.Repeat([]byte("q"), size)
				free := word[at:min(size, at+5)]
				for range words {
					for i := range free {
						free[i] = byte('a' + r.IntN(26))
					}
					if got, want := e.Count(word), len(tokens(e, string(word))); got != want {
						t.Fatalf("%s: %q counts %d, want %d", e.name(), word, got, want)
					}
				}
			}
		}
	}
}

// Windows that are much too short for the tokens in them give the same tokens, by growing.
func TestWindowsOfAnyLengthGiveTheSameTokens(t *testing.T) {
	for _, e := range []*Encoding{O200k(), Cl100k()} {
		slow := newSlow(e)
		n := 0
		for text := range longWordTexts {
			if n++; n%50 != 0 {
				continue
			}
			text := []byte(text[:min(len(text), 600)])
			for !utf8.Valid(text) {
				text = text[:len(text)-1]
			}
			want := slow.merge(string(text))
			for _, first := range []int{1, 2, 5, 13, 40, 100, 600} {
				var got []uint32
				for ok := false; !ok; first *= 2 {
					got = nil
					ok = new(merger).merge(e, text, first, func(tokens []uint32) { got = append(got, tokens...) })
				}
				if !slices.Equal(got, want) {
					t.Fatalf("%s: windows of less than %d bytes: %q has %d tokens, want %d", e.name(), first, text, len(got), len(want))
				}
			}
		}
	}
}
