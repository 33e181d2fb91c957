package replay

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestNamesTellFilesApart(t *testing.T) {
	f := func(files []string, want ...string) {
		t.Helper()
		r := Result{Total: FileResult{File: "all files"}}
		for _, file := range files {
			r.Files = append(r.Files, FileResult{File: file})
		}
		var got []string
		for _, file := range files {
			got = append(got, r.names()[file])
		}
		if !slices.Equal(got, want) || r.names()["all files"] != "all files" {
			t.Errorf("%q: %q, want %q", files, got, want)
		}
	}
	f(nil)
	f([]string{"a/x.jsonl", "/b/c/y.jsonl", "z.jsonl"}, "x.jsonl", "y.jsonl", "z.jsonl")
	f([]string{"d1/x.jsonl", "d2/x.jsonl", "d2/y.jsonl"}, "d1/x.jsonl", "d2/x.jsonl", "y.jsonl")
	f([]string{"a/d/x.jsonl", "b/d/x.jsonl", "c/x.jsonl", "x.jsonl"}, "a/d/x.jsonl", "b/d/x.jsonl", "c/x.jsonl", "x.jsonl")
	f([]string{"/d/x.jsonl", "d/x.jsonl", "./d/x.jsonl"}, "/d/x.jsonl", "d/x.jsonl", "./d/x.jsonl")
	f([]string{"x.jsonl", "./x.jsonl"}, "x.jsonl", "./x.jsonl")
	f([]string{"d/all files"}, "d/all files")
}

// TestPageTellsFilesApart: a figure belongs to the file with its number,
// whatever files are called.
func TestPageTellsFilesApart(t *testing.T) {
	dir := t.TempDir()
	var files []string
	for _, folder := range []string{"d1", "d2"} {
		file := filepath.Join(dir, folder, "all files")
		if err := os.Mkdir(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(oneLine(errand)), 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	page := filepath.Join(dir, "report.html")
	_, table, errs := executed(t, Args{Files: files, Names: []string{"test"}, Budgets: []int{20}, HTML: page})
	raw, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err, errs)
	}
	for _, want := range []string{
		`<option value="0">all files</option><option value="1">d1/all files</option><option value="2">d2/all files</option>`,
		`<option value="0" selected>d1/all files: errand</option><option value="1">d2/all files: errand</option>`,
		`<figure data-file="2" data-metric="recall"`, `<figure data-file="1" data-budget="20"`,
	} {
		if !strings.Contains(string(raw), want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	for _, want := range []string{"d1/all files: 1 conversation", "d2/all files: 1 conversation", "\nall files: 2 conversations"} {
		if !strings.Contains(table, want) {
			t.Errorf("the table lacks %q:\n%s", want, table)
		}
	}
}
