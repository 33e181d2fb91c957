package proxy

import (
	"io"
	"mime"
	"net/http"
)

// answer is the upstream's body on its way to the client. It looks on and
// changes nothing: it times every read, counts, and keeps the end of the body,
// where the usage stands.
type answer struct {
	body   io.ReadCloser
	watch  *watch
	bytes  int64
	end    tail      // of one that is not compressed
	packed *unpacker // of one that is
	stream bool
	err    error // why the body broke, nil while it did not
}

func newAnswer(res *http.Response, t *trip) *answer {
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	a := &answer{body: res.Body, watch: t.line.watch, stream: kind == "text/event-stream"}
	if !t.info.Chat || res.StatusCode != http.StatusOK {
		return a
	}
	switch encoding := contentEncoding(res.Header); {
	case encoding == "":
		a.end.keep = tailSize
	case legible(encoding):
		a.packed = newUnpacker(encoding, t.p.unpacking)
	}
	return a
}

func (a *answer) Read(buf []byte) (int, error) {
	a.packed.work() // of what the client has by now
	a.watch.wait()
	n, err := a.body.Read(buf)
	a.watch.stop()
	a.bytes += int64(n)
	a.end.add(buf[:n])
	a.packed.add(buf[:n])
	if err != nil && err != io.EOF {
		a.err = err
	}
	return n, err
}

// ending is the end of its text; ok is false where nobody knows it.
func (a *answer) ending() (text []byte, ok bool) {
	if a.end.keep > 0 {
		return a.end.b, true
	}
	return a.packed.finish()
}

// whole tells whether what is known of the text is all of it.
func (a *answer) whole(text []byte) bool {
	if a.packed != nil {
		return a.packed.total == len(text)
	}
	return a.bytes == int64(len(text))
}

func (a *answer) Close() error { return a.body.Close() }
