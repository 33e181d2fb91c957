package body

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"time"

	"laconic/proxy/admission"
)

// leastRoom is the room that a body has at first, in bytes. It doubles as the body
// arrives.
const leastRoom = 16 << 10

// Receive reads the body of r, at most limit bytes, under the deadlines of rc, which
// are short once closing is done. It takes memory for what arrives and not for what
// Content-Length says.
func Receive(closing context.Context, r *http.Request, rc *http.ResponseController, memory *admission.Reservation, limit int64) ([]byte, error) {
	length := r.ContentLength
	if length > limit {
		return nil, errTooLarge
	}
	in := NewIncoming(closing, r.Body, rc, nil)
	arrived := memory.Arrive(in)
	text, err := in.receive(r.Context(), memory, length, limit)
	arrived()
	if over := in.Close(); over != nil {
		_ = rc.SetReadDeadline(time.Time{})
		return nil, over // its deadline ended the request's context, too
	}
	return text, err
}

// receive reads a body of so many bytes, or, below 0, of any length up to limit, to its
// EOF: before that the server does not watch for the client's leaving.
func (b *Incoming) receive(ctx context.Context, memory *admission.Reservation, length, limit int64) (text []byte, err error) {
	most := limit
	if length >= 0 {
		most = length
	}
	for {
		n := int64(len(text))
		if len(text) == cap(text) {
			room := min(max(2*n, leastRoom), most+1) // one byte more shows the end
			if err := memory.Receive(ctx, room); err != nil {
				return nil, err
			}
			text = append(make([]byte, 0, room), text...)
		}
		m, err := b.Read(text[n:cap(text)])
		text = text[:n+int64(m)]
		switch {
		case int64(len(text)) > most:
			return nil, errTooLarge
		case err == io.EOF && int64(len(text)) < length:
			return nil, io.ErrUnexpectedEOF
		case err == io.EOF:
			return text, nil
		case err != nil:
			return nil, err
		}
	}
}

// mostSpace is how much space before a JSON text is looked through, in bytes.
const mostSpace = 4 << 10

// Beginning returns the first byte of the body of r that is not space, or 0 if there is
// none. The body must not be compressed. It can be read from its start afterwards.
func Beginning(closing context.Context, r *http.Request, rc *http.ResponseController) (first byte, err error) {
	in := NewIncoming(closing, r.Body, rc, nil)
	defer func() { _ = in.Close() }()
	read := make([]byte, 0, mostSpace)
	for first == 0 && err == nil && len(read) < mostSpace {
		var n int
		n, err = in.Read(read[len(read):mostSpace])
		read = read[:len(read)+n]
		first = First(read[len(read)-n:])
	}
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(read), r.Body), r.Body}
	if first != 0 || err == io.EOF {
		err = nil
	}
	return first, err
}

// First returns the first byte of a text as Beginning does. Before an object may stand
// space, or a mark of the order of bytes, which some servers read over.
func First(text []byte) byte {
	for _, b := range text[:min(len(text), mostSpace)] {
		if strings.IndexByte(" \t\r\n\x00\xef\xbb\xbf\xfe\xff", b) < 0 {
			return b
		}
	}
	return 0
}
