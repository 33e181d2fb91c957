package cli

import (
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"sync/atomic"
	"time"

	"laconic/config"

	"go.uber.org/zap"
)

// certificate is the certificate of the listener. Whatever replaces its files, by
// writing, renaming or another link, the next connections have the new one. A pair that
// is broken or does not match, as while one of two files is written, leaves the old one
// in use.
type certificate struct {
	files config.TLS
	log   *zap.Logger
	pair  atomic.Pointer[tls.Certificate]
	seen  [sha256.Size]byte // sum of the files that were tried last
	fault string            // why they cannot be used; "": they can
}

// newCertificate reads the certificate for the first time.
func newCertificate(files config.TLS, log *zap.Logger) (*certificate, error) {
	c := &certificate{files: files, log: log}
	c.look()
	if c.fault != "" { // since CheckFiles
		return nil, errors.New("tls.cert and tls.key: " + c.fault)
	}
	return c, nil
}

// forHandshake is a GetCertificate of [tls.Config].
func (c *certificate) forHandshake(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	return c.pair.Load(), nil
}

// look reads the files, and takes what they hold if that can be used. One goroutine at a
// time calls it.
func (c *certificate) look() {
	pair, sum, _, err := c.files.Load()
	fault := ""
	if err != nil {
		fault = err.Error()
	}
	if sum == c.seen && fault == c.fault {
		return
	}
	again := c.pair.Load() != nil
	c.seen, c.fault = sum, fault
	switch {
	case err != nil && again:
		c.log.Warn("the new certificate is not used", zap.String("error", fault))
	case err == nil:
		c.pair.Store(pair)
		until := zap.Time("not_after", pair.Leaf.NotAfter)
		if time.Now().After(pair.Leaf.NotAfter) {
			c.log.Warn("the certificate has expired", until)
		} else if again {
			c.log.Info("the certificate was read again", until)
		}
	}
}
