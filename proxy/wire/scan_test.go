package wire

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// FuzzText: a walk takes what jsontext takes, and the length and the text of a string
// are those of jsontext.
func FuzzText(f *testing.F) {
	for _, c := range jsonCases {
		f.Add(c.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.Trim(text, " \t\r\n")
		s := scanner{src: []byte(text)}
		v := s.read()
		valid := jsontext.Value(text).IsValid()
		if taken := s.err == nil && s.at == len(text) && utf8.ValidString(text); taken != valid && !s.unsure && s.depth <= MaxDepth {
			t.Fatalf("%q is taken: %v, want %v (%v, up to %d)", text, taken, valid, s.err, s.at)
		}
		if v.kind != '"' || !valid {
			return
		}
		want, _ := jsontext.AppendUnquote(nil, text)
		if got := s.textOf(v); got.String() != string(want) || got.Len() != len(want) {
			t.Fatalf("%q: read as %q of %d bytes, want %q of %d", text, got.String(), got.Len(), want, len(want))
		}
		back := quoted(string(want))
		if again, err := jsontext.AppendUnquote(nil, back); err != nil || string(again) != string(want) {
			t.Fatalf("%q: written as %q (%v)", want, back, err)
		}
	})
}

func TestCheck(t *testing.T) {
	for _, c := range jsonCases {
		body, want := []byte(`{"x":`+c.text+"}"), c.want
		var got Code
		if err := check(body, nil); err != nil {
			got = err.Reason
		}
		if got != want {
			t.Errorf("%q: %q, want %q", c.text, got, want)
		}
		if want == "" {
			want = MessagesMissing // the walk takes it
		}
		if _, err := Chat.Decode(body); err.(*PassError).Reason != want {
			t.Errorf("%q: decoded: %v, want %q", c.text, err, want)
		}
	}
}

var jsonCases = []struct {
	text string
	want Code
}{
	{`null`, ""},
	{` [ ] `, ""},
	{"\t{ }\r\n", ""},
	{`{"a":[1,{"a":2}],"b":{"a":3}}`, ""},
	{`[{"a":1},{"a":1}]`, ""},
	{``, InvalidJSON},
	{` `, InvalidJSON},
	{`nul`, InvalidJSON},
	{`NaN`, InvalidJSON},
	{`[1 2]`, InvalidJSON},
	{`{"a":1,}`, InvalidJSON},
	{`{"a":1 "b":2}`, InvalidJSON},
	{`{a:1}`, InvalidJSON},
	{`{"a":1}{"a":1}`, InvalidJSON},
	{"\ufeff{}", InvalidJSON},
	{"{}\x00", InvalidJSON},
	{"[\v1]", InvalidJSON},
	{"[\u00a01]", InvalidJSON},
	{`[1] // why`, InvalidJSON},

	{`0`, ""},
	{`1e400`, ""},
	{`-1.5E-10`, ""},
	{`123456789012345678901234567890`, ""},
	{`01`, InvalidJSON},
	{`-`, InvalidJSON},

	{`""`, ""},
	{`"a"`, ""},
	{`"\"\\\/\b\f\n\r\t"`, ""},
	{`"\u0000\u001f\u2028\u00E9"`, ""},
	{`"\ud83d\ude00"`, ""},
	{`"\uD83D\uDE00"`, ""},
	{"\"\u2028\u2029é語😀\x7f\"", ""},
	{`"<>&</script>"`, ""},
	{`"`, InvalidJSON},
	{`"\`, InvalidJSON},
	{"\"\x00\"", InvalidJSON},
	{`"\ud800"`, InvalidUTF8},
	{`"\udc00"`, InvalidUTF8},
	{`"\ud83d\ud83d"`, InvalidUTF8},
	{`"\ude00\ud83d"`, InvalidUTF8},
	{`"\ud83d\u0041"`, InvalidUTF8},
	{"\"\x80\"", InvalidUTF8},
	{"\"\xff\"", InvalidUTF8},
	{"\"\xc3\"", InvalidUTF8},
	{"\"\xc3(\"", InvalidUTF8},
	{"\"\xc0\xaf\"", InvalidUTF8},         // overlong
	{"\"\xed\xa0\x80\"", InvalidUTF8},     // a surrogate
	{"\"\xf4\x90\x80\x80\"", InvalidUTF8}, // beyond Unicode
	{"\"\xe8\xaa\"", InvalidUTF8},         // cut
	{"{\"\xff\":1}", InvalidUTF8},

	{`{"a":1,"a":2}`, DuplicateKey},
	{`{"a":1,"\u0061":2}`, DuplicateKey},
	{`{"\u0061":1,"a":2}`, DuplicateKey},
	{`{"é":1,"\u00e9":2}`, DuplicateKey},
	{`{"a":{"b":1,"b":2}}`, DuplicateKey},
	{`{"a":1,"b":{"a":1},"a":2}`, DuplicateKey},
	{`[[{"x":[],"y":1,"x":[]}]]`, DuplicateKey},
	{`{"a":1,"A":2}`, ""},
	{`{"é":1,"e\u0301":2}`, ""}, // another spelling of the same letter is another key
	{strings.Replace(keys(200), `"k199"`, `"\u006b0"`, 1), DuplicateKey},
	{`[` + keys(100) + `,` + keys(100) + `]`, ""},

	{nested(MaxDepth - 1), ""},
	{nested(MaxDepth), TooDeep},
	{`[` + nested(MaxDepth-2) + `,` + nested(MaxDepth-2) + `]`, ""},
}

func nested(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }

// keys is an object of n keys.
func keys(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"k%d":1`, i)
	}
	return "{" + b.String()[1:] + "}"
}
