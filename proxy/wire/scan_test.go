package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// scan reads one JSON text with the scanner.
func scan(src []byte) *PassError {
	s := scanner{src: src}
	s.space()
	if !s.skip() {
		return s.err
	}
	if s.space(); s.at < len(src) {
		return &PassError{Reason: TrailingData, Offset: int64(s.at)}
	}
	if s.depth != 0 || len(s.names) != 0 {
		panic("BUG: the scanner did not come back up")
	}
	return nil
}

// strict reads one JSON text with jsontext.
func strict(src []byte) error {
	d := jsontext.NewDecoder(bytes.NewBuffer(src))
	if _, err := d.ReadValue(); err != nil {
		return err
	}
	if _, err := d.ReadToken(); err != io.EOF {
		return errors.New("trailing data")
	}
	return nil
}

// FuzzScan: the scanner accepts what jsontext accepts, and calls a duplicate
// what jsontext calls one.
func FuzzScan(f *testing.F) {
	for _, c := range jsonCases {
		f.Add([]byte(c.text))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		ours, theirs := scan(src), strict(src)
		if ours != nil && (ours.Reason == TooDeep || ours.Reason == TooMany) {
			return // limits of ours alone
		}
		if (ours == nil) != (theirs == nil) {
			t.Fatalf("%q: ours %v, jsontext %v", src, ours, theirs)
		}
		if ours != nil && (ours.Reason == DuplicateKey) != errors.Is(theirs, jsontext.ErrDuplicateName) {
			t.Fatalf("%q: ours %v, jsontext %v", src, ours, theirs)
		}
	})
}

// FuzzText: the length and the text of a string are those of jsontext.
func FuzzText(f *testing.F) {
	for _, c := range jsonCases {
		f.Add(strings.Trim(c.text, `"`))
	}
	f.Fuzz(func(t *testing.T, inside string) {
		s := scanner{src: []byte(`"` + inside + `"`)}
		v, ok := s.value()
		if !ok || s.at < len(s.src) {
			return
		}
		want, err := jsontext.AppendUnquote(nil, s.src)
		if err != nil {
			t.Fatalf("%q: accepted, but %v", s.src, err)
		}
		if got := s.str(v); got != string(want) || v.size != len(want) {
			t.Fatalf("%q: read as %q of %d bytes, want %q of %d", s.src, got, v.size, want, len(want))
		}
		back := appendQuoted(nil, string(want))
		if again, err := jsontext.AppendUnquote(nil, back); err != nil || string(again) != string(want) {
			t.Fatalf("%q: written as %q (%v)", want, back, err)
		}
	})
}

func TestScan(t *testing.T) {
	for _, c := range jsonCases {
		var got Code
		if err := scan([]byte(c.text)); err != nil {
			got = err.Reason
		}
		if got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
		if err := strict([]byte(c.text)); (err == nil) != (c.want == "") && c.want != TooDeep {
			t.Errorf("%q: jsontext says %v", c.text, err)
		}
	}
}

// BenchmarkScan compares the scanner with jsontext on a text like that of an
// agent: source code in strings, an escape every sixteen bytes. jsontext does
// not give the lengths of the decoded texts.
func BenchmarkScan(b *testing.B) {
	var text bytes.Buffer // no two lines are alike: a processor learns what repeats
	chance := rand.New(rand.NewPCG(1, 2))
	text.WriteByte('[')
	for text.Len() < 4<<20 {
		text.WriteString(`{"role":"tool","content":"`)
		for range 1 + chance.IntN(40) {
			fmt.Fprintf(&text, `%sif err := p.expect(\"%s\", %d); err != nil {\n`, strings.Repeat(`\t`, chance.IntN(4)), strings.Repeat("name", 1+chance.IntN(9)), chance.Uint32())
		}
		text.WriteString(`"},`)
	}
	text.WriteString("0]")
	src := text.Bytes()
	for _, c := range []struct {
		name string
		read func([]byte) bool
	}{
		{"ours", func(src []byte) bool { return scan(src) == nil }},
		{"jsontext", func(src []byte) bool { return strict(src) == nil }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(src)))
			b.ReportAllocs()
			for b.Loop() {
				if !c.read(src) {
					b.Fatal("not read")
				}
			}
		})
	}
}

