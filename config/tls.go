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
	if c.Store.Kind == string(store.InRedis) {
		if _, err := c.Store.TLS.Files().Config(); err != nil {
			ch := &checking{Config: c}
			ch.at("store.tls", "store.tls: "+err.Error(), "")
			return problems(ch.found)
		}
	}
	if c.TLS.Cert == "" {
		return nil
	}
	_, _, path, err := c.TLS.Load()
	if err != nil {
		ch := &checking{Config: c}
		ch.at(path, path+" "+err.Error(), "")
		return problems(ch.found)
	}
	return nil
}

// Load reads the certificate and its key. The sum is a hash of both files; at is the
// setting that an error is about. An error repeats no path: it may come from the
// environment.
func (c TLS) Load() (pair *tls.Certificate, sum [sha256.Size]byte, at string, err error) {
	cert, err := readFile(c.Cert, openRegular)
	if err != nil {
		return nil, sum, "tls.cert", pairError(err)
	}
	key, err := readFile(c.Key, openRegular)
	if err != nil {
		return nil, sum, "tls.key", pairError(err)
	}
	sum = sha256.Sum256(slices.Concat(cert, []byte{0}, key))
	p, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, sum, "tls.cert", pairError(err)
	}
	return &p, sum, "", nil
}

func pairError(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return fmt.Errorf("cannot be read: %w", pe.Err)
	}
	return fmt.Errorf("cannot be used: %w", err)
}
