package bpe

import (
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"testing"
	"unsafe"
)

// hostileTexts are what a client may send to buy time: one piece of any length, runs that a pattern reads again and
// again, and texts with nothing in them that was seen before. Each makes about so many bytes.
var hostileTexts = []struct {
	name string
	make func(size int) string
}{
	{"one letter", repeated("a")},
	{"spaces", repeated(" ")},
	{"newlines", repeated("\n")},
	{"dashes", repeated("-")},
	{"31 spaces and a newline", repeated(strings.Repeat(" ", 31) + "\n")},
	{"one word", repeated("antidisestablishmentarianism")},
	{"Chinese without a stop", repeated("的一是不了人我在有他这中大来上国个到说们")},
	{"emoji families", repeated("👩‍👩‍👧‍👦")},
	{"digits", repeated("0")},
	{"apostrophes", repeated("'s")},
	{"marks", repeated("e\u0301")},
	{"appointments", repeated(" appointments\t   ")},
	{"random letters", random("abcdefghijklmnopqrstuvwxyz")},
	{"random blanks", random(" \t\n\r")},
	{"two letters", random("ab")},
	{"base64", random("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")},
	{"random signs", random("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")},
	{"random signs before a line", func(size int) string { return random("!#$%&*+-/:=?@^_~")(size-300) + strings.Repeat("-", 300) }},
	{"random emoji", random("😀😁😂🤣😃😄😅😆😉😊😋😎😍😘🥰😗😙😚🙂🤗🤩🤔")},
	{"random characters", func(size int) string {
		r := rand.New(rand.NewPCG(9, 9))
		var b strings.Builder
		for b.Len() < size {
			b.WriteRune(rune(r.IntN(0x110000))) // a surrogate becomes U+FFFD
		}
		return b.String()
	}},
	{"random bytes", func(size int) string {
		r := rand.New(rand.NewPCG(8, 8))
		b := make([]byte, size)
		for i := range b {
			b[i] = byte(r.IntN(256))
		}
		return string(b)
	}},
}

func repeated(s string) func(int) string {
	return func(size int) string { return strings.Repeat(s, size/len(s)) }
}

func random(letters string) func(int) string {
	of := []rune(letters)
	return func(size int) string {
		r := rand.New(rand.NewPCG(10, 10))
		var b strings.Builder
		for b.Len() < size {
			b.WriteRune(of[r.IntN(len(of))])
		}
		return b.String()
	}
}

// A megabyte of anything, four in the whole sweep, are counted with little memory, and the tokens are the text. There is no clock here: a
// way that is quadratic would not come to an end within the time that go test gives.
func TestHostileTextsTakeNoMoreThanOthers(t *testing.T) {
	size := 1 << 20
	switch {
	case testing.Short():
		size = 1 << 17
	case os.Getenv("LACONIC_SWEEP") != "":
		size = 4 << 20
	}
	for _, e := range []*Encoding{O200k(), Cl100k()} {
		for _, hostile := range hostileTexts {
			text := hostile.make(size)
			e.Count([]byte(text)) // from now on there is room in the pools

			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			count := e.Count([]byte(text))
			runtime.ReadMemStats(&after)
			// A window over all of a piece would take about a hundred times its length. Bytes that are not UTF-8 are
			// copied, at most three for one. On another processor the pool may be empty.
			most := uint64(4*size) + 2*uint64(unsafe.Sizeof(scratch{}))
			if took := after.TotalAlloc - before.TotalAlloc; !raced() && took > most {
				t.Errorf("%s: %s: counting %d bytes allocates %d", e.name(), hostile.name, len(text), took)
			}

			tokens := tokens(e, text)
			if len(tokens) != count {
				t.Errorf("%s: %s: counted %d, but there are %d tokens", e.name(), hostile.name, count, len(tokens))
			}
			rest := string(repaired([]byte(text)))
			for i, id := range tokens {
				token := string(e.vocab.token(id))
				if !strings.HasPrefix(rest, token) {
					t.Errorf("%s: %s: token %d of %d is %q", e.name(), hostile.name, i, len(tokens), token)
					break
				}
				rest = rest[len(token):]
			}
		}
	}
}
