package store

import (
	"crypto/rand"
	"fmt"
	"time"
)

// Kind says where values are kept.
type Kind string

// The kinds there are.
const (
	InMemory Kind = "memory"
	InFile   Kind = "file"
	InRedis  Kind = "redis"
)

// Options say what store there is to be. Their kind, path, prefix and files fit together,
// as the configuration checks.
type Options struct {
	Kind Kind   // "": InMemory
	Path string // of the file; required for InFile
	URL  string // of the Redis; required for InRedis
	// Username and Password are those of the URL if empty, Prefix DefaultPrefix. TLS
	// only with a URL that says so.
	Username, Password, Prefix string
	TLS                        TLSFiles
	// Secret is what keys and values are sealed with: at least 16 bytes,
	// required for InRedis. Empty: for a file the one beside it, which
	// is made if there is none; for memory a new one.
	Secret []byte
	TTL    time.Duration // how long a value is kept; 0: DefaultTTL
	// Notice is told in one line what an operator should know: that the store
	// cannot be used as it was meant to, that it fails, that it is back. It
	// may be called at any time, from any goroutine. nil: nobody.
	Notice func(string)
}

// Open opens a vault. Where the file cannot be had, because another process
// has it or the disk says no, the vault is in memory and Notice is told so: the
// error is only for options that can never work.
func Open(o Options) (*Vault, error) {
	if o.Notice == nil {
		o.Notice = func(string) {}
	}
	switch o.Kind {
	case InFile:
		v, err := openFile(o)
		if err == nil {
			return v, nil
		}
		o.Notice(fmt.Sprintf("the store's file %s cannot be used (%v): everything is kept in memory, until this process ends", o.Path, pathless(err)))
	case InRedis:
		r, err := NewRedis(o)
		if err != nil {
			return nil, err
		}
		return NewVault(r, o.Secret, o.TTL)
	}
	if len(o.Secret) > 0 {
		return NewVault(NewMemory(0), o.Secret, o.TTL)
	}
	v, _ := NewVault(NewMemory(0), []byte(rand.Text()), o.TTL) // it is long enough
	v.lasts = false
	return v, nil
}

func openFile(o Options) (*Vault, error) {
	if len(o.Secret) == 0 {
		var err error
		if o.Secret, err = secretBeside(o.Path); err != nil {
			return nil, err
		}
	}
	f, err := NewFile(o.Path, 0, o.Notice)
	if err != nil {
		return nil, err
	}
	return NewVault(f, o.Secret, o.TTL)
}
