package proxy

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"strings"
	"sync"
	"sync/atomic"
)

const (
	// mostStart is how much of a form is read for its model before it is sent.
	mostStart = 1 << 20
	// longestName is the longest name of a model in a form.
	longestName = 1 << 10
)

var errForm = errors.New("the form cannot be read")

// chooseByForm sets the route of a request with a form by the model that is
// named in its start. The rest is read for another one while it is sent.
func (t *trip) chooseByForm(boundary string) *refusal {
	if boundary == "" || contentEncoding(t.r.Header) != "" {
		return t.choose("", errForm)
	}
	start, no := t.readStart()
	if no != nil {
		return no
	}
	left := bytes.NewReader(start)
	model, err := modelInForm(left, boundary)
	whole := len(start) < mostStart
	if errors.Is(err, errForm) && !whole && left.Len() == 0 {
		err = nil // it was cut off there, by us
		if model == "" {
			err = errBehind
		}
	}
	if no := t.choose(model, err); no != nil {
		return no
	}
	t.r.Body, t.wholeBody = newForm(start, t.r.Body, boundary, func() { t.seat.free() }), whole
	return nil
}

// readStart reads the first mostStart bytes of a body, all of a shorter one.
func (t *trip) readStart() ([]byte, *refusal) {
	t.seat = t.p.memory.seat(t.p.clientOf(t.r))
	in := &pacedReader{r: t.r.Body, rc: t.w.rc}
	defer in.end()
	defer t.seat.arrive(in)()
	body, err := t.arriveUpTo(in, mostStart)
	if err == nil || err == io.EOF {
		err = t.seat.hold(t.r.Context(), body.n)
	}
	if err != nil {
		return nil, t.unreadable(err, mostStart)
	}
	start := body.join()
	t.seat.arrived()
	return start, nil
}

// modelInForm returns the model that a form names, "" where it names none. It
// fails where readers could differ. The name that comes with errForm is the one
// that was found before.
func modelInForm(r io.Reader, boundary string) (model string, err error) {
	parts := multipart.NewReader(r, boundary)
	for named := false; ; {
		part, err := parts.NextRawPart()
		if err == io.EOF {
			return model, nil
		}
		if err != nil {
			return model, errForm
		}
		_, about, err := mime.ParseMediaType(part.Header.Get("Content-Disposition"))
		if err != nil || len(part.Header["Content-Disposition"]) > 1 {
			return model, errForm
		}
		if !strings.EqualFold(about["name"], "model") {
			continue
		}
		text, err := io.ReadAll(io.LimitReader(part, longestName+1))
		if err != nil {
			return model, errForm
		}
		_, file := about["filename"]
		switch {
		case named, about["name"] != "model":
			return "", errTwice
		case file, len(text) > longestName, part.Header.Get("Content-Transfer-Encoding") != "":
			return "", errForm
		}
		model, named = string(text), true
	}
}

// form is the body of a form whose start was read. What is sent of it is read
// once more on the side, so that a model that is named a second time ends the
// request before its end.
type form struct {
	start []byte
	rest  io.ReadCloser
	sent  func() // the start is

	follow func()         // begins to read on the side
	copied *io.PipeWriter // to there
	fault  chan error     // from there
	over   atomic.Bool    // nobody wants any more of it
}

func newForm(start []byte, rest io.ReadCloser, boundary string, sent func()) *form {
	in, copied := io.Pipe()
	f := &form{start: start, rest: rest, sent: sent, copied: copied, fault: make(chan error, 1)}
	f.follow = sync.OnceFunc(func() {
		go func() {
			_, err := modelInForm(in, boundary)
			f.fault <- err
			_, _ = io.Copy(io.Discard, in) // what is behind the end of a form is not part of it
		}()
	})
	return f
}

func (f *form) Read(buf []byte) (n int, err error) {
	if f.over.Load() {
		return f.rest.Read(buf) // the client is still sending; see linger
	}
	if f.follow(); len(f.start) > 0 {
		n = copy(buf, f.start)
		if f.start = f.start[n:]; len(f.start) == 0 {
			f.start = nil
			f.sent()
		}
	} else {
		n, err = f.rest.Read(buf)
	}
	_, _ = f.copied.Write(buf[:n]) // it fails once nobody wants the form
	var fault error
	if err == io.EOF {
		_ = f.copied.Close()
		fault = <-f.fault
		f.fault <- fault
	} else {
		select {
		case fault = <-f.fault:
			f.fault <- fault
		default:
		}
	}
	if fault != nil {
		f.over.Store(true)
		return 0, modelUnclear(fault)
	}
	return n, err
}

// Close ends the reading on the side. The server closes the client's body.
func (f *form) Close() error {
	f.over.Store(true)
	return f.copied.Close()
}
