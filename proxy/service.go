package proxy

import (
	"bytes"
	"net/http"
	"time"

	"laconic/proxy/apierror"
	"laconic/proxy/body"
)

// Service answers requests by itself, on paths that then no upstream gets: the fold as
// a service, for gateways. It is given bodies whole and decompressed, of at most
// Limits.Body, and only those of clients that may come in.
type Service interface {
	// Serves reports whether a request is for the service, by its method and path.
	Serves(r *http.Request) bool
	// Serve answers a request that came at a time. failed is to be called by whoever
	// panicked, if the panic ends nothing else.
	Serve(w http.ResponseWriter, r *http.Request, came time.Time, failed func(v any))
}

// held is a body that is in memory: it has Bytes.
type held struct{ *bytes.Buffer }

func (held) Close() error { return nil }

// serveItself lets the service answer.
func (x *request) serveItself(s Service) *apierror.Error {
	x.info.Own, x.info.Endpoint = true, x.r.URL.Path // one of a few, or it would not be served
	r := x.r.WithContext(x.r.Context())
	if r.Method == http.MethodPost {
		if !body.Readable(body.Encoding(r.Header)) {
			return &apierror.Error{Status: http.StatusUnsupportedMediaType, Code: "encoding_not_served", Message: "The body is compressed in a way that is not read.", Close: true}
		}
		in, no := x.read()
		switch {
		case no != nil:
			return no
		case in.Problem != "":
			return &apierror.Error{Status: http.StatusBadRequest, Code: "invalid_body", Message: "The body cannot be decompressed.", Detail: in.Problem}
		}
		r.Body, r.ContentLength = held{bytes.NewBuffer(in.Text)}, int64(len(in.Text))
	}
	h, id := x.w.Header(), x.info.ID
	if x.settings.ResponseHeaders {
		h.Set(headerID, id)
	}
	s.Serve(x.w, r, x.start, func(v any) { x.p.fault(id, "service", v) })
	x.info.Outcome = Outcome(h.Get(headerOutcome))
	return nil
}
