package bpe

import (
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Bytes that are not UTF-8 count as the U+FFFD that stand for them, see Encoding.
func TestBrokenTextIsReadAsReplacementCharacters(t *testing.T) {
	f := func(text, same string) {
		t.Helper()
		for _, e := range []*Encoding{O200k(), Cl100k()} {
			got, want := tokens(e, text), tokens(e, same)
			if !slices.Equal(got, want) || e.Count([]byte(text)) != len(want) {
				t.Errorf("%s: %q is %v (counted %d), want the tokens of %q, %v", e.name(), text, got, e.Count([]byte(text)), same, want)
			}
		}
	}
	f("\xff", "\ufffd")
	f("a\x80\x80b", "a\ufffd\ufffdb")
	f("\xe4\xb8", "\ufffd")               // the start of 中
	f("\xe4\xb8x", "\ufffdx")             //
	f("\xf0\x9f\x98", "\ufffd")           // the start of an emoji
	f("\xf0\x9f\x98\xf0", "\ufffd\ufffd") //
	f("\xc0\xaf", "\ufffd\ufffd")         // an overlong slash
	f("\xe0\x80\x80", "\ufffd\ufffd\ufffd")
	f("\xed\xa0\x80", "\ufffd\ufffd\ufffd")
	f("\xf4\x90\x80\x80", "\ufffd\ufffd\ufffd\ufffd")
}

// raced reports whether the tests run with the race detector.
func raced() bool {
	info, _ := debug.ReadBuildInfo()
	return info != nil && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

func TestCountingDoesNotAllocate(t *testing.T) {
	if raced() {
		t.Skip("under the race detector sync.Pool forgets at random")
	}
	texts := []string{
		strings.Join(scriptSamples, "\n"),
		strings.Repeat("a", 20_000),
		strings.Repeat("word", 5_000),
		strings.Repeat("的一是不了人我在有他这", 500),
	}
	for _, e := range []*Encoding{O200k(), Cl100k()} {
		for _, text := range texts {
			e.Count([]byte(text))
			if n := testing.AllocsPerRun(20, func() { e.Count([]byte(text)) }); n >= 1 {
				t.Errorf("%s: counting %q allocates %v times", e.name(), text[:20], n)
			}
		}
	}
}

// Many goroutines may count at once; the race detector watches.
func TestEncodingsMayBeUsedByManyGoroutines(t *testing.T) {
	texts := append(slices.Collect(fuzzTexts(50_000)), strings.Repeat("long", 2_000), strings.Join(scriptSamples, "\xff"))
	for _, e := range []*Encoding{O200k(), Cl100k()} {
		var all sync.WaitGroup
		for g := range 8 {
			all.Go(func() {
				for i := range texts {
					text := texts[(i+g*len(texts)/8)%len(texts)]
					if got, want := e.Count([]byte(text)), len(tokens(e, text)); got != want {
						t.Errorf("%s: %q counts %d, want %d", e.name(), text, got, want)
					}
				}
			})
		}
		all.Wait()
	}
}
