package tokenize

import "strings"

// Video returns the cost of a video. Gemini documents 263 tokens for a second of pictures and 32 for its sound; vLLM's models
// take between 100 and 800 for a second, by their settings. data is a URL or base64, with or without a data URL in
// front. Its length follows from the lowest usual bit rate, 500 kbit/s. A video that is
// not in the request costs [FileUnseen].
func (c *Counter) Video(data string) int {
	const bytesPerSecond, tokensPerSecond = 62_500, 300
	_, inner, ok := given(data)
	if !ok {
		return FileUnseen
	}
	return max(ceilDiv(decodedLen(inner), bytesPerSecond), 1) * tokensPerSecond
}

// Unknown returns the cost of a part of an unknown kind by its JSON: that of all its text. Data in base64 is charged
// once, as [FileUnseen], because a model does not read it as text.
func (c *Counter) Unknown(raw string) int {
	n, from, data := 0, 0, false
	for i := 0; i < len(raw); {
		end := endOfBase64(raw, i)
		if end-i >= longestToken {
			n += c.Text(raw[from:i])
			from, data = end, true
		}
		i = max(end, i+1)
	}
	n += c.Text(raw[from:])
	if data {
		n += FileUnseen
	}
	return n
}

// endOfBase64 returns the end of a run of base64 as JSON writes it: \/ and \u002B are of the same letters, \n ends the run.
func endOfBase64(raw string, at int) int {
	for at < len(raw) && (isASCIIDigit(raw[at]) || isASCIILetter(raw[at]) || strings.IndexByte("+/-_=", raw[at]) >= 0 ||
		raw[at] == '\\' && !strings.HasPrefix(raw[at:], `\n`)) {
		at++
	}
	return at
}

// longestToken is the length, in bytes, from which a run of the letters of base64 is data. Hashes, keys and names are
// shorter, and so are pictures too small to matter.
const longestToken = 1 << 10
