package stories

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"laconic/e2e/rig"

	"github.com/rogpeppe/go-internal/testscript"
)

// newClient is an HTTP client that changes nothing: it does not ask for
// compression, follow redirects or go through a proxy.
func newClient() *http.Client {
	return &http.Client{
		Transport:     &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 8},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Timeout:       4 * rig.Patience,
	}
}

// startProxy: proxy [-env NAME=VALUE]… [FLAG]… starts laconic serve with these
// flags, in front of $UPSTREAM where there is one, and sets $PROXY and $ADMIN to
// where it listens. What it says goes to proxy.log. It is stopped when the
// story ends, and must then end by itself with code 0.
func startProxy(ts *testscript.TestScript, args []string) {
	s := storyOf(ts)
	if s.proxy != nil && !s.proxy.Ended() {
		ts.Fatalf("a proxy is running already")
	}
	env := []string{"PATH=" + ts.Getenv("PATH"), "HOME=" + ts.Getenv("HOME"), "TMPDIR=" + ts.Getenv("TMPDIR")}
	if dir := os.Getenv("GOCOVERDIR"); dir != "" {
		env = append(env, "GOCOVERDIR="+dir)
	}
	for len(args) >= 2 && args[0] == "-env" {
		env, args = append(env, args[1]), args[2:]
	}
	if up := ts.Getenv("UPSTREAM"); up != "" {
		args = append([]string{"--upstream", up}, args...)
	}
	p := rig.Launch(s.tb, ts.MkAbs("."), env, append([]string{"--admin", "127.0.0.1:0"}, args...)...)
	s.proxy = p
	ts.Setenv("PROXY", p.URL)
	ts.Setenv("ADMIN", p.Admin)
}

func (s *story) runningProxy(ts *testscript.TestScript) *rig.Laconic {
	if s.proxy == nil {
		ts.Fatalf("no proxy was started")
	}
	return s.proxy
}

// signalProxy: signal TERM, INT or HUP.
func signalProxy(ts *testscript.TestScript, args []string) {
	name := flags(ts, args, 1, 1, nil)[0]
	sig, ok := map[string]syscall.Signal{"TERM": syscall.SIGTERM, "INT": syscall.SIGINT, "HUP": syscall.SIGHUP}[name]
	if !ok {
		ts.Fatalf("unknown signal %s", name)
	}
	ts.Check(storyOf(ts).runningProxy(ts).Cmd.Process.Signal(sig))
}

// goneProxy: gone waits until the proxy takes no connections any more.
func goneProxy(ts *testscript.TestScript, args []string) {
	flags(ts, args, 0, 0, nil)
	address := strings.TrimPrefix(storyOf(ts).runningProxy(ts).URL, "http://")
	if !rig.Soon(func() bool {
		c, err := net.Dial("tcp", address)
		if err == nil {
			_ = c.Close()
		}
		return err != nil
	}) {
		ts.Fatalf("it still takes connections")
	}
}

// exitsProxy: exits CODE waits for the proxy to end with this code.
func exitsProxy(ts *testscript.TestScript, args []string) {
	want := flags(ts, args, 1, 1, nil)[0]
	p := storyOf(ts).runningProxy(ts)
	got := "0"
	var exit *exec.ExitError
	if err := p.Wait(); errors.As(err, &exit) {
		got = fmt.Sprint(exit.ExitCode())
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("it ended with code %s, want %s\n%s", got, want, p.Output())
	}
	storyOf(ts).proxy = nil
}

// logLine: logline WORD… waits for a line of proxy.log that has all these
// words, and prints it. With "!" there must be none by now.
func logLine(ts *testscript.TestScript, neg bool, args []string) {
	words := flags(ts, args, 1, 20, nil)
	p := storyOf(ts).runningProxy(ts)
	find := func() (line string, ok bool) {
		for line := range strings.Lines(p.Output()) {
			all := true
			for _, w := range words {
				all = all && strings.Contains(line, w)
			}
			if all {
				return line, true
			}
		}
		return "", false
	}
	if neg {
		if line, ok := find(); ok {
			ts.Fatalf("the log has %s", line)
		}
		return
	}
	var line string
	if !rig.Soon(func() (ok bool) { line, ok = find(); return ok }) {
		ts.Fatalf("no line of the log has %q\n%s", words, p.Output())
	}
	_, err := io.WriteString(ts.Stdout(), line)
	ts.Check(err)
}
