package store

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"os"
	"strings"

	"github.com/redis/go-redis/v9"
)

// codeOf is the first word of an error reply, as in READONLY or NOAUTH. The
// rest may hold names.
func codeOf(reply string) string {
	word, _, _ := strings.Cut(reply, " ")
	if word == "" || len(word) > 20 || strings.Trim(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
		return "ERR"
	}
	return word
}

// whySilent is networkFault, with a guess where a server took a connection and never gave
// an answer. Why it ended the connection may be lost with it.
func (s *Redis) whySilent(err error) string {
	why := networkFault(err)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case why != closed && why != notUnderstood, s.spoken:
		return why
	case s.secured:
		return why + ": does it ask for a client's certificate? (store.tls.cert)"
	}
	return why + ": does it speak TLS? (rediss://)"
}

// refusal says in a few words why a server refuses, without names.
func refusal(reply string) string {
	for _, known := range [...]struct{ part, says string }{
		{"DB index is out of range", "it has no database of this number"},
		{"SELECT is not allowed in cluster mode", "it is a Cluster, which has no database of this number"},
		{"cluster support disabled", "it is no Cluster"},
	} {
		if strings.Contains(reply, known.part) {
			return known.says
		}
	}
	return codeOf(reply)
}

// silence is what each sentence of a store begins with that does not answer.
const silence = "the store does not answer: "

// Why a store does not answer.
const (
	late          = "no answer in time"
	noMaster      = "no sentinel knows the master"
	closed        = "the connection was closed"
	notUnderstood = "the answer was not understood"
)

// networkFault says in a few words why there was no answer, without addresses.
func networkFault(err error) string {
	var dns *net.DNSError
	var op *net.OpError
	var call *os.SyscallError
	var another x509.HostnameError
	var untrusted *tls.CertificateVerificationError
	var plain tls.RecordHeaderError
	switch {
	case errors.As(err, &another):
		return "its certificate is for another name than that of store.url or store.tls.server_name"
	case errors.As(err, &untrusted):
		return "its certificate is not trusted"
	case errors.As(err, &plain):
		return "it does not speak TLS"
	case errors.As(err, &op) && op.Op == "remote error" && strings.Contains(op.Err.Error(), "certificate"):
		return "it takes no client without a certificate that it trusts (store.tls.cert)"
	case errors.As(err, &op) && op.Op == "remote error":
		return "it ended the TLS handshake"
	case errors.As(err, &dns):
		return "its name is not known"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &op) && op.Timeout(), errors.Is(err, redis.ErrPoolTimeout):
		return late
	case errors.As(err, &op) && op.Op == "dial":
		return "no connection"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, &op), errors.As(err, &call):
		return closed
	}
	return notUnderstood
}
