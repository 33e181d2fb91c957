package stage

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestBlanksThatMeanNothing(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		got := squeezed(in)
		if got != want {
			t.Errorf("%q\ngives %q,\nwant  %q", in, got, want)
		}
		if again := squeezed(got); again != got {
			t.Errorf("%q, squeezed again, gives %q", got, again)
		}
	}
	f("", "")
	f("one", "one")
	f("one  two", "one  two")
	f("if x:\n    y()\n\tz()", "if x:\n    y()\n\tz()")
	f("one \t\ntwo  ", "one\ntwo")
	f("one\n\n\n\ntwo", "one\n\ntwo")
	f("one\n \n\t\n\ntwo", "one\n\ntwo")
	f("one\n\ntwo\n", "one\n\ntwo\n")
	f("one\n\n\n\n", "one\n")
	f("\n\n\n  one", "\n  one")
	f("one \r\n\r\n\r\ntwo\r\n", "one\r\n\r\ntwo\r\n")
	f("10%\r50%\r100%", "10%\r50%\r100%")
	f(" \n\t\n ", "")
	f(`{"a": 1}`, `{"a":1}`)
	f("\n[ 1.50, 2E+3,\n  -0 ]\n", "[1.50,2E+3,-0]")
	f(`{"b": "<a & b>", "a": "\u00e9\/ x", "b": 12345678901234567890}`, `{"b":"<a & b>","a":"\u00e9\/ x","b":12345678901234567890}`)
	f("{\"a\": \"\u2028\xff\"}", "{\"a\":\"\u2028\xff\"}")
	f(`{"a": 1} {"b": 2}`, `{"a": 1} {"b": 2}`)
	f(`{"a": 1,}`, `{"a": 1,}`)
	f(`"a  b"`, `"a  b"`)
	f("[INFO]  starting [1]", "[INFO]  starting [1]")
	f(strings.Repeat("[", 20_000)+"  \n"+strings.Repeat("]", 20_000), strings.Repeat("[", 20_000)+"\n"+strings.Repeat("]", 20_000))
}

// TestClippedTextStaysClipped: the notice of an earlier cut gives the sizes of
// head and tail; squeezing them must not make it a lie.
func TestClippedTextStaysClipped(t *testing.T) {
	long := "head  \n\n\n\nof it " + strings.Repeat("x", 500) + "\n\n\n\n\ntail  \nof it"
	cut := clipOf(long).keep(12, 16)
	got := clipOf(squeezed(cut.String()))
	if got.whole() || got.size != len(long) {
		t.Errorf("%q\nis a text of %d bytes, want one clipped from %d", got.String(), got.size, len(long))
	}
	if len(got.String()) >= len(cut.String()) {
		t.Errorf("%q did not get shorter", got.String())
	}
}

func FuzzSqueeze(f *testing.F) {
	f.Add("{\"a\": [1, 2.0],\n\n\n \"b\": \"x  y\"}")
	f.Add("one  \n\n\n\ttwo\r\n")
	f.Add("\r \n")
	f.Add("{\v}")
	f.Add(clipOf(strings.Repeat("a  \n\n\n", 99)).keep(20, 20).String())
	f.Fuzz(func(t *testing.T, text string) {
		short := squeezed(text)
		if len(short) > len(text) || squeezed(short) != short {
			t.Errorf("%q gives %q and then %q", text, short, squeezed(short))
		}
		if json.Valid([]byte(text)) && !json.Valid([]byte(short)) {
			t.Errorf("%q gives %q, which is no JSON", text, short)
		}
		if strings.Join(strings.Fields(short), "") != strings.Join(strings.Fields(text), "") && clipOf(text).whole() && !json.Valid([]byte(text)) {
			t.Errorf("%q gives %q: more than white space is gone", text, short)
		}
	})
}
