package tokenize

import "strings"

// A client that escapes in JSON what need not be (PHP writes \/ for a slash, .NET \u002B for a plus) may leave that in a
// URL that is taken from the body as it stands. Both readers here see through that, so that nobody has to copy
// megabytes to unescape them.

// longestMediaType bounds the search for the comma that ends the head of a data URL.
const longestMediaType = 512

// inlined takes a data URL apart. ok is false for any other URL and for data that is not base64.
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

// decodedLen is the number of bytes behind a base64 text; a few more where it is broken into lines.
func decodedLen(data string) int {
	data = strings.TrimSuffix(strings.TrimSuffix(data, "="), "=")
	return len(data)/4*3 + len(data)%4*3/4
}

// payload reads the bytes behind a base64 text from the front, only as far as asked and never further than
// longestHeader. Both alphabets are read, line ends and blanks are passed over.
type payload struct {
	text   string // what has not been read
	left   int    // characters that may still be looked at
	broken bool   // something other than base64 stands between the characters: no jumps
	acc    uint32 // bits read and not handed out
	bits   int
}

// longestHeader is how many characters of base64 are looked at in search of a size. Jumps are not counted.
const longestHeader = 64 << 10

// How far one looks for what stands between the characters before trusting jumps: MIME breaks lines at 76 characters,
// and of a plus or a slash there is one in 64.
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

// next gives one byte. ok is false at the end, at the bound, and at a character that is not base64.
func (p *payload) next() (b byte, ok bool) {
	for p.bits < 8 {
		if p.text == "" || p.left == 0 {
			return 0, false
		}
		v, size := sextets[p.text[0]], 1
		if v == ignored && len(p.text) >= 6 && p.text[:2] == `\u` {
			v, size = escaped(p.text[2:6]), 6
		}
		p.text = p.text[size:]
		p.left = max(0, p.left-size)
		switch {
		case v < 64:
			p.acc = p.acc<<6 | uint32(v)
			p.bits += 6
		case v == foreign:
			return 0, false
		}
	}
	p.bits -= 8
	return byte(p.acc >> p.bits), true
}

// escaped gives the value of the character that \u and these four digits stand for.
func escaped(digits string) byte {
	switch strings.ToLower(digits) {
	case "002b":
		return sextets['+']
	case "002f":
		return sextets['/']
	case "003d":
		return sextets['=']
	}
	return foreign
}

// fill gives up to len(buf) bytes and says how many.
func (p *payload) fill(buf []byte) int {
	for i := range buf {
		b, ok := p.next()
		if !ok {
			return i
		}
		buf[i] = b
	}
	return len(buf)
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
	foreign = 65 // anything else, padding included: the data ends there
)

// sextets gives the value of each character of base64.
var sextets = func() (table [256]byte) {
	for i := range table {
		table[i] = foreign
	}
	for i, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789") {
		table[c] = byte(i)
	}
	table['+'], table['-'] = 62, 62
	table['/'], table['_'] = 63, 63
	for _, c := range []byte(" \t\r\n\\") {
		table[c] = ignored
	}
	return table
}()
