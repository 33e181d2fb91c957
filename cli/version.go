package cli

import (
	"runtime"
	"runtime/debug"
)

// build is what a binary says of itself.
type build struct {
	Version string
	Commit  string
}

// release is the version that is being made. A release sets it with
// -ldflags "-X laconic/cli.release=…", and a build knows it without a repository.
var release = "0.1.0-dev"

// built returns what this binary says of itself.
func built() build {
	b := build{Version: release}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			b.Commit = s.Value
		}
	}
	return b
}

// version returns the version, the commit and the Go version of the build.
func version() string {
	b := built()
	if len(b.Commit) >= 12 {
		return b.Version + " " + b.Commit[:12] + " " + runtime.Version()
	}
	return b.Version + " " + runtime.Version()
}
