package main

import (
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"io/fs"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
)

// tls judges the certificate of the listener.
func (ch *checking) tls() {
	switch {
	case ch.TLS == TLSConfig{} && !ch.named("tls"), ch.broken("tls"), ch.broken("tls.cert"), ch.broken("tls.key"):
	case ch.TLS.Cert == "":
		ch.at("tls.cert", codeMissing, "tls has no cert", "cert is the file of the certificate with its chain, key that of its private key, both in PEM")
	case ch.TLS.Key == "":
		ch.at("tls.key", codeMissing, "tls has no key", "key is the file of the certificate's private key, in PEM")
	}
}

// CheckFiles says what is wrong with the files that a valid configuration
// names, as Problems. They are of the machine that it is used on, so Load does
// not ask for them.
func (c *Config) CheckFiles() error {
	if c.TLS.Cert == "" {
		return nil
	}
	_, _, err := c.TLS.load()
	if err == nil {
		return nil
	}
	ch, path := &checking{Config: c}, "tls.cert"
	if err.key {
		path = "tls.key"
	}
	ch.at(path, codeFile, path+" "+err.Error(), "")
	return problems(ch.found)
}

// pairError is what is wrong with one of the two files of a certificate.
type pairError struct {
	key   bool // with the key's
	cause error
}

// Error does not repeat the path: it may come from the environment.
func (e *pairError) Error() string {
	var pe *fs.PathError
	if errors.As(e.cause, &pe) {
		return "cannot be read: " + pe.Err.Error()
	}
	return "cannot be used: " + e.cause.Error()
}

// load reads the certificate and its key. The sum tells these two files from
// any others.
func (c TLSConfig) load() (*tls.Certificate, [sha256.Size]byte, *pairError) {
	var sum [sha256.Size]byte
	cert, err := readFile(c.Cert)
	if err != nil {
		return nil, sum, &pairError{cause: err}
	}
	key, err := readFile(c.Key)
	if err != nil {
		return nil, sum, &pairError{key: true, cause: err}
	}
	sum = sha256.Sum256(slices.Concat(cert, []byte{0}, key))
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, sum, &pairError{cause: err}
	}
	return &pair, sum, nil
}

// certificateFresh is how long a certificate is used before its files are looked
// at again.
const certificateFresh = time.Second

// certificate is the certificate of the listener. Its files are read again at a
// handshake: whatever replaces them, by writing, renaming or another link, the
// next connections have the new one. A pair that is broken or does not match,
// as while one of two files is written, leaves the old one in use.
type certificate struct {
	files TLSConfig
	log   *zap.Logger
	pair  atomic.Pointer[tls.Certificate]

	mu     sync.Mutex // guards what follows
	looked time.Time
	seen   [sha256.Size]byte // sum of the files that were tried last
	failed string            // why they cannot be used; "" when they can
}

// newCertificate reads the certificate for the first time.
func newCertificate(files TLSConfig, log *zap.Logger) (*certificate, error) {
	c := &certificate{files: files, log: log}
	c.look(time.Now())
	if c.failed != "" { // since CheckFiles
		return nil, errors.New("tls.cert and tls.key: " + c.failed)
	}
	return c, nil
}

// forHandshake is a GetCertificate of [tls.Config].
func (c *certificate) forHandshake(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	// While one handshake reads the files the others have what there is.
	if c.mu.TryLock() {
		defer c.mu.Unlock()
		if now := time.Now(); now.Sub(c.looked) >= certificateFresh {
			c.look(now)
		}
	}
	return c.pair.Load(), nil
}

// look reads the files, and takes what they hold if that can be used.
func (c *certificate) look(now time.Time) {
	pair, sum, err := c.files.load()
	c.looked = now
	failed := ""
	if err != nil {
		failed = err.Error()
	}
	if sum == c.seen && failed == c.failed {
		return
	}
	again := c.pair.Load() != nil
	c.seen, c.failed = sum, failed
	switch {
	case err != nil && again:
		c.log.Warn("the new certificate is not used", zap.String("error", failed))
	case err == nil:
		c.pair.Store(pair)
		until := zap.Time("not_after", pair.Leaf.NotAfter)
		if now.After(pair.Leaf.NotAfter) {
			c.log.Warn("the certificate has expired", until)
		} else if again {
			c.log.Info("the certificate was read again", until)
		}
	}
}
