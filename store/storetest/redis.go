// Package storetest starts the servers that tests of stores need. Each test gets
// its own, on a free loopback port; it ends with the test.
package storetest

import (
	"net"
	"os/exec"
	"slices"
	"testing"
	"time"
)

// Redis is a redis-server of a test.
type Redis struct {
	Addr    string
	TLSAddr string // where it speaks TLS; "": nowhere
	cmd     *exec.Cmd
	args    []string
}

// StartRedis starts a redis-server, or a valkey-server, that keeps nothing on
// disk. Where neither is installed the test is skipped, but with LACONIC_NO_SKIP it
// fails. args are further words of its command line; with --tls-cert-file among them it
// speaks TLS at a second address.
func StartRedis(t testing.TB, args ...string) *Redis {
	t.Helper()
	r := &Redis{Addr: FreeAddress(t)}
	host, port, _ := net.SplitHostPort(r.Addr)
	r.args = append([]string{
		program(t), "--bind", host, "--port", port, "--save", "", "--appendonly", "no", "--dir", t.TempDir(), "--loglevel", "warning",
	}, args...)
	if slices.Contains(args, "--tls-cert-file") {
		r.TLSAddr = FreeAddress(t)
		_, port, _ := net.SplitHostPort(r.TLSAddr)
		r.args = append(r.args, "--tls-port", port)
	}
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
		if _, err := r.Do("PING"); err == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("redis-server does not answer")
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
