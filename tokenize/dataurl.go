package tokenize

import "strings"

// A client that escapes in JSON what need not be (PHP writes \/ for a slash, .NET \u002B for a plus) may leave that in a
// URL that is taken unescaped from the body. Both readers here accept such escapes, so that megabytes are not copied to
// unescape them.

// longestMediaType bounds the search for the comma that ends the head of a data URL.
const longestMediaType = 512

// inlined splits a data URL. ok is false for any other URL and for data that is not base64.
func inlined(url string) (mediaType, data string, ok bool) {
	url = strings.TrimLeft(url, " \t\r\n")
	if len(url) < 5 || !strings.EqualFold(url[:5], "data:") {
		return "", "", false
	}
	comma := strings.IndexByte(url[:min(len(url), longestMediaType)], ',')
	if comma < 0 {
		return "", "", false
	}
	head := strings.ToLower(strings.ReplaceAll(url[5:comma], `\/`, "/"))
	head, isBase64 := strings.CutSuffix(strings.TrimSpace(head), "base64")
	mediaType, _, _ = strings.Cut(head, ";")
	return strings.TrimSpace(mediaType), url[comma+1:], isBase64
}

// decodedLen returns the number of bytes behind a base64 text; a few more if the text is broken into lines.
func decodedLen(data string) int {
	data = strings.TrimSuffix(strings.TrimSuffix(data, "="), "=")
	return len(data)/4*3 + len(data)%4*3/4
}

// decoded returns the bytes behind a base64 text from the front, so many if there are as many, and the rest of the text.
// Both alphabets are read; line ends and blanks are passed over. ok is false where a character is not base64.
func decoded(text string, most int) (raw []byte, rest string, ok bool) {
	var acc uint32
	bits := 0
	raw = make([]byte, 0, min(most, len(text)))
	for text != "" && len(raw) < most {
		v, size := sextets[text[0]], 1
		if v == ignored {
			v, size = escaped(text)
		}
		text = text[size:]
		switch {
		case v < 64:
			acc = acc<<6 | uint32(v)
			if bits += 6; bits >= 8 {
				bits -= 8
				raw = append(raw, byte(acc>>bits))
			}
		case v != ignored:
			return raw, "", v == padding
		}
	}
	return raw, text, true
}

// escaped returns the value and the length of what begins with a blank or with the backslash of JSON.
func escaped(text string) (value byte, size int) {
	switch {
	case text[0] != '\\' || len(text) < 2:
		return ignored, 1
	case strings.IndexByte("nrt", text[1]) >= 0:
		return ignored, 2
	case text[1] == 'u' && len(text) >= 6:
		return spelt(text[2:6]), 6
	}
	return ignored, 1 // of \/
}

// spelt returns the value of the character with these four digits after \u.
func spelt(digits string) byte {
	switch strings.ToLower(digits) {
	case "002b":
		return sextets['+']
	case "002f":
		return sextets['/']
	case "003d":
		return sextets['=']
	case "0009", "000a", "000d", "0020":
		return ignored
	}
	return foreign
}

const (
	ignored = 64 // line ends, blanks, and the backslash of \/
	padding = 65 // the data ends there
	foreign = 66 // anything else: it breaks off
)

// sextets has the value of each character of base64.
var sextets = func() (table [256]byte) {
	for i := range table {
		table[i] = foreign
	}
	for i, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789") {
		table[c] = byte(i)
	}
	table['='] = padding
	table['+'], table['-'] = 62, 62
	table['/'], table['_'] = 63, 63
	for _, c := range []byte(" \t\r\n\\") {
		table[c] = ignored
	}
	return table
}()
