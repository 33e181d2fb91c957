package tokenize

import (
	"encoding/binary"
	"image"
	_ "image/gif"  // reads the size
	_ "image/jpeg" // reads the size
	_ "image/png"  // reads the size
	"io"
)

// Image returns the cost of a picture. url is a data URL (the size is read from the header of a PNG, JPEG, GIF or WebP,
// whatever media type it claims; it is never decoded whole and never counted as text) or a remote one. detail is
// OpenAI's "low", "high", "auto", "original" or "". A picture whose size cannot be read is charged as much as the
// largest one of the family (for Qwen, whose largest is rarely allowed, as a good-sized one).
func (c *Counter) Image(url, detail string) int {
	if w, h, ok := imageSize(url); ok {
		return c.family.image.tokens(w, h, detail)
	}
	return c.family.image.most(detail)
}

// widest bounds a side, in pixels. JPEG and GIF can say no more, and no provider takes as much.
const widest = 1<<16 - 1

// imageSize reads width and height from the header of an inlined picture.
func imageSize(url string) (w, h int, ok bool) {
	_, data, ok := inlined(url)
	if !ok {
		return 0, 0, false
	}
	head, _ := decoded(data, 30)
	if w, h = webpSize(head); w == 0 {
		config, _, err := image.DecodeConfig(io.LimitReader(base64Reader(data), longestHeader))
		if err != nil {
			return 0, 0, false
		}
		w, h = config.Width, config.Height
	}
	if w < 1 || h < 1 || w > widest || h > widest {
		return 0, 0, false
	}
	return w, h, true
}

// longestHeader is how many bytes of a picture or a sound are decoded in search of a size.
const longestHeader = 512 << 10

// webpSize reads the first chunk: a lossy frame, a lossless one, or the canvas of an extended file (RFC 9649). It returns
// 0, 0 if the header ends too early or is not of that format.
func webpSize(head []byte) (w, h int) {
	if len(head) < 30 || string(head[:4]) != "RIFF" || string(head[8:12]) != "WEBP" {
		return 0, 0
	}
	switch string(head[12:16]) {
	case "VP8 ":
		if string(head[23:26]) != "\x9d\x01\x2a" { // the start code of a key frame
			return 0, 0
		}
		const size = 1<<14 - 1 // the two bits above are a scale for display
		return int(binary.LittleEndian.Uint16(head[26:])) & size, int(binary.LittleEndian.Uint16(head[28:])) & size
	case "VP8L":
		if head[20] != 0x2f {
			return 0, 0
		}
		bits := binary.LittleEndian.Uint32(head[21:])
		return int(bits&(1<<14-1)) + 1, int(bits>>14&(1<<14-1)) + 1
	case "VP8X":
		return uint24(head[24:]) + 1, uint24(head[27:]) + 1
	}
	return 0, 0
}

func uint24(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }
