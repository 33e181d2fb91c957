package body

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"runtime"
	"strings"

	"laconic/proxy/admission"

	"github.com/klauspost/compress/gzip" // twice as fast as the standard library's
	"github.com/klauspost/compress/zstd"
	"golang.org/x/sync/semaphore"
)

// maxZstdWindow is the largest window a zstd body may ask for: RFC 9659 allows
// no more on the web, and a frame of 67 KB could ask for 512 MB.
const maxZstdWindow = 8 << 20

// Encoding returns how a body is compressed, or "". More than one encoding is
// joined by commas, and not readable.
func Encoding(h http.Header) string {
	e := strings.ToLower(strings.TrimSpace(strings.Join(h.Values("Content-Encoding"), ",")))
	switch e {
	case "identity":
		return ""
	case "x-gzip": // RFC 9110 §8.4.1.3
		return "gzip"
	}
	return e
}

// Readable reports whether bodies of an encoding can be decompressed.
func Readable(e string) bool { return e == "" || e == "gzip" || e == "zstd" }

// decompressor reads a compressed body. A zstd body may ask for window bytes to be
// remembered; a gzip body for no more than 32 KiB.
func decompressor(encoding string, in io.Reader, window uint64) (io.ReadCloser, error) {
	switch encoding {
	case "gzip":
		return gzip.NewReader(in)
	case "zstd":
		z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(window))
		if err != nil {
			return nil, err
		}
		return z.IOReadCloser(), nil
	}
	return nil, errors.New("unknown encoding")
}

// Body is the body of a request, read to its end.
type Body struct {
	Sent []byte // as the client sent it
	Text []byte // decompressed; the same slice if it was not compressed
	// Problem is why there is no Text, or "".
	Problem string
	Memory  *admission.Reservation

	buffers *Buffers // which Sent and Text are of
	kept    bool
}

// Keep leaves the bytes to the collector, because something that outlives the
// request points into them.
func (b *Body) Keep() { b.kept = true }

// free gives the bytes back. Nothing may point into them any more.
func (b *Body) free() {
	if b.buffers != nil && !b.kept {
		if !same(b.Text, b.Sent) {
			b.buffers.Put(b.Text)
		}
		b.buffers.Put(b.Sent)
	}
	b.Sent, b.Text = nil, nil
}

// Replace puts another text, of the same buffers, in the place of the client's. Nothing
// may point into that any more.
func (b *Body) Replace(text []byte) {
	b.free()
	b.Sent, b.Text = text, text
}

// Compressed reports whether the client sent the body compressed.
func (b *Body) Compressed() bool {
	return len(b.Sent) == 0 || len(b.Text) == 0 || &b.Sent[0] != &b.Text[0]
}

// Decoder decompresses bodies, leaving half of the processors to others.
type Decoder struct{ running *semaphore.Weighted }

// NewDecoder makes a decoder.
func NewDecoder() Decoder {
	return Decoder{semaphore.NewWeighted(int64(max(1, runtime.GOMAXPROCS(0)/2)))}
}

// Open takes memory for a body that was received, and reads what is in it.
func (d Decoder) Open(ctx context.Context, received Received, encoding string, memory *admission.Reservation, limit int64) (*Body, error) {
	b := &Body{Memory: memory, buffers: received.buffers}
	var err error
	if encoding != "" {
		err = d.decompress(ctx, b, received, encoding, limit)
	} else if err = memory.Acquire(ctx, received.cost()); err == nil {
		b.Sent = received.join()
		b.Text = b.Sent
	}
	if err != nil {
		return nil, err
	}
	memory.Received()
	return b, nil
}

// decompress reads a compressed body: once to learn its size, in little memory
// however much is in it, and once into memory that was taken for it. A body with
// more than limit bytes is ErrTooLarge; one that cannot be decompressed has no text.
func (d Decoder) decompress(ctx context.Context, b *Body, body Received, encoding string, limit int64) error {
	window := windowIn(encoding, body)
	var n, braces int64
	for {
		if err := b.Memory.Acquire(ctx, body.n+window); err != nil {
			return err
		}
		if b.Sent == nil {
			b.Sent = body.join()
		}
		var err error
		n, braces, err = d.measure(ctx, encoding, b.Sent, window, limit)
		b.Memory.Shrink(0)
		switch {
		case err == nil:
		case errors.Is(err, zstd.ErrWindowSizeExceeded) && window < maxZstdWindow:
			window = maxZstdWindow // a later frame asks for more than the first
			continue
		case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded):
			return ErrTooLarge
		case errors.Is(err, ErrTooLarge), ctx.Err() != nil:
			return err
		default:
			b.Problem = "the compressed body cannot be decompressed"
			return b.Memory.Acquire(ctx, body.n)
		}
		break
	}
	if err := b.Memory.Acquire(ctx, body.n+window+admission.Cost(n, braces)); err != nil {
		return err
	}
	r, err := decompressor(encoding, bytes.NewReader(b.Sent), uint64(window))
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	b.Text = b.buffers.Take(int(n))
	_, err = io.ReadFull(r, b.Text)
	return err
}

// decodingSlice is how much is decompressed before others have their turn.
const decodingSlice = 1 << 20

// measure returns how much text is in a compressed body, and how many braces
// are in that.
func (d Decoder) measure(ctx context.Context, encoding string, sent []byte, window, limit int64) (n, braces int64, err error) {
	r, err := decompressor(encoding, bytes.NewReader(sent), uint64(window))
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = r.Close() }()
	buf := make([]byte, 16<<10)
	slice := func() error {
		if err := d.running.Acquire(ctx, 1); err != nil {
			return err
		}
		defer d.running.Release(1)
		for end := n + decodingSlice; n < end; {
			m, err := r.Read(buf)
			n += int64(m)
			braces += int64(bytes.Count(buf[:m], []byte("{")))
			if n > limit {
				return ErrTooLarge
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	for err == nil {
		err = slice()
	}
	if err == io.EOF {
		err = nil
	}
	return n, braces, err
}

// windowIn returns how much text the decompressor has to remember, in bytes, by the
// start of the body.
func windowIn(encoding string, body Received) int64 {
	if encoding != "zstd" {
		return 64 << 10
	}
	var h zstd.Header
	if body.n == 0 || h.Decode(body.blocks[0]) != nil || h.Skippable {
		return maxZstdWindow
	}
	window := h.WindowSize
	if h.SingleSegment {
		window = h.FrameContentSize
	}
	return int64(min(max(window, zstd.MinWindowSize), maxZstdWindow))
}
