package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"strings"

	"github.com/spf13/cobra"
)

// environment returns the environment of the command: that of this process, with
// what is set over it, and no proxy of the environment for this machine.
func environment(set map[string]string) []string {
	env := os.Environ()
	for name, value := range set {
		env = append(env, name+"="+value)
	}
	for _, name := range []string{"NO_PROXY", "no_proxy"} {
		hosts := strings.TrimPrefix(os.Getenv(name)+",127.0.0.1,localhost", ",")
		env = append(env, name+"="+hosts)
	}
	return env
}

// cannotRun says why a command does not run, and returns the exit code that shells
// have for that.
func cannotRun(cmd *cobra.Command, err error) int {
	fmt.Fprintf(cmd.ErrOrStderr(), "laconic: %v\n", err)
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		return exitNotFound
	}
	return exitNotRunnable
}

// runHere runs a command in this terminal until it ends, and returns its exit code.
// Signals to this process are the command's.
func runHere(cmd *cobra.Command, path string, args, env []string) (code int, err error) {
	child := exec.CommandContext(cmd.Context(), path, args...)
	child.Env, child.WaitDelay = env, lastTime
	child.Stdin, child.Stdout, child.Stderr = cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr()
	child.Cancel = func() error { return terminate(child.Process) }
	// From here on it is the command that decides what a signal means, so that
	// whoever listened before must not end this process.
	signal.Reset(passed...)
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, passed...)
	defer signal.Stop(signals)
	if err := child.Start(); err != nil {
		return cannotRun(cmd, err), nil
	}
	over := make(chan struct{})
	go func() {
		for {
			select {
			case s := <-signals:
				if !sentToAll(s) {
					_ = child.Process.Signal(s)
				}
			case <-over:
				return
			}
		}
	}()
	err = child.Wait()
	close(over)
	if child.ProcessState == nil {
		return 0, err
	}
	return exitCode(child.ProcessState), nil
}
