package apierror

import (
	"bytes"
	"io"
	"net/http"
)

// mostRefusal is how much is read of an upstream's refusal.
const mostRefusal = 64 << 10

// Start returns the start of an answer's body, and puts it back.
func Start(res *http.Response) []byte {
	said, _ := io.ReadAll(io.LimitReader(res.Body, mostRefusal))
	res.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(said), res.Body), res.Body}
	return said
}

// NoPath reports whether an answer says that the upstream has no such path. One that
// speaks of a model has the path, and no such model.
func NoPath(res *http.Response) bool {
	switch res.StatusCode {
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented:
		return !bytes.Contains(Start(res), []byte("model"))
	}
	return false
}
