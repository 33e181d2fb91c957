package wire

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// Who needs a text for a moment only gets it into a buffer; it is the same text.
func TestTextIsAppendedAsItIsDecoded(t *testing.T) {
	f := func(inside, want string) {
		t.Helper()
		r, err := Chat.Decode([]byte(`{"messages":[{"role":"user","content":"` + inside + `"}]}`))
		if err != nil {
			t.Fatal(err)
		}
		text := r.Conversation.Messages[0].Parts[0].Text
		if got := text.String(); got != want {
			t.Errorf("%s is %q, want %q", inside, got, want)
		}
		if got := string(text.AppendTo([]byte("before "))); got != "before "+want {
			t.Errorf("%s is appended as %q, want %q", inside, got, want)
		}
		if _, encoded := text.Source(); encoded != (inside != want) {
			t.Errorf("%s: encoded is %v", inside, encoded)
		}
	}
	f(`plain`, "plain")
	f(`grüße 日本 🙂`, "grüße 日本 🙂")
	f(`\"`, `"`)
	f(`a\nb\tc\\d\/e`, "a\nb\tc\\d/e")
	f(`\u00e9`, "é")
	f(`\ud83d\ude42`, "🙂")
	f(`\u0000`, "\x00")
	f(`ends with \\`, `ends with \`)
	f(``, "")
}

// TestAStringEndsWhereItEnds, wherever in it something is that does not stand for
// itself: at every place of the blocks that are looked at at once, beside another
// such thing, and near the end of the body.
func TestAStringEndsWhereItEnds(t *testing.T) {
	odd := []string{
		`\n`, `\"`, `\\`, `\u0041`, `\u00e9`, `\ud83d\ude42`, "é", "漢", "🙂", "!", "#", "]", "[", " ", "\x7f",
		"\x00", "\x1f", "\xff", "\xc3", "\xe6\xbc", "\xed\xa0\x80", "\xc0\x80", "\xf5\x80\x80\x80", "\xe0\x80\x80", `\x`, `\u12`, `\ud83d`, `\ude42`, `\`,
	}
	plain := strings.Repeat("plain text ", 12)
	f := func(inside string) {
		body := []byte(`"` + inside + `", "more"`)
		end, saved, fault := endOfString(body, 1)
		wantEnd, wantSaved, wantFault := slowEndOfString(body, 1)
		if end != wantEnd || saved != wantSaved || fault != wantFault {
			t.Fatalf("%q: %d %d %q, want %d %d %q", body, end, saved, fault, wantEnd, wantSaved, wantFault)
		}
		for _, cut := range []int{0, 1, 9, 10} { // the end of the body is not far
			short := body[:len(body)-cut]
			end, saved, fault := endOfString(short, 1)
			if wantEnd, wantSaved, wantFault := slowEndOfString(short, 1); end != wantEnd || saved != wantSaved || fault != wantFault {
				t.Fatalf("%q: %d %d %q, want %d %d %q", short, end, saved, fault, wantEnd, wantSaved, wantFault)
			}
		}
	}
	for _, a := range odd {
		for before := range 80 {
			f(plain[:before] + a)
			f(plain[:before] + a + plain[:40])
			for _, b := range odd {
				f(plain[:before] + a + b + plain[:before%7])
				f(plain[:before] + a + plain[:before%5] + b + plain[:35])
			}
		}
	}
}

// slowEndOfString is endOfString, byte by byte.
func slowEndOfString(src []byte, i int) (end, saved int, fault Code) {
	for i < len(src) {
		switch c := src[i]; {
		case c == '"':
			return i, saved, ""
		case c < ' ':
			return i, 0, InvalidJSON
		case c == '\\' && i+1 < len(src) && strings.IndexByte(`"\/bfnrt`, src[i+1]) >= 0:
			i, saved = i+2, saved+1
		case c == '\\':
			_, n, fault := escapedRune(src[i:])
			if fault != "" {
				return i, 0, fault
			}
			i, saved = i+n.read, saved+n.read-n.made
		default:
			r, n := utf8.DecodeRune(src[i:])
			if r == utf8.RuneError && n == 1 {
				return i, 0, InvalidUTF8
			}
			i += n
		}
	}
	return i, 0, InvalidJSON
}