var jsonCases = []struct {
	text string
	want Code
}{
	{`null`, ""},
	{`true`, ""},
	{`false`, ""},
	{` [ ] `, ""},
	{"\t{ }\r\n", ""},
	{`{"a":[1,{"a":2}],"b":{"a":3}}`, ""},
	{`[{"a":1},{"a":1}]`, ""},
	{``, InvalidJSON},
	{` `, InvalidJSON},
	{`nul`, InvalidJSON},
	{`nulll`, TrailingData},
	{`True`, InvalidJSON},
	{`NaN`, InvalidJSON},
	{`Infinity`, InvalidJSON},
	{`'a'`, InvalidJSON},
	{`[1,]`, InvalidJSON},
	{`[,1]`, InvalidJSON},
	{`[1 2]`, InvalidJSON},
	{`[1`, InvalidJSON},
	{`[`, InvalidJSON},
	{`[1}`, InvalidJSON},
	{`]`, InvalidJSON},
	{`{`, InvalidJSON},
	{`{"a"`, InvalidJSON},
	{`{"a":`, InvalidJSON},
	{`{"a":1`, InvalidJSON},
	{`{"a":1,`, InvalidJSON},
	{`{"a":1,}`, InvalidJSON},
	{`{,}`, InvalidJSON},
	{`{"a" 1}`, InvalidJSON},
	{`{"a":1 "b":2}`, InvalidJSON},
	{`{"a":1]`, InvalidJSON},
	{`{a:1}`, InvalidJSON},
	{`{1:1}`, InvalidJSON},
	{`{null:1}`, InvalidJSON},
	{`{"a":1}}`, TrailingData},
	{`{"a":1}{"a":1}`, TrailingData},
	{`[] []`, TrailingData},
	{"\ufeff{}", InvalidJSON},
	{"{}\x00", TrailingData},
	{"[\v1]", InvalidJSON},
	{"[\u00a01]", InvalidJSON},
	{`[1] // why`, TrailingData},
	{`/**/1`, InvalidJSON},

	{`0`, ""},
	{`-0`, ""},
	{`1.0`, ""},
	{`1e400`, ""},
	{`-1.5E-10`, ""},
	{`1e+1`, ""},
	{`9007199254740993`, ""},
	{`123456789012345678901234567890`, ""},
	{`01`, TrailingData},
	{`-`, InvalidJSON},
	{`-a`, InvalidJSON},
	{`+1`, InvalidJSON},
	{`.5`, InvalidJSON},
	{`1.`, InvalidJSON},
	{`1.e1`, InvalidJSON},
	{`1e`, InvalidJSON},
	{`1e+`, InvalidJSON},
	{`0x10`, TrailingData},
	{`1_000`, TrailingData},

	{`""`, ""},
	{`"a"`, ""},
	{`"\"\\\/\b\f\n\r\t"`, ""},
	{`"\u0000\u001f\u2028\u00E9"`, ""},
	{`"\ud83d\ude00"`, ""},
	{`"\uD83D\uDE00"`, ""},
	{"\"\u2028\u2029é語😀\x7f\"", ""},
	{`"<>&</script>"`, ""},
	{`"`, InvalidJSON},
	{`"a`, InvalidJSON},
	{`"abcdefgh`, InvalidJSON},
	{`"\`, InvalidJSON},
	{`"\"`, InvalidJSON},
	{`"\x"`, InvalidJSON},
	{`"\'"`, InvalidJSON},
	{`"\N"`, InvalidJSON},
	{`"\u"`, InvalidJSON},
	{`"\u12"`, InvalidJSON},
	{`"\u123"`, InvalidJSON},
	{`"\u123g"`, InvalidJSON},
	{`"\U0041"`, InvalidJSON},
	{"\"\n\"", InvalidJSON},
	{"\"\t\"", InvalidJSON},
	{"\"\x00\"", InvalidJSON},
	{"\"\x1f\"", InvalidJSON},
	{`"\ud800"`, InvalidUTF8},
	{`"\udc00"`, InvalidUTF8},
	{`"\ud83d\ud83d"`, InvalidUTF8},
	{`"\ude00\ud83d"`, InvalidUTF8},
	{`"\ud83d\n"`, InvalidUTF8},
	{`"\ud83d x"`, InvalidUTF8},
	{`"\ud83dA"`, InvalidUTF8},
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
	{`{"":1,"":2}`, DuplicateKey},
	{`{"a":{"b":1,"b":2}}`, DuplicateKey},
	{`{"a":1,"b":{"a":1},"a":2}`, DuplicateKey},
	{`[[{"x":[],"y":1,"x":[]}]]`, DuplicateKey},
	{`{"a":1,"A":2}`, ""},
	{`{"a":1,"a ":2}`, ""},
	{`{"é":1,"e\u0301":2}`, ""}, // another spelling of the same letter is another key
	{keys(manyKeys - 1), ""},
	{keys(manyKeys), ""},
	{keys(manyKeys + 1), ""},
	{keys(200), ""},
	{strings.Replace(keys(200), `"k150"`, `"k7"`, 1), DuplicateKey},
	{strings.Replace(keys(200), `"k199"`, `"k198"`, 1), DuplicateKey},
	{strings.Replace(keys(200), `"k199"`, `"\u006b0"`, 1), DuplicateKey},
	{`[` + keys(100) + `,` + keys(100) + `]`, ""},

	{nested(MaxDepth), ""},
	{nested(MaxDepth + 1), TooDeep},
	{strings.Repeat(`{"a":`, MaxDepth) + `1` + strings.Repeat(`}`, MaxDepth), ""},
	{strings.Repeat(`{"a":`, MaxDepth+1) + `1` + strings.Repeat(`}`, MaxDepth+1), TooDeep},
	{`[` + nested(MaxDepth-1) + `,` + nested(MaxDepth-1) + `]`, ""},
}

func nested(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }

// keys is an object of n keys.
func keys(n int) string {
	var b strings.Builder
	for i := range n {
		if i == 0 {
			b.WriteByte('{')
		} else {
			b.WriteByte(',')
		}
		b.WriteString(`"k`)
		b.WriteString(strconv.Itoa(i))
		b.WriteString(`":1`)
	}
	b.WriteByte('}')
	return b.String()
}
