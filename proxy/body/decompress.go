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

// Body is the body of a request, read to its end.
type Body struct {
	Sent []byte // as the client sent it
	Text []byte // decompressed; the same slice if it was not compressed
	// Problem is why there is no Text, or "".
	Problem string
	Memory  *admission.Reservation
}

// decoders are what decompresses bodies: half of the processors are left to others. No
// more than these hold the memory that decompressing takes.
var decoders = semaphore.NewWeighted(int64(max(1, runtime.GOMAXPROCS(0)/2)))

// Open takes memory for a body that was received, and reads its text.
func Open(ctx context.Context, sent []byte, encoding string, memory *admission.Reservation, limit int64) (*Body, error) {
	b := &Body{Sent: sent, Text: sent, Memory: memory}
	size := cost(sent)
	if encoding != "" {
		size = int64(len(sent))
	}
	if err := memory.Acquire(ctx, size); err != nil {
		return nil, err
	}
	memory.Received()
	if encoding != "" {
		b.Text = nil
		if err := b.decompress(ctx, encoding, limit); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// cost returns what a body that is not compressed costs until it is sent.
func cost(text []byte) int64 {
	return admission.Cost(int64(len(text)), int64(bytes.Count(text, []byte("{"))))
}

// decompress reads a compressed body: once to learn its size, in little memory
// however large its text, and once into memory that was taken for the text. A text of
// more than limit bytes is errTooLarge; a body that cannot be decompressed has no text.
func (b *Body) decompress(ctx context.Context, encoding string, limit int64) error {
	var n, braces int64
	err := b.read(ctx, encoding, func(r io.Reader) error {
		for buf := make([]byte, 16<<10); ; {
			m, err := r.Read(buf)
			n += int64(m)
			braces += int64(bytes.Count(buf[:m], []byte("{")))
			switch {
			case n > limit:
				return errTooLarge
			case err == io.EOF:
				return nil
			case err != nil:
				return err
			}
		}
	})
	switch {
	case err == nil:
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded):
		return errTooLarge
	case errors.Is(err, errTooLarge), ctx.Err() != nil:
		return err
	default:
		b.Problem = "the compressed body cannot be decompressed"
		return nil
	}
	b.Memory.Shrink(0) // whoever holds some does not wait for more
	if err := b.Memory.Acquire(ctx, int64(len(b.Sent))+admission.Cost(n, braces)); err != nil {
		return err
	}
	b.Text = make([]byte, n)
	return b.read(ctx, encoding, func(r io.Reader) error {
		_, err := io.ReadFull(r, b.Text)
		return err
	})
}

// read calls f with the text of a compressed body, once it is its turn.
func (b *Body) read(ctx context.Context, encoding string, f func(io.Reader) error) error {
	if err := decoders.Acquire(ctx, 1); err != nil {
		return err
	}
	defer decoders.Release(1)
	if encoding == "gzip" {
		r, err := gzip.NewReader(bytes.NewReader(b.Sent))
		if err != nil {
			return err
		}
		return f(r)
	}
	// It fails for options alone, and these are right.
	r, _ := zstd.NewReader(bytes.NewReader(b.Sent), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxZstdWindow))
	defer r.Close()
	return f(r)
}
