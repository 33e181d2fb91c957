package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
)

// FileName is the name of the file that laconic init writes.
const FileName = "laconic.yaml"

// Usual says where a file is looked for that no path names, in words.
const Usual = "$LACONIC_CONFIG, else the first of laconic.yaml, laconic.yml, $XDG_CONFIG_HOME/laconic/laconic.yaml, /etc/laconic/laconic.yaml that exists; there, too, it may be called laconic.yml"

// Places returns where a file is looked for that no path names, in this order.
func Places() (paths []string) {
	folders := []string{"", "/etc/laconic"}
	if dir := os.Getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		folders = slices.Insert(folders, 1, filepath.Join(dir, "laconic"))
	} else if home, err := os.UserHomeDir(); err == nil {
		folders = slices.Insert(folders, 1, filepath.Join(home, ".config", "laconic"))
	}
	for _, dir := range folders {
		paths = append(paths, filepath.Join(dir, FileName), filepath.Join(dir, "laconic.yml"))
	}
	return paths
}

// otherName matches what else somebody may call the file.
var otherName = regexp.MustCompile(`(?i)^(?:\.?laconic\.(?:ya?ml|json|toml)|(config\.ya?ml))$`)

// misnamed returns a file where one is looked for that is not read, for its name; "" for
// none. Any program may have a config.yaml in the folder that this one starts in.
func misnamed() string {
	for _, path := range Places() {
		dir := filepath.Dir(path)
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			if found := otherName.FindStringSubmatch(e.Name()); found != nil && (dir != "." || found[1] == "") {
				return filepath.Join(dir, e.Name())
			}
		}
	}
	return ""
}

// usual returns the file to read where no path is given; "" for none.
func usual() string {
	for _, path := range Places() {
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			return path
		}
	}
	return ""
}

// longestConfig bounds how much is read: a path may name a device or a log.
const longestConfig = 1 << 20

// readRegular reads a regular file of at most longestConfig bytes. It never opens a pipe,
// which would wait until somebody writes to it.
func readRegular(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("is a pipe, a device or a folder, and only a regular file is read again")
	}
	if err != nil {
		return nil, err
	}
	return readFile(path)
}

// readFile reads a file of at most longestConfig bytes.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	src, err := io.ReadAll(io.LimitReader(f, longestConfig+1))
	if err == nil && len(src) > longestConfig {
		err = fmt.Errorf("is larger than %s", Size(longestConfig))
	}
	return src, err
}

// ReadRegular returns the bytes of a configuration file for a running process. The error
// is Problems.
func ReadRegular(path string) ([]byte, error) {
	src, err := readRegular(path)
	if err != nil {
		return nil, fileProblem(path, err, "what was read before stays in force")
	}
	return src, nil
}

// fileProblem returns why a file cannot be read. absent is the hint for one that does
// not exist.
func fileProblem(path string, err error, absent string) Problems {
	p := Problem{File: path, Message: "the file " + err.Error()}
	if errors.Is(err, fs.ErrNotExist) {
		p.Message, p.Hint = "there is no such file", absent
	} else if pe, ok := errors.AsType[*fs.PathError](err); ok {
		p.Message = "the file cannot be read: " + pe.Err.Error()
	}
	return Problems{p}
}
