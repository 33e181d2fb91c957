package stage

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"laconic/compact"
)

// shrinkArguments cuts long strings inside the arguments of old calls: a file
// that was written, a patch, a script. What was done, and to what, stays
// readable. Arguments stay a JSON object: SGLang refuses anything else, and vLLM
// silently empties it.
type shrinkArguments struct {
	// MaxChars is how many characters of a string stay.
	MaxChars int `json:"max_chars" min:"1"`
}

func (s *shrinkArguments) Name() string { return "shrink_arguments" }

func (s *shrinkArguments) Shrink(d *compact.Draft) {
	for ref, call := range d.Arguments() {
		if text := call.Arguments.String(); len(text) > s.MaxChars && compact.IsObject(text) {
			if short := shortStrings(text, s.MaxChars); len(short) < len(text) {
				d.RewriteArguments(ref, short, "long argument of an old call")
			}
		}
	}
}

// shortStrings returns valid JSON with every string value, nested ones too, cut
// to at most n characters and a notice. Keys and all bytes between strings stay.
func shortStrings(text string, n int) string {
	var b strings.Builder
	done := 0 // bytes of text that are written
	for i := 0; i < len(text); {
		if text[i] != '"' {
			i++
			continue
		}
		start := i + 1
		end := stringEnd(text, start)
		i = end + 1
		if strings.HasPrefix(strings.TrimLeft(text[i:], " \t\r\n"), ":") {
			continue // it is a key
		}
		if short, ok := shortString(text[start:end], n); ok {
			b.WriteString(text[done:start])
			b.WriteString(short)
			done = end
		}
	}
	b.WriteString(text[done:])
	return b.String()
}

// stringEnd returns the index of the quote that ends the string whose inside
// starts at i.
func stringEnd(text string, i int) int {
	for text[i] != '"' {
		i += 1
		if text[i-1] == '\\' {
			i++
		}
	}
	return i
}

const (
	moreOpen  = "… ["
	moreClose = " more characters]"
)

// shortString cuts the inside of a JSON string to n characters, and notes how
// many are missing, those of an earlier cut included. ok is false if the result
// would not be shorter.
func shortString(raw string, n int) (short string, ok bool) {
	if len(raw) <= n {
		return "", false
	}
	body, missing := beforeNotice(raw)
	at := 0
	for ; n > 0 && at < len(body); n-- {
		at += charWidth(body[at:])
	}
	head := body[:at]
	for ; at < len(body); missing++ {
		at += charWidth(body[at:])
	}
	short = head + moreOpen + strconv.Itoa(missing) + moreClose
	return short, len(short) < len(raw)
}

// beforeNotice splits the notice of an earlier cut from the inside of a string.
func beforeNotice(raw string) (body string, missing int) {
	s, ok := strings.CutSuffix(raw, moreClose)
	at := strings.LastIndex(s, moreOpen)
	if !ok || at < 0 {
		return raw, 0
	}
	digits := s[at+len(moreOpen):]
	n, err := strconv.Atoi(digits)
	if err != nil || n <= 0 || n > 1<<40 || strconv.Itoa(n) != digits {
		return raw, 0
	}
	return raw[:at], n
}

// charWidth returns how many bytes the first character takes inside a JSON
// string. An escape is one character, and so is a surrogate pair of escapes.
func charWidth(s string) int {
	switch {
	case s[0] != '\\':
		_, w := utf8.DecodeRuneInString(s)
		return w
	case s[1] != 'u':
		return 2
	case len(s) >= 12 && half(s, "89abAB") && half(s[6:], "cdefCDEF"):
		return 12
	}
	return 6
}

// half reports whether s starts with an escaped half of a surrogate pair: \ud and one
// of the digits.
func half(s, digits string) bool {
	return s[:2] == `\u` && strings.Contains("dD", s[2:3]) && strings.Contains(digits, s[3:4])
}
