package body

import (
	"errors"
	"net/http"
	"os"
	"strconv"
	"time"

	"laconic/proxy/admission"
	"laconic/proxy/apierror"
)

// errTooLarge is the error of a body above its limit, as sent or decompressed.
var errTooLarge = errors.New("body too large")

// Refusal returns the answer to a request whose body could not be read for one of
// the reasons of this package, or nil for any other error.
func Refusal(err error, limit int64) *apierror.Error {
	switch {
	case errors.Is(err, errTooLarge):
		return &apierror.Error{
			Status: http.StatusRequestEntityTooLarge, Code: "request_too_large", Close: true,
			Message: "The request body is larger than the proxy's limit of " + megabytes(limit) + ".",
			Hint:    "The operator can raise limits.body.",
		}
	case errors.Is(err, admission.ErrNoMemory):
		return &apierror.Error{
			Status: http.StatusServiceUnavailable, Code: apierror.CodeOverloaded, RetryAfter: time.Second, Close: true,
			Message: "The proxy holds as many request bodies as its memory allows.", Hint: "Try again in a moment.",
		}
	case errors.Is(err, os.ErrDeadlineExceeded):
		return &apierror.Error{
			Status: http.StatusRequestTimeout, Code: "body_timeout", Close: true,
			Message: "The request body did not arrive in time.",
		}
	}
	return nil
}

// megabytes returns a size for people.
func megabytes(n int64) string {
	if n >= 1<<20 && n%(1<<20) == 0 {
		return strconv.FormatInt(n>>20, 10) + " MiB"
	}
	return strconv.FormatInt(n, 10) + " bytes"
}
