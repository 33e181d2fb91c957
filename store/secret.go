package store

import (
	"crypto/rand"
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
