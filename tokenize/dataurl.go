package tokenize

import (
	"encoding/base64"
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

// given returns the base64 of data that is in the request, with or without a data URL in front, and the media type of that.
// ok is false for empty data and for any other URL.
func given(data string) (mediaType, inner string, ok bool) {
	if mediaType, inner, ok = inlined(data); ok {
		return mediaType, inner, true
	}
	return "", data, data != "" && !strings.Contains(data[:min(len(data), 16)], ":") // base64 has no colon
}

// decodedLen returns the number of bytes behind a base64 text; a few more if the text is broken into lines.
func decodedLen(data string) int {
	return base64.RawStdEncoding.DecodedLen(len(strings.TrimSuffix(strings.TrimSuffix(data, "="), "=")))
}

// decoded returns the first bytes behind a base64 text, at most so many, and whether nothing in them is foreign to it.
func decoded(text string, most int) (raw []byte, whole bool) {
	raw, err := io.ReadAll(io.LimitReader(base64Reader(text, most), int64(most)))
	return raw, err == nil
}

// base64Reader reads about the first bytes behind a base64 text, as many as most or more, up to any character that is
// foreign to it. The text may be in either alphabet, in lines, and with padding or without.
func base64Reader(text string, most int) io.Reader {
	text, _, _ = strings.Cut(text[:min(len(text), 2*most+64)], "=")
	return base64.NewDecoder(base64.RawStdEncoding, strings.NewReader(standardAlphabet.Replace(text)))
}

// standardAlphabet leaves line ends to the decoder.
var standardAlphabet = strings.NewReplacer("-", "+", "_", "/", " ", "", "\t", "")
