// Package report writes the result of a replay as a table, as JSON, and as a
// page.
//
// It promises:
//
//   - the same numbers in all three: every share is computed by package replay.
//   - content in one place: texts are written of the conversation in Result.Shown
//     alone, and on the page alone. Of all others there are names and sizes.
//   - escaped: nothing that was recorded becomes markup, and the page's policy
//     forbids everything but its own style and script.
//   - bounded: what of a long conversation is not on the page is counted and said.
//   - offline: the page needs no network.
package report

import (
	"encoding/json"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"laconic/replay"
)

// JSON writes a result for programs: the numbers, and the shares that follow from
// them.
func JSON(w io.Writer, r *replay.Result) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// names returns the names of files in tables and pictures: their base names, with
// as many folders as distinguish them.
func names(r *replay.Result) map[string]string {
	names := map[string]string{r.Total.File: r.Total.File}
	for i, f := range r.Files {
		for folders := 0; ; folders++ {
			name := nameWith(folders, f.File)
			taken := name == r.Total.File || slices.ContainsFunc(slices.Concat(r.Files[:i], r.Files[i+1:]), func(o replay.FileResult) bool {
				return nameWith(folders, o.File) == name
			})
			if !taken || name == f.File {
				names[f.File] = name
				break
			}
		}
	}
	return names
}

// nameWith returns the name of a file with its last so many folders.
func nameWith(folders int, file string) string {
	at := len(file)
	for range folders + 1 {
		if at = strings.LastIndexAny(file[:max(at, 0)], `/`+string(filepath.Separator)); at < 0 {
			return file
		}
	}
	return file[at+1:]
}
