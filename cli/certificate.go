package cli

import (
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"laconic/config"

	"go.uber.org/zap"
)

// certificateFresh is how long a certificate is used before its files are looked
// at again.
const certificateFresh = time.Second

// certificate is the certificate of the listener. Its files are read again at a
// handshake: whatever replaces them, by writing, renaming or another link, the
// next connections have the new one. A pair that is broken or does not match,
// as while one of two files is written, leaves the old one in use.
type certificate struct {
	files config.TLS
	log   *zap.Logger
	pair  atomic.Pointer[tls.Certificate]

	mu     sync.Mutex // guards what follows
	looked time.Time
	seen   [sha256.Size]byte // sum of the files that were tried last
	failed string            // why they cannot be used; "" when they can
}

// newCertificate reads the certificate for the first time.
func newCertificate(files config.TLS, log *zap.Logger) (*certificate, error) {
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
	pair, sum, err := c.files.Load()
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
