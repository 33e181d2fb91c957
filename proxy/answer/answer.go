// Package answer reads an upstream's answer on its way to the client.
//
// It promises:
//
//   - unchanged: the client gets every byte of an answer once and in order, also
//     those that were read before.
//   - no wait without end: the start of an answer is handed on as soon as it is
//     known not to be a refusal, and in any case after a bounded number of bytes and
//     of looks. A Timer limits each read.
//   - bounded: of an answer that passes through, only its head and its end are kept.
//
// # The first event
//
// Upstreams refuse under status 200 too, and OpenRouter's refusals begin with the
// keys of an answer. So the first event is held until it is known what it is:
//
//   - It is handed on when it ends, or after 64 KB. Events that only open a stream are
//     held with the one behind them, up to 1 MB.
//   - [Hold] holds nothing else: headers go out at once, and so do comments and
//     blank lines, by which an upstream says that it is alive.
//   - [Peek] waits, for an answer whose length is known: it comes with its headers.
//     So it is for the second body. It takes a comment for the start of an answer.
//
// Some upstreams refuse nothing and end their answer instead: with the finish
// reason model_context_window_exceeded, with length and no token, or with a stream
// that holds no delta. That shows only at the end of an answer, when the client
// has its start. Sending again would mean to hold back every answer or to generate
// twice, so it is logged and only a known window protects.
//
// # The end
//
// Usage is read from the end of an answer, which [Body] keeps as it passes. The
// proxy asks for answers without compression: unpacking a copy took four decoders,
// bounds against bombs and up to 8 MB a stream, and events that are flushed one by
// one compress badly. An answer that is compressed all the same is handed on
// unread.
package answer

import (
	"io"
	"mime"
	"net/http"

	"laconic/proxy/wire"
)

// Timer limits single reads of an answer: while the client is slow to take what
// was read, the upstream is not at fault.
type Timer interface {
	Start()
	Stop()
}

// Body is the body of an answer on its way to the client. It times every read,
// counts, and keeps the head and the end.
type Body struct {
	Stream bool  // the answer is an event stream
	Err    error // that broke the body
	body   io.ReadCloser
	timer  Timer
	keep   bool
	head   []byte
	tail   []byte // up to twice of what is kept
	n      int64
}

// New wraps the body of res. keep says whether to keep the head and the end of the body.
func New(res *http.Response, timer Timer, keep bool) *Body {
	return &Body{body: res.Body, timer: timer, Stream: Kind(res) == "text/event-stream", keep: keep}
}

// Kind returns the media type of an answer.
func Kind(res *http.Response) string {
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	return kind
}

// Read reads from the upstream.
func (b *Body) Read(buf []byte) (int, error) {
	b.timer.Start()
	n, err := b.body.Read(buf)
	b.timer.Stop()
	b.n += int64(n)
	if b.keep {
		b.remember(buf[:n])
	}
	if err != nil && err != io.EOF {
		b.Err = err
	}
	return n, err
}

// Close closes the upstream's body.
func (b *Body) Close() error { return b.body.Close() }

// End returns what is kept of the body as far as it was read, and reports whether it
// was to be kept at all.
func (b *Body) End() (a wire.Answer, keeps bool) {
	return wire.Answer{Head: b.head, Tail: b.tail, Stream: b.Stream, Whole: b.n == int64(len(b.tail))}, b.keep
}

// kept is how much of a body's head is kept, and of its end. The chat API reports
// usage at the end of streams and of whole answers alike, in some 700 bytes.
const kept = 2 << 10

// remember keeps the head and the end of what was read.
func (b *Body) remember(p []byte) {
	b.head = append(b.head, p[:min(len(p), kept-len(b.head))]...)
	if len(p) >= kept {
		b.tail, p = b.tail[:0], p[len(p)-kept:]
	}
	if b.tail = append(b.tail, p...); len(b.tail) > 2*kept {
		b.tail = append(b.tail[:0], b.tail[len(b.tail)-kept:]...)
	}
}
