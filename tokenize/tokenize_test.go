package tokenize

import (
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTextCostsItsBytesRoundedUp(t *testing.T) {
	f := func(tokenizer, text string, want int) {
		t.Helper()
		c := named(t, tokenizer)
		if got := c.Text(text); got != want {
			t.Errorf("%s: Text(%q) = %d, want %d", tokenizer, text, got, want)
		}
		if got := c.Bytes(len(text)); got != want {
			t.Errorf("%s: Bytes(%d) = %d, want %d", tokenizer, len(text), got, want)
		}
	}
	f("bytes/4", "", 0)
	f("bytes/4", "a", 1)
	f("bytes/4", "abcd", 1)
	f("bytes/4", "abcde", 2)
	f("bytes/3.5", "abcdefg", 2)  // 7 / 3.5
	f("bytes/3.5", "abcdefgh", 3) // 8 / 3.5 = 2.29
	f("bytes/3.2", strings.Repeat("x", 16), 5)
	f("bytes/3.2", strings.Repeat("x", 17), 6)
	f("bytes/3", "abc", 1)
	f("bytes/3", "日本", 2) // 6 bytes, whatever they spell
	f("bytes/3", "\xff\xfe\x00\x80", 2)
	f("bytes/2.2", strings.Repeat("x", 11), 5)
	f("bytes/2.2", strings.Repeat("x", 12), 6)
}

func TestBytesAreExactForEveryLength(t *testing.T) {
	for _, row := range tokenizers {
		c := named(t, row.name)
		for n := range 2_000 {
			want := int(math.Ceil(float64(n*10) / float64(row.tenths))) // small enough for floats
			if got := c.Bytes(n); got != want {
				t.Fatalf("%s: Bytes(%d) = %d, want %d", row.name, n, got, want)
			}
		}
	}
}

func TestNoLengthOverflowsOrTurnsNegative(t *testing.T) {
	for _, row := range tokenizers {
		c := named(t, row.name)
		for _, n := range []int{math.MinInt, -1, 0} {
			if got := c.Bytes(n); got != 0 {
				t.Errorf("%s: Bytes(%d) = %d, want 0", row.name, n, got)
			}
		}
		if got, prose := c.Bytes(math.MaxInt), math.MaxInt/5; got < prose {
			t.Errorf("%s: Bytes(MaxInt) = %d, want above %d", row.name, got, prose)
		}
	}
}

func TestEnvelopes(t *testing.T) {
	c := For("gpt-4o")
	if got, want := []int{c.Envelope(), c.Call(), c.Priming()}, []int{8, 8, 3}; !slices.Equal(got, want) {
		t.Errorf("Envelope, Call, Priming = %v, want %v", got, want)
	}
	if c.Exact() {
		t.Error("an estimate says that it is exact")
	}
}

func TestNamesAreKnownAndKeepTheirOrder(t *testing.T) {
	want := []string{"bytes/4", "bytes/3.5", "bytes/3.2", "bytes/3", "bytes/2.8", "bytes/2.6", "bytes/2.4", "bytes/2.2"}
	if diff := cmp.Diff(want, Names()); diff != "" {
		t.Errorf("Names (-want +got):\n%s", diff)
	}
	Names()[0] = "spoilt"
	if Names()[0] != want[0] {
		t.Error("a caller can change the table through Names")
	}
	for _, name := range want {
		if c := named(t, name); c.Name() != name || c.Family() != "unknown" {
			t.Errorf("Named(%q) is %q of family %q", name, c.Name(), c.Family())
		}
	}
}

func TestEveryFamilysTokenizerCanBeNamed(t *testing.T) {
	for i := range counters {
		named(t, counters[i].Name())
	}
}

func TestNamedKeepsTheFamily(t *testing.T) {
	c, err := For("gpt-4o-mini").Named("bytes/4")
	if err != nil {
		t.Fatal(err)
	}
	if c.Family() != "gpt-4o-mini" || c.Name() != "bytes/4" || c.Image("https://x/y.png", "low") != 2833 {
		t.Errorf("got %s of %s, a low picture costs %d", c.Name(), c.Family(), c.Image("https://x/y.png", "low"))
	}
	if For("gpt-4o-mini").Name() != "bytes/3.2" {
		t.Error("Named changed the counter that it was called on")
	}
}

func TestUnknownNameSaysWhatIsKnownAndWhatIsNear(t *testing.T) {
	f := func(name, nearest string) {
		t.Helper()
		c, err := Named(name)
		var unknown *UnknownError
		if c != nil || !errors.As(err, &unknown) {
			t.Fatalf("Named(%q) = %v, %v", name, c, err)
		}
		if unknown.Nearest != nearest || unknown.Name != name {
			t.Errorf("Named(%.60q): nearest to %.60q is %q, want %q", name, unknown.Name, unknown.Nearest, nearest)
		}
		for _, known := range Names() {
			if !strings.Contains(err.Error(), known) {
				t.Errorf("%.200q does not list %s", err, known)
			}
		}
		if len(err.Error()) > 300 {
			t.Errorf("the error has %d bytes", len(err.Error()))
		}
	}
	f("bytes/3,5", "bytes/3.5")
	f("byte/4", "bytes/4")
	f("BYTES/2.6", "bytes/2.6")
	f("bytes/3.3", "bytes/3.5") // as near as 3.2; the first of the table
	f("", "bytes/4")
	f(strings.Repeat("bytes", 1_000_000), "bytes/4")
}

func TestUnknownNameIsOneSentence(t *testing.T) {
	_, err := Named("byte/3")
	want := `unknown tokenizer "byte/3", did you mean "bytes/3"? ` +
		`(known: bytes/4, bytes/3.5, bytes/3.2, bytes/3, bytes/2.8, bytes/2.6, bytes/2.4, bytes/2.2)`
	if err.Error() != want {
		t.Errorf("got  %s\nwant %s", err, want)
	}
}

func TestNearestName(t *testing.T) {
	known := []string{"bytes/4", "bytes/3", "o200k_base", "cl100k_base"}
	f := func(name, want string) {
		t.Helper()
		if got := nearest(name, known); got != want {
			t.Errorf("nearest(%q) = %q, want %q", name, got, want)
		}
	}
	f("o200k", "o200k_base")
	f("O200K", "o200k_base")
	f("cl100k-base", "cl100k_base")
	f("byte3", "bytes/3")
	f("bytes/9", "bytes/4")
}

func TestDistance(t *testing.T) {
	f := func(a, b string, want int) {
		t.Helper()
		if got := distance(a, b); got != want {
			t.Errorf("distance(%q, %q) = %d, want %d", a, b, got, want)
		}
	}
	f("", "", 0)
	f("", "abc", 3)
	f("abc", "", 3)
	f("kitten", "sitting", 3)
	f("flaw", "lawn", 2)
}

// An exact encoding is a row with a count. This one, a token is a word, stands in for it.
func TestExactTokenizerCountsTexts(t *testing.T) {
	words := &tokenizer{name: "words", count: func(s string) int { return len(strings.Fields(s)) }, envelope: 3, call: 4}
	c := &Counter{counters[0].family, words}
	if !c.Exact() || c.Name() != "words" || c.Envelope() != 3 || c.Call() != 4 {
		t.Errorf("exact %v, %s, envelope %d, call %d", c.Exact(), c.Name(), c.Envelope(), c.Call())
	}
	if got := c.Text("one two three"); got != 3 {
		t.Errorf("Text = %d, want 3", got)
	}
	if got := c.Bytes(13); got != 13 { // no more than one token per byte
		t.Errorf("Bytes(13) = %d, want 13", got)
	}
	if got := c.Bytes(-1); got != 0 {
		t.Errorf("Bytes(-1) = %d, want 0", got)
	}
	if got := c.Tools([]byte(`[ { "name": "two words" } ]`)); got != 2 { // compact: [{"name":"two words"}]
		t.Errorf("Tools = %d, want 2", got)
	}
}

func TestCountersAreSharedSafely(t *testing.T) {
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				c := For("openai/gpt-4o")
				c.Text("some text")
				c.Image(pngURL(1024, 1024), "high")
				if _, err := c.Named("bytes/3"); err != nil {
					t.Error(err)
				}
				Window("gpt-5")
			}
		})
	}
	wg.Wait()
}

func named(t testing.TB, name string) *Counter {
	t.Helper()
	c, err := Named(name)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
