package config

import (
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"io/fs"
	"slices"

	"laconic/store"
)

// tls checks that the certificate of the listener is whole.
func (ch *checking) tls() {
	switch {
	case !ch.Has("tls") || ch.broken("tls.cert") || ch.broken("tls.key"):
	case ch.TLS.Cert == "":
		ch.at("tls.cert", codeMissing, "tls has no cert", "cert is the file of the certificate with its chain, key that of its private key, both in PEM")
	case ch.TLS.Key == "":
		ch.at("tls.key", codeMissing, "tls has no key", "key is the file of the certificate's private key, in PEM")
	}
}

// CheckFiles returns what is wrong with the files that a valid configuration
// names, as Problems. They are of the machine that it is used on, so Load does
// not ask for them.
func (c *Config) CheckFiles() error {
	if c.Store.Kind == string(store.InRedis) {
		if _, err := c.Store.TLS.Files().Config(); err != nil {
			ch := &checking{Config: c}
			ch.at("store.tls", codeFile, "store.tls: "+err.Error(), "")
			return problems(ch.found)
		}
	}
	if c.TLS.Cert == "" {
		return nil
	}
	_, _, err := c.TLS.Load()
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

// PairError reports what is wrong with one of the two files of a certificate.
type PairError struct {
	key   bool // with the key's
	cause error
}

// Error does not repeat the path: it may come from the environment.
func (e *PairError) Error() string {
	var pe *fs.PathError
	if errors.As(e.cause, &pe) {
		return "cannot be read: " + pe.Err.Error()
	}
	return "cannot be used: " + e.cause.Error()
}

// Load reads the certificate and its key. The sum is a hash of both files.
func (c TLS) Load() (*tls.Certificate, [sha256.Size]byte, *PairError) {
	var sum [sha256.Size]byte
	cert, err := readFile(c.Cert, openRegular)
	if err != nil {
		return nil, sum, &PairError{cause: err}
	}
	key, err := readFile(c.Key, openRegular)
	if err != nil {
		return nil, sum, &PairError{key: true, cause: err}
	}
	sum = sha256.Sum256(slices.Concat(cert, []byte{0}, key))
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, sum, &PairError{cause: err}
	}
	return &pair, sum, nil
}
