package stage

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"laconic/compact"
)

func TestShortStrings(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		got := shortStrings(in, 4)
		if got != want || !json.Valid([]byte(got)) {
			t.Errorf("%s\ngives %s\nwant  %s", in, got, want)
		}
		if again := shortStrings(got, 4); again != got {
			t.Errorf("%s, cut again, gives %s", got, again)
		}
	}
	long := strings.Repeat("x", 40)
	f(`{}`, `{}`)
	f(`{"a":"short enough to stay"}`, `{"a":"short enough to stay"}`)
	f(`{"a":"`+long+`"}`, `{"a":"xxxx… [36 more characters]"}`)
	f(`{"`+long+`" : 1 }`, `{"`+long+`" : 1 }`)
	f(`{"`+long+`" : "`+long+`","n":1.0}`, `{"`+long+`" : "xxxx… [36 more characters]","n":1.0}`)
	f(`{"a":["`+long+`",{"b":"`+long+`"}], "c" : null}`, `{"a":["xxxx… [36 more characters]",{"b":"xxxx… [36 more characters]"}], "c" : null}`)
	// No cut inside an escape, a surrogate pair or a character.
	f(`{"a":"abc\n`+long+`"}`, `{"a":"abc\n… [40 more characters]"}`)
	f(`{"a":"abc\"`+long+`"}`, `{"a":"abc\"… [40 more characters]"}`)
	f(`{"a":"abc\\\"`+long+`"}`, `{"a":"abc\\… [41 more characters]"}`)
	f(`{"a":"abc\u00e9`+long+`"}`, `{"a":"abc\u00e9… [40 more characters]"}`)
	f(`{"a":"abc\uD83d\uDe00`+long+`"}`, `{"a":"abc\uD83d\uDe00… [40 more characters]"}`)
	f(`{"a":"abc\ud83d\u0041`+long+`"}`, `{"a":"abc\ud83d… [41 more characters]"}`)
	f(`{"a":"abc\ude00\ud83d`+long+`"}`, `{"a":"abc\ude00… [41 more characters]"}`)
	f(`{"a":"äöü😀`+long+`"}`, `{"a":"äöü😀… [40 more characters]"}`)
	f("{\"a\":\"abc\xff"+long+"\"}", "{\"a\":\"abc\xff… [40 more characters]\"}")
	// Counts of earlier cuts add up, and only their own form is one.
	f(`{"a":"`+long+`… [100 more characters]"}`, `{"a":"xxxx… [136 more characters]"}`)
	f(`{"a":"`+long+`… [0100 more characters]"}`, `{"a":"xxxx… [60 more characters]"}`)
	f(`{"a":"`+long+`… [-5 more characters]"}`, `{"a":"xxxx… [58 more characters]"}`)
	f(`{"a":"`+long+`… [99999999999999999999 more characters]"}`, `{"a":"xxxx… [76 more characters]"}`)
}

func TestOnlyObjectsAreArguments(t *testing.T) {
	f := func(in string, want bool) {
		t.Helper()
		if got := compact.IsObject(in); got != want {
			t.Errorf("%q: %v", in, got)
		}
	}
	f(`{}`, true)
	f(" \r\n\t{\"a\": 1}\n", true)
	f(`["a"]`, false)
	f(`"a"`, false)
	f(`{"a": 1`, false)
	f(`{"a": 1}{}`, false)
	f(``, false)
	f(`null`, false)
}

func FuzzShortStrings(f *testing.F) {
	f.Add(`{"a":"\ud83d\ude00\u00e9\\\"äö","b":[{"c":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}]}`, 3)
	f.Add(`{"a":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx… [7 more characters]"}`, 5)
	f.Fuzz(func(t *testing.T, text string, n int) {
		if n < 1 || !compact.IsObject(text) {
			return
		}
		short := shortStrings(text, n)
		if len(short) > len(text) || !compact.IsObject(short) || shortStrings(short, n) != short {
			t.Errorf("%q at %d gives %q and then %q", text, n, short, shortStrings(short, n))
		}
		if utf8.ValidString(text) && !utf8.ValidString(short) {
			t.Errorf("%q at %d gives %q: a character was torn", text, n, short)
		}
	})
}
