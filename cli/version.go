package cli

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// build is what a binary says of itself.
type build struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Modified bool   `json:"modified,omitempty"` // the files were not those of the commit
	Time     string `json:"time,omitempty"`     // of the commit
	Go       string `json:"go"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`
}

// release is the version that is being made. A release sets it with
// -ldflags "-X laconic/cli.release=…", and a build knows it without a repository.
var release = "0.1.0-dev"

// built returns what this binary says of itself.
func built() build {
	b := build{Version: release, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		case "vcs.time":
			b.Time = s.Value
		}
	}
	return b
}

// version returns the version, the commit and the Go version of the build.
func version() string {
	b := built()
	if len(b.Commit) >= 12 {
		return b.Version + " " + b.Commit[:12] + " " + b.Go
	}
	return b.Version + " " + b.Go
}

func versionCommand() *cobra.Command {
	var jsonOut bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "print the version",
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if jsonOut {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(built())
			}
			_, err := fmt.Fprintln(cmd.OutOrStdout(), "laconic", version())
			return err
		},
	}
	cmd.Flags().BoolVar(&jsonOut, "json", false, "print version, commit, Go version and platform as JSON")
	return cmd
}
