package proxy

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"
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

// unpacked reads what is in a compressed body.
func unpacked(encoding string, in io.Reader) (io.ReadCloser, error) {
	switch encoding {
	case "gzip":
		return gzip.NewReader(in)
	case "zstd":
		z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxZstdWindow))
		if err != nil {
			return nil, err
		}
		return z.IOReadCloser(), nil
	}
	return nil, errors.New("unknown encoding")
}

// decompress gives what is in a compressed request, at most limit bytes, else
// errBodyTooLarge. hold is asked before memory is taken.
func decompress(encoding string, sent []byte, limit int64, hold func(n int64) error) ([]byte, error) {
	if !readableEncoding(encoding) {
		return nil, errors.New("unknown encoding")
	}
	r, err := unpacked(encoding, bytes.NewReader(sent))
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	if encoding == "zstd" {
		bytesAlone := hold // the window comes on top
		hold = func(n int64) error { return bytesAlone(n + maxZstdWindow/bodyCost) }
	}
	size := min(max(4*int64(len(sent)), 4<<10), limit+1)
	if err := hold(size); err != nil {
		return nil, err
	}
	text, err := readGrowing(r, size, limit, hold)
	if errors.Is(err, zstd.ErrWindowSizeExceeded) || errors.Is(err, zstd.ErrDecoderSizeExceeded) {
		err = errBodyTooLarge
	}
	return text, err
}

// megabytes is a size for people.
func megabytes(n int64) string {
	if n >= 1<<20 && n%(1<<20) == 0 {
		return strconv.FormatInt(n>>20, 10) + " MiB"
	}
	return strconv.FormatInt(n, 10) + " bytes"
}
