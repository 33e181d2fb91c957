package tokenize

import "encoding/binary"

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
	head, _, _ := decoded(data, 30) // the longest of the three fixed headers (WebP)
	switch {
	case begins(head, "\x89PNG\r\n\x1a\n"):
		w, h = pngSize(head)
	case begins(head, "GIF87a"), begins(head, "GIF89a"):
		w, h = gifSize(head)
	case begins(head, "RIFF"):
		w, h = webpSize(head)
	case begins(head, "\xff\xd8"):
		w, h = jpegSize(head)
		for most := 1 << 10; w == 0 && most <= longestHeader && len(head) < decodedLen(data); most *= 8 {
			head, _, _ = decoded(data, most)
			w, h = jpegSize(head)
		}
	}
	if w < 1 || h < 1 || w > widest || h > widest {
		return 0, 0, false
	}
	return w, h, true
}

// longestHeader is how many bytes of a picture or a sound are decoded in search of a size.
const longestHeader = 512 << 10

func begins(head []byte, mark string) bool {
	return len(head) >= len(mark) && string(head[:len(mark)]) == mark
}

// The readers below return 0, 0 if the header ends too early or is not of its format.

// pngSize reads the first chunk, which has to be IHDR (PNG 11.2.1).
func pngSize(head []byte) (w, h int) {
	if len(head) < 24 || string(head[12:16]) != "IHDR" {
		return 0, 0
	}
	return int(binary.BigEndian.Uint32(head[16:])), int(binary.BigEndian.Uint32(head[20:]))
}

// gifSize reads the logical screen (GIF89a 18).
func gifSize(head []byte) (w, h int) {
	if len(head) < 10 {
		return 0, 0
	}
	return int(binary.LittleEndian.Uint16(head[6:])), int(binary.LittleEndian.Uint16(head[8:]))
}

// webpSize reads the first chunk: a lossy frame, a lossless one, or the canvas of an extended file (RFC 9649).
func webpSize(head []byte) (w, h int) {
	if len(head) < 30 || string(head[8:12]) != "WEBP" {
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

// jpegSize walks from marker to marker up to the frame header (ITU T.81 B.2). Segments before it, such as a camera's
// thumbnail or a colour profile, are jumped over.
func jpegSize(head []byte) (w, h int) {
	for at := 2; at+9 <= len(head) && head[at] == 0xff; { // behind the start of image
		marker := head[at+1]
		switch {
		case marker == 0xff: // it only fills
			at++
			continue
		case marker == 0x01, marker >= 0xd0 && marker <= 0xd8: // these have no segment
			at += 2
			continue
		case marker == 0x00, marker == 0xd9, marker == 0xda: // not a marker, end of image, data before any frame
			return 0, 0
		case isFrame(marker): // behind it: length, precision, height, width
			return int(binary.BigEndian.Uint16(head[at+7:])), int(binary.BigEndian.Uint16(head[at+5:]))
		}
		length := int(binary.BigEndian.Uint16(head[at+2:]))
		if length < 2 {
			return 0, 0
		}
		at += 2 + length
	}
	return 0, 0
}

// isFrame reports whether a marker starts a frame header: SOF0 to SOF15 without the table markers between them.
func isFrame(marker byte) bool {
	return marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc
}
