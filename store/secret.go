package store

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// secretBeside returns the secret beside a store's file, NAME.secret: 32 random bytes in
// hexadecimal, for this user alone. If there is no such file, secretBeside makes one. Two
// processes that start at once get the same secret.
func secretBeside(path string) ([]byte, error) {
	name := path + ".secret"
	secret, err := readSecret(name)
	if !errors.Is(err, fs.ErrNotExist) {
		return secret, err
	}
	tmp, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*") // mode 0600
	if err != nil {
		return nil, err
	}
	defer os.Remove(tmp.Name())
	made := make([]byte, 32)
	_, _ = rand.Read(made) // never fails
	_, err = tmp.WriteString(hex.EncodeToString(made) + "\n")
	if err = errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return nil, err
	}
	// A link is made whole or not at all, and never over one that is there.
	if err := os.Link(tmp.Name(), name); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return readSecret(name)
}

func readSecret(name string) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("%s can be read by others (chmod 600 %s)", name, name)
	}
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return []byte(strings.TrimSpace(string(b))), nil
}

// Lasts reports whether the secret of a vault outlives this process: it is configured,
// or kept beside the file. A nil vault has none.
func (v *Vault) Lasts() bool { return v != nil && v.lasts }

// SealText returns a text that only a vault with the same secret opens, for the same
// owner. Nothing is kept of it, and it never expires.
func (v *Vault) SealText(text string, owner ...string) string {
	return base64.RawURLEncoding.EncodeToString(v.seal.Seal(nil, nil, []byte(text), v.hash("sealed", nil, owner)))
}

// OpenText returns the text that SealText was given, or false if it cannot be trusted.
func (v *Vault) OpenText(sealed string, owner ...string) (text string, ok bool) {
	raw, err := base64.RawURLEncoding.DecodeString(sealed)
	if err != nil {
		return "", false
	}
	plain, err := v.seal.Open(nil, nil, raw, v.hash("sealed", nil, owner))
	return string(plain), err == nil
}
