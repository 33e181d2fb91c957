// Package configtest has the configurations of config/testdata, and the environment
// that they are read in. In a file of that folder each configuration, NAME/yaml, is
// followed by what is said about it.
package configtest

import (
	"iter"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// Variable returns a variable of the environment. "canary" is part of every secret.
func Variable(name string) (string, bool) {
	v, ok := map[string]string{
		"KEY":     "canary-from-env",
		"EMPTY":   "",
		"WINDOW":  "32768",
		"WORD":    "canary-word",
		"URL":     "https://user:canary@models.example/v1",
		"INJECT":  "x\nlisten: 0.0.0.0:canary",
		"NEGLECT": "-1",
		"MODEL":   "canary-*",
	}[name]
	return v, ok
}

// All returns the configurations of a folder, each with its name.
func All(t testing.TB, folder string) iter.Seq2[string, []byte] {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatal("no configurations in ", folder, err)
	}
	return func(yield func(string, []byte) bool) {
		for _, file := range files {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, part := range archive.Files {
				if strings.HasSuffix(part.Name, "/yaml") && !yield(file+" "+part.Name, part.Data) {
					return
				}
			}
		}
	}
}
