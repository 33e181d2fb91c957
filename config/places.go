package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// FileName is the name of the file that laconic init writes.
const FileName = "laconic.yaml"

// Usual says where a file is looked for that no path names, in words.
const Usual = "$LACONIC_CONFIG, else the first of laconic.yaml, laconic.yml, $XDG_CONFIG_HOME/laconic/laconic.yaml, /etc/laconic/laconic.yaml that exists"

// usual returns the file to read where no path is given; "" for none.
func usual() string {
	if path := os.Getenv("LACONIC_CONFIG"); path != "" {
		return path
	}
	paths := []string{FileName, "laconic.yml"}
	if dir := os.Getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		paths = append(paths, filepath.Join(dir, "laconic", FileName))
	} else if home, err := os.UserHomeDir(); err == nil {
		paths = append(paths, filepath.Join(home, ".config", "laconic", FileName))
	}
	for _, path := range append(paths, filepath.Join("/etc/laconic", FileName)) {
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			return path
		}
	}
	return ""
}
