package wire

import "testing"

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
