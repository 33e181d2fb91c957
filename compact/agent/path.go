package agent

import (
	"regexp"
	"strings"
)

// Folder returns the folder in which a command runs, with the mark at its end, where the call says it.
func (a *Action) Folder() string {
	dir := strings.TrimRight(a.Values.Member("workdir cwd workingdirectory"), `/\`)
	if a.Command == "" || !IsAbsolute(dir) {
		return ""
	}
	return dir + dir[strings.IndexAny(dir, `/\`):][:1]
}

// below returns a path that is given from a folder.
func below(dir, path string) string {
	if rest := strings.TrimPrefix(path, "./"); rest != "" && !placedPath.MatchString(rest) {
		return dir + rest
	}
	return path
}

// IsAbsolute reports whether a path begins at the root of a file system.
func IsAbsolute(path string) bool { return rooted.MatchString(path) }

var (
	rooted = regexp.MustCompile(`^(?:/|[A-Za-z]:[\\/])`)
	// movesAway finds that a command goes to another folder.
	movesAway = regexp.MustCompile(`(?:^|[;&|(\n]\s*)(?:cd|pushd|Set-Location) `)
)

// From returns a path as it is told where files below root are named from there: others begin with
// a dot, unless they say themselves where they are.
func From(root, path string) string {
	if root != "" && path != "" && !placedPath.MatchString(path) {
		return "./" + path
	}
	return strings.TrimPrefix(path, root)
}

// placedPath finds a path from the root of a file system, from a folder that it names, or of a page.
var placedPath = regexp.MustCompile(`^(?:[/~$]|\.\.?(?:/|$)|[A-Za-z]:[\\/]|\w+://)`)
