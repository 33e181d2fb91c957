package binary

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"laconic/e2e/rig"

	"golang.org/x/sys/unix"
)

// counts is a command that says how often it was interrupted. It waits, which a
// signal ends at once, so that two in quick succession are two.
const counts = `n=0; sleep 60 & trap 'n=$((n+1)); echo interrupted $n' INT; trap 'echo $n times; kill $!; exit 5' TERM; echo ready; while :; do wait; done`

// runCounts returns laconic run with the command, a file for what they say, and whether
// that has a text by now.
func runCounts(t *testing.T) (cmd *exec.Cmd, out *os.File, has func(text string) bool) {
	t.Helper()
	dir := t.TempDir()
	out, err := os.Create(filepath.Join(dir, "out"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = out.Close() })
	cmd = exec.Command(rig.Command(t), "run", "--quiet", "--log", "off.log", "--upstream", "http://127.0.0.1:1/v1", "--", "sh", "-c", counts)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+dir)
	return cmd, out, func(text string) bool { return bytes.Contains(rig.ReadFile(t, out.Name()), []byte(text)) }
}

// ended waits for the end of a command, and reports whether its exit code was 5.
func ended(cmd *exec.Cmd) error {
	err := cmd.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 5 {
		return fmt.Errorf("%v, want exit code 5", err)
	}
	return nil
}

// TestRunPassesSignals: a signal to the proxy is the command's, which decides what
// it means.
func TestRunPassesSignals(t *testing.T) {
	t.Parallel()
	cmd, out, has := runCounts(t)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // no terminal
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	rig.Eventually(t, "the start", func() bool { return has("ready") })
	for _, said := range []string{"interrupted 1", "interrupted 2", "interrupted 3"} {
		_ = cmd.Process.Signal(syscall.SIGINT)
		rig.Eventually(t, said, func() bool { return has(said) })
	}
	_ = cmd.Process.Signal(syscall.SIGTERM)
	if err := ended(cmd); err != nil || !has("3 times") {
		t.Errorf("%v\n%s", err, rig.ReadFile(t, out.Name()))
	}
}

// TestRunOnATerminal: Ctrl-C reaches the command once, although the terminal sends it
// to the proxy, too.
func TestRunOnATerminal(t *testing.T) {
	t.Parallel()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip("there are no terminals: ", err)
	}
	defer master.Close()
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	tty, err := os.OpenFile(fmt.Sprint("/dev/pts/", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	cmd, out, has := runCounts(t)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = tty.Close()
	read := make(chan struct{})
	go func() {
		_, _ = io.Copy(out, master) // ends with EIO, when nobody has the terminal any more
		close(read)
	}()
	rig.Eventually(t, "the start", func() bool { return has("ready") })
	for _, said := range []string{"interrupted 1", "interrupted 2"} {
		if _, err := master.WriteString("\x03"); err != nil {
			t.Fatal(err)
		}
		rig.Eventually(t, said, func() bool { return has(said) })
	}
	_ = cmd.Process.Signal(syscall.SIGTERM)
	err = ended(cmd)
	<-read
	if err != nil || !has("2 times") {
		t.Errorf("%v\n%s", err, rig.ReadFile(t, out.Name()))
	}
}
