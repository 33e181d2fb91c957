// Package cli is the commands of laconic: their flags, output and exit codes. It
// also turns a configuration into a running proxy.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"laconic/config"
)

// exitError carries an exit code other than 1. The reason was already printed.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// inputFails is the annotation of a command that ends with exitInput where it is used wrongly,
// because its exit code 1 means something else.
const inputFails = "input fails"

// Run runs the command that args name, without the program's own name, and
// returns its exit code. It ends when ctx is done.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := commands()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return 0
	}
	if code, ok := errors.AsType[exitError](err); ok {
		return int(code)
	}
	fmt.Fprintln(stderr, "laconic:", err)
	if _, own := cmd.Annotations[inputFails]; own {
		return exitInput
	}
	return 1
}

// commands returns all commands; serve is the one without a name.
func commands() *cobra.Command {
	root := serveCommand("laconic")
	root.Short = "keeps every conversation legal and inside its model's budget"
	root.Long = "Laconic is an OpenAI-compatible reverse proxy. Point a client's OPENAI_BASE_URL at it:\n" +
		"it repairs the tool calls of every conversation, compacts those that outgrow their\n" +
		"model's budget, and streams the answers back unchanged.\n\n" +
		"Without a command it serves.\n\n" +
		"A setting comes from its flag, else from its variable (LACONIC_LISTEN is that of --listen),\n" +
		"else from the configuration file: " + config.Usual + ".\n\nExit codes:\n" + exitCodes
	root.Version = version()
	root.SetVersionTemplate("laconic {{.Version}}\n")
	root.PersistentPreRunE = setByVariables
	root.SilenceErrors, root.SilenceUsage = true, true
	root.CompletionOptions.HiddenDefaultCmd = false
	root.AddCommand(
		&cobra.Command{
			Use: "version", Short: "print the version, as --version does", Args: cobra.NoArgs,
			Run: func(c *cobra.Command, _ []string) { fmt.Fprintln(c.OutOrStdout(), root.Name(), root.Version) },
		},
		serveCommand("serve"),
		runCommand(),
		envCommand(),
		initCommand(),
		doctorCommand(),
		topCommand(),
		checkCommand(),
		demoCommand(),
		compactCommand(),
		countCommand(),
		replayCommand(),
		healthcheckCommand(),
		manCommand(),
		schemaCommand(),
	)
	return root
}

// release is the version that is being made. A release sets it with
// -ldflags "-X laconic/cli.release=…", and a build knows it without a repository.
var release = "0.1.0-dev"

// commit returns the commit of this binary; "" where it is not known.
func commit() (hash string) {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				hash = s.Value
			}
		}
	}
	return hash
}

// version returns the version, the commit and the Go version of the build.
func version() string {
	if hash := commit(); len(hash) >= 12 {
		return release + " " + hash[:12] + " " + runtime.Version()
	}
	return release + " " + runtime.Version()
}
