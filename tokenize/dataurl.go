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

// payload reads the bytes behind a base64 text from the front, only as far as asked and, where it looks for a size,
// never further than longestHeader. Both alphabets are read, line ends and blanks are passed over.
type payload struct {
	text   string // what has not been read
	left   int    // characters that may still be looked at
	broken bool   // something other than base64 is between the characters: no jumps
	odd    bool   // a character that is not base64 ended it
	acc    uint32 // bits read and not handed out
	bits   int
}

// longestHeader is how many characters of base64 are looked at in search of a size. Jumps are not counted.
const longestHeader = 64 << 10

// How many characters are searched for line ends and for escapes before jumps are trusted: MIME breaks lines at 76
// characters, and one character in 64 is a plus, one a slash.
const (
	lineSample   = 160
	escapeSample = 4 << 10
)

func payloadOf(data string) payload {
	return payload{
		text: data,
		left: longestHeader,
		broken: strings.ContainsAny(data[:min(len(data), lineSample)], " \t\r\n") ||
			strings.Contains(data[:min(len(data), escapeSample)], `\`),
	}
}

// wholePayloadOf reads a base64 text to its end.
func wholePayloadOf(data string) payload {
	p := payloadOf(data)
	p.left = len(data)
	return p
}

// next returns one byte. ok is false at the end, at the bound, and at a character that is not base64.
func (p *payload) next() (b byte, ok bool) {
	for p.bits < 8 {
		if p.text == "" || p.left == 0 {
			return 0, false
		}
		v, size := sextets[p.text[0]], 1
		if v == ignored {
			v, size = escaped(p.text)
		}
		p.text = p.text[size:]
		p.left = max(0, p.left-size)
		switch {
		case v < 64:
			p.acc = p.acc<<6 | uint32(v)
			p.bits += 6
		case v != ignored:
			p.odd = v == foreign
			return 0, false
		}
	}
	p.bits -= 8
	return byte(p.acc >> p.bits), true
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

// fill reads up to len(buf) bytes and returns how many.
func (p *payload) fill(buf []byte) int {
	n := 0
	for n < len(buf) {
		if p.bits == 0 {
			if n += p.groups(buf[n:]); n == len(buf) {
				break
			}
		}
		b, ok := p.next()
		if !ok {
			return n
		}
		buf[n] = b
		n++
	}
	return n
}

// groups reads three bytes at a time, as long as nothing is between the characters, and returns how many.
func (p *payload) groups(buf []byte) (n int) {
	for len(buf)-n >= 3 && len(p.text) >= 4 && p.left >= 4 {
		a, b, c, d := sextets[p.text[0]], sextets[p.text[1]], sextets[p.text[2]], sextets[p.text[3]]
		if a|b|c|d >= ignored {
			break
		}
		buf[n], buf[n+1], buf[n+2] = a<<2|b>>4, b<<4|c>>2, c<<6|d
		p.text = p.text[4:]
		p.left -= 4
		n += 3
	}
	return n
}

// skip passes over n bytes. Where the text is not broken into lines it jumps, four characters for three bytes, so a
// long segment costs nothing. ok is false when the text ends before; nothing can be read after that.
func (p *payload) skip(n int) (ok bool) {
	for ; n > 0 && p.bits > 0; n-- { // up to the border of four characters
		if _, ok := p.next(); !ok {
			return false
		}
	}
	if groups := n / 3; groups > 0 && !p.broken {
		if groups > len(p.text)/4 {
			return false
		}
		p.text = p.text[groups*4:]
		n -= groups * 3
	}
	for ; n > 0; n-- {
		if _, ok := p.next(); !ok {
			return false
		}
	}
	return true
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
