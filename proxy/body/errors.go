package body

import (
	"errors"
	"net/http"
	"os"
	"strconv"

	"laconic/proxy/admission"
	"laconic/proxy/apierror"
)

// ErrTooLarge is the error of a body above its limit, as sent or decompressed.
var ErrTooLarge = errors.New("body too large")

// Refusal returns the answer to a request whose body could not be read for one of
// the reasons of this package, or nil for any other error.
func Refusal(err error, limit int64) *apierror.Error {
	switch {
	case errors.Is(err, ErrTooLarge):
		return &apierror.Error{
			Status: http.StatusRequestEntityTooLarge, Code: "request_too_large", Close: true,
			Message: "The request body is larger than the proxy's limit of " + Megabytes(limit) + ".",
			Hint:    "The operator can raise limits.body.",
		}
	case errors.Is(err, admission.ErrNoMemory):
		return admission.Overloaded()
	case errors.Is(err, os.ErrDeadlineExceeded):
		return &apierror.Error{
			Status: http.StatusRequestTimeout, Code: "body_timeout", Close: true,
			Message: "The request body did not arrive in time.",
		}
	}
	return nil
}

// Broken returns the answer to a request whose body ended early.
func Broken() *apierror.Error {
	return &apierror.Error{
		Status: http.StatusBadRequest, Code: "broken_body", Close: true,
		Message: "The request body ended before its end, or its framing is broken.",
	}
}

// Megabytes returns a size for people.
func Megabytes(n int64) string {
	if n >= 1<<20 && n%(1<<20) == 0 {
		return strconv.FormatInt(n>>20, 10) + " MiB"
	}
	return strconv.FormatInt(n, 10) + " bytes"
}
