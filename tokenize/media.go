package tokenize

import (
	"encoding/binary"
	"strings"
)

// AudioUnseen is how many seconds of sound are charged when there is nothing to measure.
const AudioUnseen = 60

// Audio returns the cost of a sound: its seconds at the family's rate (OpenAI about 10 tokens per second, Gemini 32).
// data is base64, with or without a data URL in front; format is what the client says it is ("wav", "mp3", …).
// The length of a WAV file follows from its header, that of anything else from its size at the lowest usual bit
// rate, so that a well recorded file is over-counted. Empty data, and the URL of a sound, are charged as [AudioUnseen].
func (c *Counter) Audio(data, format string) int {
	_, data, ok := given(data)
	if !ok || data == "" {
		return AudioUnseen * c.family.audio
	}
	rate, ok := wavRate(data)
	if !ok {
		rate = 2_000 // the lowest usual bytes per second of speech, as Opus and AAC
		if strings.EqualFold(format, "mp3") {
			rate = 4_000
		}
	}
	return max(ceilDiv(decodedLen(data), rate), 1) * c.family.audio
}

// wavRate reads the bytes per second from the "fmt " chunk of a WAV file, kept between 1,000 (below any codec that
// is used for speech) and 1,536,000 (192 kHz, 32 bits, two channels): a header that lies moves the cost no further.
func wavRate(data string) (rate int, ok bool) {
	if head, _ := decoded(data, 12); len(head) < 12 || string(head[:4]) != "RIFF" || string(head[8:]) != "WAVE" {
		return 0, false
	}
	head, _ := decoded(data, longestHeader/8)
	for at := 12; at+20 <= len(head); { // chunks: name, size, data, padded to an even size
		size := int(min(binary.LittleEndian.Uint32(head[at+4:]), 1<<30))
		if string(head[at:at+4]) == "fmt " { // codec, channels, samples per second, bytes per second
			return int(min(max(binary.LittleEndian.Uint32(head[at+16:]), 1_000), 1_536_000)), size >= 12
		}
		at += 8 + size + size%2
	}
	return 0, false
}

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
	for at < len(raw) && (isWord(raw[at]) || strings.IndexByte("+/-_=", raw[at]) >= 0 ||
		raw[at] == '\\' && !strings.HasPrefix(raw[at:], `\n`)) {
		at++
	}
	return at
}

// longestToken is the length, in bytes, from which a run of the letters of base64 is data. Hashes, keys and names are
// shorter, and so are pictures too small to matter.
const longestToken = 1 << 10
