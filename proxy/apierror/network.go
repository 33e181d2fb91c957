package apierror

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
)

// ErrStatus is the error of an upstream whose status ends no answer, such as 101
// unasked: its answer would be a raw tunnel to the client.
var ErrStatus = errors.New("the upstream answered with a status that ends no answer")

// Reason describes the error of a request to an upstream, for the operator.
func Reason(err error) string {
	if what, ok := NetworkReason(err); ok {
		return what
	}
	return "the answer was not understood"
}

// NetworkReason describes an error of the network; ok is false for any other.
// The error's own text is used only where it cannot hold what a peer sent.
func NetworkReason(err error) (what string, ok bool) {
	var (
		dns       *net.DNSError
		operation *net.OpError
		number    syscall.Errno
	)
	switch {
	case err == nil:
		return "", true
	case errors.As(err, &dns):
		return "name lookup: " + dns.Err, true
	case errors.As(err, new(x509.UnknownAuthorityError)), errors.As(err, new(x509.HostnameError)),
		errors.As(err, new(x509.CertificateInvalidError)):
		return "the upstream's certificate is not valid for it", true
	case errors.Is(err, http.ErrSchemeMismatch), errors.As(err, new(tls.RecordHeaderError)):
		return "it speaks http, not https", true
	case errors.As(err, new(tls.AlertError)):
		return "TLS handshake failed", true
	case errors.As(err, &operation):
		what := operation.Op + " " + operation.Net
		if errors.As(err, &number) {
			return what + ": " + number.Error(), true
		}
		if operation.Timeout() {
			return what + ": timeout", true
		}
		return what, true
	case strings.Contains(err.Error(), "TLS handshake timeout"): // of a type without a name
		return "TLS handshake: timeout", true
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return "the connection was closed early", true
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), errors.Is(err, ErrStatus):
		return err.Error(), true
	}
	return "", false
}
