package tokenize

import (
	"io"
	"strings"
)

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
	head := strings.ToLower(url[5:comma])
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
// Both alphabets are read; line ends and blanks are passed over. Any other character is the end.
func decoded(text string, most int) (raw []byte, rest string, whole bool) {
	var acc uint32
	bits := 0
	raw = make([]byte, 0, min(most, len(text)))
	for i := 0; i < len(text); i++ {
		if len(raw) == most {
			return raw, text[i:], true
		}
		switch v := sextets[text[i]]; {
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
	return raw, "", true
}

// base64Reader reads the bytes behind a base64 text.
type base64Reader struct{ rest string }

func (r *base64Reader) Read(p []byte) (n int, err error) {
	raw, rest, _ := decoded(r.rest, len(p)/3*3) // whole groups of four characters
	if r.rest = rest; len(raw) == 0 {
		return 0, io.EOF
	}
	return copy(p, raw), nil
}

const (
	ignored = 64 // line ends and blanks
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
	for _, c := range []byte(" \t\r\n") {
		table[c] = ignored
	}
	return table
}()
