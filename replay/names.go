package replay

import (
	"path/filepath"
	"strings"
)

// names are what files are called in tables and pictures: their names without
// the folder, and as many folders as it takes to tell them apart.
func (r *Result) names() map[string]string {
	names := make(map[string]string, len(r.Files)+1)
	names[r.Total.File] = r.Total.File
	open := make([]string, len(r.Files))
	for i, f := range r.Files {
		open[i] = f.File
	}
	for folders := 0; len(open) > 0; folders++ {
		called := map[string][]string{r.Total.File: {r.Total.File}}
		for _, file := range open {
			name := nameWith(folders, file)
			called[name] = append(called[name], file)
		}
		var again []string
		for _, file := range open {
			name := nameWith(folders, file)
			if names[file] = name; len(called[name]) > 1 && name != file {
				again = append(again, file)
			}
		}
		open = again
	}
	return names
}

// nameWith is the name of a file with its last so many folders.
func nameWith(folders int, file string) string {
	at := len(file)
	for range folders + 1 {
		if at = strings.LastIndexAny(file[:max(at, 0)], `/`+string(filepath.Separator)); at < 0 {
			return file
		}
	}
	return file[at+1:]
}
