package proxy

import (
	"bufio"
	"bytes"
	"compress/flate"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/klauspost/compress/zstd"
)

// flushed is what a writer of compressed data makes of pieces that are flushed one
// by one.
func flushed(pieces []string, pack func(io.Writer) io.WriteCloser) [][]byte {
	var b bytes.Buffer
	var all [][]byte
	z := pack(&b)
	for _, piece := range pieces {
		_, _ = io.WriteString(z, piece)
		_ = z.(flusher).Flush()
		all = append(all, bytes.Clone(b.Bytes()))
		b.Reset()
	}
	return all
}

// An answer that nobody here can decompress is handed on as it comes, and of one
// that decompresses to nothing no more than mostSilent is kept.
func TestAnAnswerThatCannotBeUnpackedIsNotHeld(t *testing.T) {
	events := make([]string, 100)
	for i := range events {
		events[i] = "data: {\"choices\":[{\"delta\":{\"content\":\"hi\"}}]}\n\n"
	}
	plain := func(piece string) (all [][]byte) {
		for range events {
			all = append(all, []byte(piece))
		}
		return all
	}
	// f has the pieces come one a second, and wants the first byte of the answer
	// after at most so many.
	f := func(name, encoding string, pieces [][]byte, most int) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := newVirtual(t, func(w http.ResponseWriter, r *http.Request) {
					w.Header().Set("Content-Type", "text/event-stream")
					w.Header().Set("Content-Encoding", encoding)
					for i, piece := range pieces {
						if i > 0 {
							time.Sleep(time.Second)
						}
						_, _ = w.Write(piece)
						_ = http.NewResponseController(w).Flush()
					}
				})
				conn := v.dial()
				defer func() { _ = conn.Close() }()
				began := time.Now()
				_, _ = io.WriteString(conn, post("Accept-Encoding: "+encoding+"\r\n", chatBody))
				res, err := http.ReadResponse(bufio.NewReader(conn), nil)
				if err != nil {
					t.Fatal(err)
				}
				if waited := time.Since(began); waited > time.Duration(most-1)*time.Second {
					t.Errorf("the answer began after %v", waited)
				}
				if got, err := io.ReadAll(res.Body); err != nil || !bytes.Equal(got, bytes.Join(pieces, nil)) {
					t.Errorf("%d bytes, %v", len(got), err)
				}
			})
		})
	}
	f("no gzip", "gzip", plain(events[0]), 1)
	f("no gzip, and short", "gzip", plain(":\n\n"), 1)
	f("no zstd", "zstd", plain(events[0]), 1)
	f("no zlib", "deflate", plain(events[0]), 1)
	f("raw deflate", "deflate", flushed(events, func(w io.Writer) io.WriteCloser { z, _ := flate.NewWriter(w, 1); return z }), 1)
	f("a large window", "zstd", flushed(events, func(w io.Writer) io.WriteCloser {
		z, _ := zstd.NewWriter(w, zstd.WithWindowSize(2*maxZstdWindow))
		return z
	}), 1)
	begun := flushed([]string{`data: {"id":"x",`}, packings["gzip"])
	f("damaged within its first event", "gzip", append(begun, bytes.Repeat([]byte{7}, 40), []byte("x"), []byte("x")), 2)

	kilobyte := strings.Repeat("x", 1<<10)
	named := plain(kilobyte)
	named[0] = append([]byte{0x1f, 0x8b, 8, 1 << 3, 0, 0, 0, 0, 0, 3}, kilobyte[10:]...)
	f("a name without end", "gzip", named, mostSilent>>10)
	skipped := plain(kilobyte)
	skipped[0] = append([]byte{0x50, 0x2a, 0x4d, 0x18, 0xff, 0xff, 0xff, 0x7f}, kilobyte[8:]...)
	f("a frame to skip", "zstd", skipped, mostSilent>>10)
	f("a field without end", "", append([][]byte{[]byte("event: ")}, plain(kilobyte)...), 66)
}

// A compressed answer that is cut at any byte is one whose rest may come.
func TestTheStartOfACompressedAnswerIsLegible(t *testing.T) {
	text := strings.Repeat("data: {\"choices\":[]}\n\n", 40)
	for encoding, pack := range packings {
		for name, all := range map[string][]byte{
			"in one":  packed(pack, text),
			"flushed": bytes.Join(flushed(strings.SplitAfter(text, "}\n"), pack), nil),
		} {
			for i := range all {
				got, ok := legibly(encoding, all[:i])
				if !ok || !strings.HasPrefix(text, string(got)) {
					t.Fatalf("%s, %s: %d of %d bytes: %q, %v", encoding, name, i, len(all), got, ok)
				}
			}
			if got, ok := legibly(encoding, all); !ok || string(got) != text {
				t.Errorf("%s, %s: %d bytes of text, %v", encoding, name, len(got), ok)
			}
		}
	}
}

// packed is a text in one piece.
func packed(pack func(io.Writer) io.WriteCloser, text string) []byte {
	var b bytes.Buffer
	z := pack(&b)
	_, _ = io.WriteString(z, text)
	_ = z.Close()
	return b.Bytes()
}
