package tokenize

import (
	"cmp"
	"encoding/binary"
	"image"
	_ "image/gif"  // reads the size
	_ "image/jpeg" // reads the size
	_ "image/png"  // reads the size
	"io"
	"math"
)

// picture is how a family charges a picture. Sides are in pixels, at least 1.
type picture interface {
	// tokens returns the cost of a picture of that size.
	tokens(w, h int, detail string) int
	// largest returns the size that is taken where none is known: of those that cost most, as a rule.
	largest() (w, h int)
}

// tiles is OpenAI's older way: fit into 2048 × 2048, bring the short side down to 768, count squares of 512.
// With detail "low" only the base is paid. "auto" is charged as "high", because the response does not say which one the model picked.
// Where a square costs nothing, every picture costs the same.
type tiles struct{ base, tile int }

func (t tiles) tokens(w, h int, detail string) int {
	if detail == "low" {
		return t.base
	}
	// One factor does both steps: the smaller of 1, 2048/long and 768/short. As a fraction it keeps the count exact.
	long, short := max(w, h), min(w, h)
	num, den := 1, 1
	if long > 2048 {
		num, den = 2048, long
	}
	if short*num > 768*den {
		num, den = 768, short
	}
	return t.base + t.tile*ceilDiv(w*num, 512*den)*ceilDiv(h*num, 512*den)
}

func (t tiles) largest() (w, h int) { return 2048, 768 }

// patches counts squares of side pixels. A picture of more than limit squares is shrunk until a whole number of
// squares fits, as OpenAI's guide describes. percent scales the count to billed tokens. detail "low" changes
// nothing: measurements of March 2026 saw no effect (community.openai.com 1377015).
type patches struct {
	side    int // pixels
	percent int // tokens per hundred squares
	limit   int // squares
	high    int // limit when detail is "high"; 0: the same
	unseen  int // squares of a picture of unknown size; 0: limit
	least   int // tokens that every picture costs at least
}

func (p patches) tokens(w, h int, detail string) int {
	cols, rows, limit := ceilDiv(w, p.side), ceilDiv(h, p.side), p.limit
	if detail == "high" && p.high > 0 {
		limit = p.high
	}
	if cols*rows > limit {
		cols, rows = shrink(w, h, limit)
	}
	return max(p.least, ceilDiv(cols*rows*p.percent, 100))
}

func (p patches) largest() (w, h int) { return cmp.Or(p.unseen, p.limit) * p.side, p.side }

// shrink returns the grid of at most limit squares that keeps the shape of w × h. The ideal grid has
// √(limit·w/h) columns and √(limit·h/w) rows; both are cut to whole numbers, and the side that loses more by that
// decides the scale. A picture too thin for that pays the limit.
func shrink(w, h, limit int) (cols, rows int) {
	cols, rows = isqrt(limit*w/h), isqrt(limit*h/w)
	switch {
	case cols == 0 || rows == 0:
		return limit, 1
	case cols*h <= rows*w:
		return cols, ceilDiv(cols*h, w)
	default:
		return ceilDiv(rows*w, h), rows
	}
}

// isqrt returns ⌊√n⌋. The root of a number below 2⁵² is rounded to the nearest, so that its whole part is right.
func isqrt(n int) int { return int(math.Sqrt(float64(n))) }

// fitted is a way for which no side is longer than edge: a longer picture comes down to that first.
type fitted struct {
	edge int                // pixels
	cost func(w, h int) int // of what fits
}

func (f fitted) tokens(w, h int, _ string) int {
	if long := max(w, h); long > f.edge {
		w, h = ceilDiv(w*f.edge, long), ceilDiv(h*f.edge, long)
	}
	return f.cost(w, h)
}

func (f fitted) largest() (w, h int) { return f.edge, f.edge }

// area is Claude's way: a token pays for 750 pixels, up to a limit of tokens. Newer documentation counts squares of
// 28 × 28 instead, which small pictures feel; the larger of the two is taken.
func area(edge, limit int) picture {
	return fitted{edge, func(w, h int) int { return min(limit, max(ceilDiv(w*h, 750), ceilDiv(w, 28)*ceilDiv(h, 28))) }}
}

// crops is the way of Gemini up to 2.5: one unit of so many tokens up to 384 × 384, else one per tile. A tile is a
// square of the short side / 1.5, between 256 and 768 pixels.
func crops(tile int) picture {
	return fitted{3072, func(w, h int) int {
		if w <= 384 && h <= 384 {
			return tile
		}
		unit := min(max(min(w, h)*2/3, 256), 768)
		return tile * min(ceilDiv(w, unit)*ceilDiv(h, unit), 16) // of a square
	}}
}

// lines is Mistral's way: squares of side pixels, which the encoder merges from its patches, and one more token that
// ends each row of them.
func lines(side, edge int) picture {
	return fitted{edge, func(w, h int) int { return (ceilDiv(w, side) + 1) * ceilDiv(h, side) }}
}

// Image returns the cost of a picture. url is a data URL (the size is read from the header of a PNG, JPEG, GIF or WebP,
// whatever media type it claims; it is never decoded whole and never counted as text) or a remote one. detail is
// OpenAI's "low", "high", "auto", "original" or "". A picture whose size cannot be read is charged as much as the
// largest one of the family (for Qwen, whose largest is rarely allowed, as a good-sized one).
func (c *Counter) Image(url, detail string) int {
	w, h, ok := imageSize(url)
	if !ok {
		w, h = c.family.image.largest()
	}
	return c.family.image.tokens(w, h, detail)
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
		config, _, err := image.DecodeConfig(io.LimitReader(base64Reader(data, longestHeader), longestHeader))
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
