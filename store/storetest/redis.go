// Package storetest starts the servers that tests of stores need. Each test gets
// its own, on a free loopback port; it ends with the test.
package storetest

import (
	"fmt"
	"net"
	"os/exec"
	"testing"
	"time"
)

// Redis is a redis-server of a test.
type Redis struct {
	Addr string
	cmd  *exec.Cmd
	args []string
}

// StartRedis starts a redis-server, or a valkey-server, that keeps nothing on
// disk. Where neither is installed the test is skipped, but with LACONIC_NO_SKIP it
// fails. args are further words of its command line.
func StartRedis(t testing.TB, args ...string) *Redis {
	t.Helper()
	r := &Redis{Addr: FreeAddress(t)}
	host, port, _ := net.SplitHostPort(r.Addr)
	r.args = append([]string{
		program(t), "--bind", host, "--port", port, "--save", "", "--appendonly", "no", "--dir", t.TempDir(), "--loglevel", "warning",
	}, args...)
	r.Start(t)
	t.Cleanup(r.Stop)
	return r
}

// Start starts a server that was stopped, at the same address.
func (r *Redis) Start(t testing.TB) {
	t.Helper()
	r.cmd = exec.Command(r.args[0], r.args[1:]...)
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for range 500 {
		if r.answers() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("redis-server does not answer")
}

func (r *Redis) answers() bool {
	c, err := net.DialTimeout("tcp", r.Addr, time.Second)
	if err != nil {
		return false
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(time.Second))
	if _, err := fmt.Fprint(c, "PING\r\n"); err != nil {
		return false
	}
	n, err := c.Read(make([]byte, 64))
	return err == nil && n > 0
}

// Stop ends the server.
func (r *Redis) Stop() {
	if r.cmd == nil {
		return
	}
	_ = r.cmd.Process.Kill()
	_ = r.cmd.Wait()
	r.cmd = nil
}

// URL is what a client connects to.
func (r *Redis) URL() string { return "redis://" + r.Addr + "/0" }

// FreeAddress is a loopback address that nobody listens on.
func FreeAddress(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
