package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

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
		return 127
	}
	return 126
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
	go func() {
		for s := range signals {
			if !sentToAll(s) {
				_ = child.Process.Signal(s)
			}
		}
	}()
	err = child.Wait()
	signal.Stop(signals) // from here on nothing is sent
	close(signals)
	if child.ProcessState == nil {
		return 0, err
	}
	return exitCode(child.ProcessState), nil
}

// exitCode returns the exit code of a process that ended, as shells name an end by a
// signal.
func exitCode(s *os.ProcessState) int {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int(w.Signal())
	}
	return s.ExitCode()
}

// openLog opens the file for the log, and returns how to call it. The command runs
// without one, too.
func (r *running) openLog() (f *os.File, name string) {
	name, how := r.log, os.O_APPEND
	dir, err := os.UserCacheDir()
	if name == "" && err == nil {
		name = filepath.Join(dir, "laconic", "run.log")
		err = os.MkdirAll(filepath.Dir(name), 0o700)
		if info, failed := os.Stat(name); failed == nil && info.Mode().IsRegular() && info.Size() > longestLog {
			how = os.O_TRUNC
		}
	}
	if name != "" {
		f, err = os.OpenFile(name, os.O_CREATE|os.O_WRONLY|how, 0o600)
	}
	if err != nil {
		f, _ = os.OpenFile(os.DevNull, os.O_WRONLY, 0) // which every system has
		return f, "no file: " + err.Error()
	}
	return f, name
}

// ownFiles are files that live as long as the command.
type ownFiles struct{ dir string }

func (f *ownFiles) write(name, text string) (path string, err error) {
	if f.dir == "" {
		removeLeft()
		if f.dir, err = os.MkdirTemp("", fmt.Sprintf("%s%d-", ownFolder, os.Getpid())); err != nil {
			return "", err
		}
	}
	path = filepath.Join(f.dir, name)
	return path, os.WriteFile(path, []byte(text), 0o600)
}

// ownFolder begins the name of a folder of ownFiles. The id of the process follows.
const ownFolder = "laconic-run-"

// removeLeft removes the folders of processes that were killed.
func removeLeft() {
	left, _ := filepath.Glob(filepath.Join(os.TempDir(), ownFolder+"*-*"))
	for _, dir := range left {
		var id int
		if n, _ := fmt.Sscanf(filepath.Base(dir), ownFolder+"%d-", &id); n == 0 {
			continue
		}
		p, err := os.FindProcess(id)
		if err == nil {
			err = p.Signal(syscall.Signal(0))
		}
		if errors.Is(err, os.ErrProcessDone) {
			_ = os.RemoveAll(dir)
		}
	}
}

// remove removes them. Without a path RemoveAll does nothing.
func (f *ownFiles) remove() { _ = os.RemoveAll(f.dir) }
