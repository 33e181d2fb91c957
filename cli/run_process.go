package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// environment returns the environment of the command: that of this process, with
// what is set over it.
func environment(own []string, set map[string]string) []string {
	env := slices.Clone(own)
	for name, value := range set {
		env = append(env, name+"="+value)
	}
	for _, pair := range own {
		name, value, _ := strings.Cut(pair, "=")
		switch strings.ToUpper(name) {
		case "HTTP_PROXY", "ALL_PROXY":
			if value != "" {
				return append(env, withLocal(own, "NO_PROXY"), withLocal(own, "no_proxy"))
			}
		}
	}
	return env
}

// withLocal returns a list of hosts that need no proxy, with this machine on it.
func withLocal(env []string, name string) string {
	list := ""
	for _, pair := range env {
		if value, ok := strings.CutPrefix(pair, name+"="); ok {
			list = value
		}
	}
	if list != "" {
		list += ","
	}
	return name + "=" + list + "127.0.0.1,localhost"
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
