package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
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

const (
	locales = "/usr/share/locale"
	manuals = "/usr/share/man"
)

// scripts are where npm and other programs in JavaScript are installed.
var scripts = []string{"/usr/lib/node_modules", "/usr/share/nodejs", "/usr/local/lib/node_modules"}

// european are the languages of the European mix.
var european = []string{"cs", "de", "es", "fr", "it", "nl", "pl", "pt_BR", "sv", "tr"}

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
		{"JSON, output of tools (recorded, go list)", func(give func(string)) {
			results(give, recorded)
			if out, err := exec.Command("go", "list", "-json", "std").Output(); err == nil {
				give(string(out))
			}
		}},
		{"JSON, whole conversations (recorded)", func(give func(string)) { files(give, recorded, ".jsonl") }},
		{"JavaScript, TypeScript (npm)", func(give func(string)) {
			for _, folder := range scripts {
				files(give, folder, ".js", ".ts")
			}
		}},
		{"Russian (manual pages)", manualPages("ru")},
		{"Russian (message catalogs)", catalogTexts("ru")},
		{"Korean (manual pages)", manualPages("ko")},
		{"Korean (message catalogs)", catalogTexts("ko")},
		{"European mix (manual pages)", manualPages(european...)},
		{"European mix (message catalogs)", catalogTexts(european...)},
		{"Chinese (manual pages)", manualPages("zh_CN", "zh_TW")},
		{"Chinese (message catalogs)", catalogTexts("zh_CN")},
		{"Japanese (manual pages)", manualPages("ja")},
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

// files gives the content of the files of these kinds below a folder, decompressed if
// they are .gz.
func files(give func(string), folder string, kinds ...string) {
	folder, err := filepath.EvalSymlinks(folder)
	if err != nil || folder == "" {
		return // not on this machine
	}
	filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || !slices.Contains(kinds, filepath.Ext(path)) {
			return nil // what cannot be read is left out
		}
		if data, err := os.ReadFile(path); err == nil {
			if filepath.Ext(path) == ".gz" {
				data = decompressed(data)
			}
			give(string(data))
		}
		return nil
	})
}

// decompressed is what a .gz file holds, nothing if it is damaged.
func decompressed(data []byte) []byte {
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil
	}
	if data, err = io.ReadAll(r); err != nil {
		return nil
	}
	return data
}

// manualPages gives the manual pages of these languages that are installed, as they are written, in turns.
func manualPages(languages ...string) func(give func(string)) {
	return func(give func(string)) {
		var all [][]string
		for _, language := range languages {
			var pages []string
			files(func(page string) { pages = append(pages, page) }, filepath.Join(manuals, language), ".gz")
			all = append(all, pages)
		}
		inTurns(all, 1, func(pages []string) { give(pages[0]) })
	}
}

// inTurns gives so many of the first list, then of the next, and again, until all lists are empty.
func inTurns(lists [][]string, some int, give func([]string)) {
	for more := true; more; {
		more = false
		for i, list := range lists {
			if n := min(len(list), some); n > 0 {
				give(list[:n])
				lists[i], more = list[n:], true
			}
		}
	}
}

// results gives what tools answered in recorded conversations, where it is JSON.
func results(give func(string), recorded string) {
	files(func(lines string) {
		for line := range strings.Lines(lines) {
			var c struct {
				Messages []struct {
					Role    string `json:"role"`
					Content any    `json:"content"`
				} `json:"messages"`
			}
			if json.Unmarshal([]byte(line), &c) != nil {
				continue
			}
			for _, m := range c.Messages {
				text, ok := m.Content.(string)
				if ok && m.Role == "tool" && len(text) > 64 && strings.ContainsAny(text[:1], "{[") && json.Valid([]byte(text)) {
					give(text)
				}
			}
		}
	}, recorded, ".jsonl")
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
