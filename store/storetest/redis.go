// Package storetest starts the servers that tests of stores need. Each test gets
// its own, on a free loopback port; it ends with the test.
package storetest

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
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
	addr, tls := FreeAddress(t), ""
	host, port, _ := net.SplitHostPort(addr)
	args = append([]string{"--bind", host, "--port", port, "--save", "", "--appendonly", "no", "--dir", t.TempDir(), "--loglevel", "warning"}, args...)
	if slices.Contains(args, "--tls-cert-file") {
		tls = FreeAddress(t)
		_, port, _ := net.SplitHostPort(tls)
		args = append(args, "--tls-port", port)
	}
	r := StartAt(t, addr, args...)
	r.TLSAddr = tls
	return r
}

// StartAt starts a server with a command line that has it listen at an address.
func StartAt(t testing.TB, addr string, args ...string) *Redis {
	t.Helper()
	r := &Redis{Addr: addr, args: append([]string{program(t)}, args...)}
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

// Stop ends the server, if it runs.
func (r *Redis) Stop() {
	_ = r.cmd.Process.Kill()
	_ = r.cmd.Wait()
}

// URL is what a client connects to.
func (r *Redis) URL() string { return "redis://" + r.Addr + "/0" }

// given counts the addresses that [FreeAddress] returned.
var given atomic.Int32

// FreeAddress returns a loopback address that nobody listens on. It returns none twice,
// and none whose port a system gives to a connection: those begin at 32,768.
func FreeAddress(t testing.TB) string {
	t.Helper()
	for range 1000 {
		port := 10_000 + (100*os.Getpid()+int(given.Add(1)))%22_000
		if l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			defer l.Close()
			return l.Addr().String()
		}
	}
	t.Fatal("no port is free")
	return ""
}

// Do sends a command, in one line, and returns its reply as text.
func (r *Redis) Do(command string) (string, error) {
	c := redis.NewClient(&redis.Options{Addr: r.Addr, MaxRetries: -1, PoolSize: 1, DisableIdentity: true, Protocol: 2})
	defer c.Close()
	words := make([]any, 0, 8)
	for _, word := range strings.Fields(command) {
		words = append(words, word)
	}
	reply, err := c.Do(context.Background(), words...).Result()
	return fmt.Sprint(reply), err
}

// program returns redis-server or valkey-server. Where neither is installed the test
// is skipped, but with LACONIC_NO_SKIP it fails.
func program(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"redis-server", "valkey-server"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("LACONIC_NO_SKIP") != "" {
		t.Fatal("no redis-server here (apt install redis-server)")
	}
	t.Skip("no redis-server here (apt install redis-server)")
	return ""
}
