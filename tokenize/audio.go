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
	if _, inner, ok := inlined(data); ok {
		data = inner
	}
	if data == "" || isRemote(data) {
		return AudioUnseen * c.family.audio
	}
	rate, ok := wavRate(data)
	if !ok {
		rate = byteRate(format)
	}
	return max(ceilDiv(decodedLen(data), rate), 1) * c.family.audio
}

// byteRates are the lowest usual bytes per second of each format; the last row is for every other one.
var byteRates = []struct {
	format string
	rate   int
}{
	{"wav", 8_000},    // unreadable header: 8 kHz, 8 bits, as telephones do
	{"pcm16", 32_000}, // 16 kHz, 16 bits; OpenAI's own is 24 kHz
	{"g711_ulaw", 8_000},
	{"g711_alaw", 8_000},
	{"flac", 8_000}, // speech compresses to about half of 16 kHz, 16 bits, and less
	{"mp3", 4_000},  // 32 kbit/s, speech
	{"", 2_000},     // Opus and AAC speech: 16 kbit/s
}

func byteRate(format string) int {
	for _, row := range byteRates {
		if strings.EqualFold(row.format, format) {
			return row.rate
		}
	}
	return byteRates[len(byteRates)-1].rate
}

// wavRate reads the bytes per second from the "fmt " chunk of a WAV file, kept between 1,000 (below any codec that
// is used for speech) and 1,536,000 (192 kHz, 32 bits, two channels): a header that lies moves the cost no further.
func wavRate(data string) (rate int, ok bool) {
	p := payloadOf(data)
	var head [12]byte
	if p.fill(head[:]) < 12 || string(head[:4]) != "RIFF" || string(head[8:]) != "WAVE" {
		return 0, false
	}
	for {
		var chunk [8]byte // name, size
		if p.fill(chunk[:]) < 8 {
			return 0, false
		}
		size := binary.LittleEndian.Uint32(chunk[4:])
		if string(chunk[:4]) == "fmt " {
			var format [12]byte // codec, channels, samples per second, bytes per second
			if size < 12 || p.fill(format[:]) < 12 {
				return 0, false
			}
			return int(min(max(binary.LittleEndian.Uint32(format[8:]), 1_000), 1_536_000)), true
		}
		if size > 1<<30 || !p.skip(int(size+size%2)) { // chunks are padded to an even size
			return 0, false
		}
	}
}
