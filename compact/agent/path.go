package agent

import (
	"regexp"
	"strings"
)

// Folder returns the folder in which a command runs, with the mark at its end, where the call says it
// and the command does not go to another one.
func (a *Action) Folder() string {
	dir := strings.TrimRight(a.Values.Member("workdir cwd workingdirectory"), `/\`)
	if !rooted.MatchString(dir) || a.Command == "" || movesAway.MatchString(a.Command) {
		return ""
	}
	return dir + dir[strings.IndexAny(dir, `/\`):][:1]
}

// RunsFrom notes the folder of the session: the paths of a command that runs in another one begin there.
func (a *Action) RunsFrom(session string) {
	a.folder = strings.TrimPrefix(a.Folder(), session)
	a.Path = a.Placed(a.Path)
	for i := range a.Changes {
		a.Changes[i].Path = a.Placed(a.Changes[i].Path)
	}
}

// Placed returns a path, which a command gives from its folder, as one from the folder of the session.
func (a *Action) Placed(path string) string {
	rest := strings.TrimPrefix(strings.TrimPrefix(path, "./"), `.\`)
	if a.folder == "" || rest == "" || placedPath.MatchString(rest) {
		return path
	}
	return a.folder + rest
}

var (
	rooted = regexp.MustCompile(`^(?:/|[A-Za-z]:[\\/])`)
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
