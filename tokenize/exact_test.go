package tokenize

import (
	"iter"
	"slices"
	"testing"
)

// Every text has the tokens that the slow reference gives it. Each set is walked in steps, so that a run takes
// seconds; the oracle takes every text.
func TestTokensAreThoseOfTheSlowReference(t *testing.T) {
	sets := []struct {
		name  string
		step  int // one text of so many
		texts iter.Seq[string]
	}{
		{"scripts", 7, scriptTexts},
		{"every code point", 211, codePointTexts},
		{"runs", 29, runTexts},
		{"tokens", 61, tokenTexts},
		{"words", 11, wordTexts},
		{"long words", 31, longWordTexts},
		{"broken UTF-8", 11, brokenTexts},
		{"fuzz", 1, fuzzTexts(500_000)},
	}
	for _, e := range []*Encoding{O200k(), Cl100k()} {
		slow := newSlow(e)
		for _, set := range sets {
			t.Run(e.Name()+"/"+set.name, func(t *testing.T) {
				step := set.step
				if testing.Short() {
					step *= 10 // the race detector makes this ten times slower, and it has nothing to find
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

// checkTokens compares the tokens of a text, and their number, with what the slow reference says.
func checkTokens(t *testing.T, e *Encoding, slow *slowEncoding, text string) {
	t.Helper()
	want := slow.tokens(string(appendRepaired(nil, []byte(text))))
	if got := e.AppendTokens(nil, []byte(text)); !slices.Equal(got, want) {
		t.Fatalf("%s: the tokens of %q:\ngot  %v\nwant %v", e.Name(), text, got, want)
	}
	if got := e.CountString(text); got != len(want) {
		t.Fatalf("%s: %q counts %d, want %d", e.Name(), text, got, len(want))
	}
}

// What was counted before leaves its mark in the memory of words that a goroutine keeps. Counting the same texts
// again, in another order, must give the same.
func TestCountsDoNotDependOnWhatWasCountedBefore(t *testing.T) {
	texts := slices.Collect(fuzzTexts(100_000))
	for _, e := range []*Encoding{O200k(), Cl100k()} {
		first := make([]int, len(texts))
		for i, text := range texts {
			first[i] = e.CountString(text)
		}
		for i, text := range slices.Backward(texts) {
			if got := e.CountString(text); got != first[i] {
				t.Fatalf("%s: %q counted %d first, then %d", e.Name(), text, first[i], got)
			}
		}
	}
}
