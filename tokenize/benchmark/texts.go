package main

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// A text is one row of the table.
type text struct{ name, data string }

const locales = "/usr/share/locale"

// scripts are where npm and other programs in JavaScript are installed.
var scripts = []string{"/usr/lib/node_modules", "/usr/share/nodejs", "/usr/local/lib/node_modules"}

// collect gathers the texts of the table, up to so many bytes of each. recorded is a folder of .jsonl files, or "".
func collect(size int, recorded string) (texts []text) {
	out, _ := exec.Command("go", "env", "GOROOT", "GOMODCACHE").Output()
	root, cache, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	source := filepath.Join(root, "src")
	for _, row := range []struct {
		name   string
		pieces func(give func(string))
	}{
		{"English (comments of Go's sources)", func(give func(string)) {
			files(func(data string) { give(comments(data)) }, source, ".go")
		}},
		{"Markdown (documentation of Go modules)", func(give func(string)) { files(give, cache, ".md") }},
		{"Go (Go's sources)", func(give func(string)) { files(give, source, ".go") }},
		{"JSON", func(give func(string)) {
			if recorded != "" {
				files(give, recorded, ".jsonl")
				return
			}
			for _, folder := range scripts {
				files(give, folder, ".json")
			}
		}},
		{"JavaScript, TypeScript (npm)", func(give func(string)) {
			for _, folder := range scripts {
				files(give, folder, ".js", ".ts")
			}
		}},
		{"Russian (message catalogs)", catalogTexts("ru")},
		{"Korean (message catalogs)", catalogTexts("ko")},
		{"European mix (message catalogs)", catalogTexts("cs", "de", "es", "fr", "it", "nl", "pl", "pt_BR", "sv", "tr")},
		{"Chinese (message catalogs)", catalogTexts("zh_CN")},
		{"Japanese (message catalogs)", catalogTexts("ja")},
	} {
		var all []string
		row.pieces(func(data string) {
			if utf8.ValidString(data) {
				all = append(all, data)
			}
		})
		if data := sample(all, size); len(data) > 100_000 {
			texts = append(texts, text{row.name, data})
		} else {
			fmt.Printf("%s: not enough on this machine\n", row.name)
		}
	}
	return texts
}

// files gives the content of the files of these kinds below a folder.
func files(give func(string), folder string, kinds ...string) {
	folder, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return // not on this machine
	}
	filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !slices.Contains(kinds, filepath.Ext(path)) {
			return nil // what cannot be read is left out
		}
		if data, err := os.ReadFile(path); err == nil {
			give(string(data))
		}
		return nil
	})
}

// comments are the whole-line comments of a Go file, as prose.
func comments(source string) string {
	var b strings.Builder
	for line := range strings.Lines(source) {
		if prose, ok := strings.CutPrefix(strings.TrimSpace(line), "// "); ok {
			b.WriteString(prose)
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// sample joins messages from all over the pieces, about so many bytes.
func sample(pieces []string, size int) string {
	var all []string
	total := 0
	for _, p := range pieces {
		all = append(all, cut(p)...)
		total += len(p)
	}
	step := max(1, total/max(size, 1))
	var b strings.Builder
	for i := 0; i < len(all) && b.Len() < size; i += step {
		b.WriteString(strings.TrimSuffix(all[i], "\n"))
		b.WriteByte('\n')
	}
	return b.String()
}
