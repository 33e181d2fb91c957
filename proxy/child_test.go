package proxy

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"laconic/compact/compacttest"
)

// childOthers is what the collector of a measured proxy keeps without any
// body, in bytes.
const childOthers = 8 << 20

func exit(code int) { os.Exit(code) }

// serveAsChild is what this test binary does when it is started as a process
// to be measured: a proxy alone.
func serveAsChild() bool {
	base := os.Getenv("LACONIC_TEST_UPSTREAM")
	if base == "" {
		return false
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		defer cancel()
		_, _ = io.Copy(io.Discard, os.Stdin) // until the test closes it
	}()
	fmt.Println(l.Addr())
	memory, err := strconv.ParseInt(os.Getenv("LACONIC_TEST_MEMORY"), 10, 64)
	if err != nil {
		panic(err)
	}
	o := options(parseURL(nil, base))
	o.Default.Limits.MaxMessages = 10_000 // a body of 4 MB has more than an API takes
	o.Default.Counter, o.Default.Limits.Budget = compacttest.Bytes{}, 100_000
	o.Limits.Memory = memory
	debug.SetMemoryLimit(o.Limits.Process(childOthers)) // as laconic serve does
	p, err := New(o)
	if err != nil {
		panic(err)
	}
	if err := p.Serve(ctx, l); err != nil {
		panic(err)
	}
	return true
}

// child is a proxy in a process of its own.
type child struct {
	t    testing.TB
	addr string
	pid  int
}

func measured(t testing.TB, base string, memory int64) *child {
	t.Helper()
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("what a process takes is read from /proc, which this system does not have")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), "LACONIC_TEST_UPSTREAM="+base, "LACONIC_TEST_MEMORY="+strconv.FormatInt(memory, 10))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the process ended with %v", err)
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return &child{t, strings.TrimSpace(line), cmd.Process.Pid}
}

// status is one line of the process's status, in bytes.
func (c *child) status(name string) int64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.pid))
	if err != nil {
		c.t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		var kb int64
		if n, _ := fmt.Sscanf(line, name+": %d kB", &kb); n == 1 {
			return kb << 10
		}
	}
	c.t.Fatal("no " + name)
	return 0
}
