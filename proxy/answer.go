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
	end    tail // keeps nothing of an answer that is not read
	stream bool
	err    error // why the body broke, nil while it did not
}

func newAnswer(res *http.Response, t *trip) *answer {
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	a := &answer{body: res.Body, watch: t.line.watch, stream: kind == "text/event-stream"}
	if t.info.Chat && res.StatusCode == http.StatusOK && contentEncoding(res.Header) == "" {
		a.end.keep = tailSize
	}
	return a
}

func (a *answer) Read(buf []byte) (int, error) {
	a.watch.wait()
	n, err := a.body.Read(buf)
	a.watch.stop()
	a.bytes += int64(n)
	a.end.add(buf[:n])
	if err != nil && err != io.EOF {
		a.err = err
	}
	return n, err
}

// read reports whether the end of the answer is kept.
func (a *answer) read() bool { return a.end.keep > 0 }

// whole reports whether what is kept of the answer is all of it.
func (a *answer) whole() bool { return a.bytes == int64(len(a.end.b)) }

func (a *answer) Close() error { return a.body.Close() }
