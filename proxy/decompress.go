package proxy

import (
	"bytes"
	"context"
	"errors"
	"io"
	"laconic/proxy/admission"
	"net/http"
	"runtime"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzip" // twice as fast as the standard library's
	"github.com/klauspost/compress/zstd"
	"golang.org/x/sync/semaphore"
)

// maxZstdWindow is the largest window a zstd body may ask for: RFC 9659 allows
// no more on the web, and a frame of 67 KB could ask for 512 MB.
const maxZstdWindow = 8 << 20

// contentEncoding is how a body is compressed: "" when it is not. More than
// one encoding is joined by commas and known to nobody here.
func contentEncoding(h http.Header) string {
	e := strings.ToLower(strings.TrimSpace(strings.Join(h.Values("Content-Encoding"), ",")))
	switch e {
	case "identity":
		return ""
	case "x-gzip": // RFC 9110 §8.4.1.3
		return "gzip"
	}
	return e
}

// readableEncoding tells whether decompress knows an encoding.
func readableEncoding(e string) bool { return e == "" || e == "gzip" || e == "zstd" }

// unpacked reads what is in a compressed body. A zstd body may ask for window
// bytes to be remembered; a gzip body for no more than 32 KiB.
func unpacked(encoding string, in io.Reader, window uint64) (io.ReadCloser, error) {
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

// decompress reads what is in a compressed request: once to learn its size, in
// little memory however much it is, and once into memory that was taken for it.
// A body that holds more than limit bytes is errBodyTooLarge; one that cannot be
// decompressed has no text.
func (in *incoming) decompress(ctx context.Context, decoding *semaphore.Weighted, encoding string, body blocks, limit int64) error {
	window := windowIn(encoding, body)
	var n, braces int64
	for {
		if err := in.seat.Acquire(ctx, body.n+window); err != nil {
			return err
		}
		if in.sent == nil {
			in.sent = body.join()
		}
		var err error
		n, braces, err = measure(ctx, decoding, encoding, in.sent, window, limit)
		in.seat.Shrink(0)
		switch {
		case err == nil:
		case errors.Is(err, zstd.ErrWindowSizeExceeded) && window < maxZstdWindow:
			window = maxZstdWindow // a later frame asks for more than the first
			continue
		case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded):
			return errBodyTooLarge
		case errors.Is(err, errBodyTooLarge), ctx.Err() != nil:
			return err
		default:
			in.why = "the compressed body cannot be decompressed"
			return in.seat.Acquire(ctx, body.n)
		}
		break
	}
	if err := in.seat.Acquire(ctx, body.n+window+admission.Cost(n, braces)); err != nil {
		return err
	}
	r, err := unpacked(encoding, bytes.NewReader(in.sent), uint64(window))
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	in.text = make([]byte, n)
	_, err = io.ReadFull(r, in.text)
	return err
}

// newDecoding returns what those take who decompress a body, for a slice of it at a
// time: half of the processors stay free for others.
func newDecoding() *semaphore.Weighted {
	return semaphore.NewWeighted(int64(max(1, runtime.GOMAXPROCS(0)/2)))
}

// decodingSlice is how much is decompressed before others have their turn.
const decodingSlice = 1 << 20

// measure returns how much text is in a compressed body, and how many braces
// are in that.
func measure(ctx context.Context, decoding *semaphore.Weighted, encoding string, sent []byte, window, limit int64) (n, braces int64, err error) {
	r, err := unpacked(encoding, bytes.NewReader(sent), uint64(window))
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = r.Close() }()
	buf := make([]byte, 16<<10)
	slice := func() error {
		if err := decoding.Acquire(ctx, 1); err != nil {
			return err
		}
		defer decoding.Release(1)
		for end := n + decodingSlice; n < end; {
			m, err := r.Read(buf)
			n += int64(m)
			braces += int64(bytes.Count(buf[:m], []byte("{")))
			if n > limit {
				return errBodyTooLarge
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

// windowIn is how much text the decoder of a request has to remember, in bytes,
// by the start of the body.
func windowIn(encoding string, body blocks) int64 {
	if encoding != "zstd" {
		return 64 << 10
	}
	var h zstd.Header
	if body.n == 0 || h.Decode(body.all[0]) != nil || h.Skippable {
		return maxZstdWindow
	}
	window := h.WindowSize
	if h.SingleSegment {
		window = h.FrameContentSize
	}
	return int64(min(max(window, zstd.MinWindowSize), maxZstdWindow))
}

// megabytes is a size for people.
func megabytes(n int64) string {
	if n >= 1<<20 && n%(1<<20) == 0 {
		return strconv.FormatInt(n>>20, 10) + " MiB"
	}
	return strconv.FormatInt(n, 10) + " bytes"
}
