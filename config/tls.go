package config

import (
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"laconic/store"
)

// tls checks that the certificate of the listener is whole.
func (ch *checking) tls() {
	switch {
	case !ch.Has("tls") || ch.broken("tls.cert") || ch.broken("tls.key"):
	case ch.TLS.Cert == "":
		ch.at("tls.cert", "tls has no cert", "cert is the file of the certificate with its chain, key that of its private key, both in PEM")
	case ch.TLS.Key == "":
		ch.at("tls.key", "tls has no key", "key is the file of the certificate's private key, in PEM")
	}
}

// CheckFiles returns what is wrong with the files that a valid configuration
// names, as Problems. They are of the machine that it is used on, so Load does
// not ask for them.
func (c *Config) CheckFiles() error {
	ch := &checking{Config: c}
	if c.Store.Kind == store.InRedis {
		if _, err := c.Store.TLS.Config(); err != nil {
			ch.at("store.tls", "store.tls: "+err.Error(), "")
		}
	}
	if c.TLS.Cert != "" {
		if _, _, path, err := c.TLS.Load(); err != nil {
			ch.at(path, path+" "+err.Error(), "")
		}
	}
	return problems(ch.found)
}

// Load reads the certificate and its key. The sum is a hash of both files; at is the
// setting that an error is about. An error repeats no path: it may come from the
// environment.
func (c TLS) Load() (pair *tls.Certificate, sum [sha256.Size]byte, at string, err error) {
	at = "tls.cert"
	cert, err := readRegular(c.Cert)
	if err != nil {
		return nil, sum, at, pairError(err)
	}
	key, err := readRegular(c.Key)
	if err != nil {
		return nil, sum, "tls.key", pairError(err)
	}
	p, err := tls.X509KeyPair(cert, key)
	if err != nil {
		err = pairError(err)
	}
	return &p, sha256.Sum256(slices.Concat(cert, []byte{0}, key)), at, err
}

func pairError(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("cannot be read: %w", pe.Err)
	}
	return fmt.Errorf("cannot be used: %w", err)
}
