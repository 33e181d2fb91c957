package agent

import (
	"regexp"
	"strings"
)

// Folder returns the folder in which a command begins, with a slash at its end, where the call says it.
func (a *Action) Folder() string {
	dir := strings.ReplaceAll(a.Values.Member("workdir cwd workingdirectory"), `\`, "/")
	if a.Command == "" || dir == "" || dir == "." {
		return ""
	}
	return strings.TrimRight(dir, "/") + "/"
}

// RunsFrom notes the folder of the session, or "" if nobody knows it. Paths are those from there.
func (a *Action) RunsFrom(session string) {
	if dir := a.Folder(); session != "" || dir != "" && !IsAbsolute(dir) {
		a.folder = strings.TrimPrefix(dir, session)
	}
	place := func(path string) string { return strings.TrimPrefix(a.Placed(path), session) }
	a.Path = place(a.Path)
	for i := range a.Changes {
		a.Changes[i].Path = place(a.Changes[i].Path)
	}
}

// Placed returns a path, which a command gives from its folder, as one from the folder of the session.
func (a *Action) Placed(path string) string {
	if !strings.HasPrefix(path, "/") { // of Windows
		path = strings.ReplaceAll(path, `\`, "/")
	}
	rest := strings.TrimPrefix(path, "./")
	if a.folder == "" || a.Moves || rest == "" || placedPath.MatchString(rest) {
		return path
	}
	return a.folder + rest
}

// IsAbsolute reports whether a path begins at the root of a file system.
func IsAbsolute(path string) bool { return rooted.MatchString(path) }

var (
	rooted = regexp.MustCompile(`^(?:/|[A-Za-z]:/)`)
	// movesAway finds that a command goes to another folder.
	movesAway = regexp.MustCompile(`(?i)(?:^|[;&|(\n]\s*)(?:cd|pushd|set-location|push-location) `)
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
