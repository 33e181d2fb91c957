//go:build unix

package store

import (
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"laconic/store/storetest"
)

// TestWhatIsWrongIsSaidPrecisely: what an operator is told is what there is to correct.
func TestWhatIsWrongIsSaidPrecisely(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ca, caKey := certificate(t, dir, "ca", nil, nil)
	certificate(t, dir, "server", ca, caKey)
	file := func(name string) string { return filepath.Join(dir, name) }
	secured := storetest.StartRedis(t, "--tls-cert-file", file("server.pem"), "--tls-key-file", file("server.key"), "--tls-ca-cert-file", file("ca.pem"))
	plain := storetest.StartRedis(t)
	whole := TLSFiles{CA: file("ca.pem"), Cert: file("server.pem"), Key: file("server.key"), ServerName: "redis.test"}
	f := func(url string, files TLSFiles, end string) {
		t.Helper()
		var lines told
		s, err := NewRedis(Options{URL: url, TLS: files, Notice: lines.add})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		err = s.Put(t.Context(), keyOf(1), []byte("text"), time.Hour)
		if got := lines.all(); !strings.HasSuffix(got, end) || strings.Contains(got, "\n") {
			t.Errorf("told %q, want %q (%v, %T)", got, end, err, err)
		}
	}
	with := func(change func(*TLSFiles)) TLSFiles { c := whole; change(&c); return c }
	const untrusted = "the store does not answer: its certificate is not trusted, or for another name (store.tls)"
	f("rediss://"+secured.TLSAddr, with(func(c *TLSFiles) { c.CA = "" }), untrusted)
	f("rediss://"+secured.TLSAddr, with(func(c *TLSFiles) { c.ServerName = "other.test" }), untrusted)
	f("redis://"+plain.Addr+"/99", TLSFiles{}, "the store refuses: it has no database of this number")
	f("redis+cluster://"+plain.Addr, TLSFiles{}, "the store refuses: it is no Cluster")
}

// TestAMissingRightIsSaid by what cannot be done without it, wherever it is told.
func TestAMissingRightIsSaid(t *testing.T) {
	server := storetest.StartRedis(t)
	do := func(command string) {
		t.Helper()
		if reply, err := server.Do(command); err != nil || !strings.HasPrefix(reply, "+") {
			t.Fatal(reply, err)
		}
	}
	f := func(want, operations string, rights ...string) {
		t.Helper()
		do("ACL SETUSER default reset on nopass ~* &* +@all " + strings.Join(rights, " "))
		faults, err := Try(t.Context(), Options{Kind: InRedis, URL: server.URL()})
		if err != nil {
			t.Fatal(err)
		}
		if want == "" && len(faults) == 0 {
			return
		}
		if len(faults) != 1 || faults[0].Says != want || strings.Join(faults[0].Operations, " ") != operations {
			t.Errorf("%v: %q, want %q", rights, faults, want)
		}
	}
	f("", "")
	f("the store refuses get: NOPERM", "get", "-getrange")
	f("the store refuses put, lock: NOPERM", "put lock", "-set")
	f("the store refuses call: NOPERM", "call", "-publish")
	f("the store refuses hear: NOPERM", "hear", "-subscribe")
	f("the store refuses call, hear: NOPERM", "call hear", "resetchannels")
	do("ACL SETUSER default reset on nopass ~* &* +@all -scan")
	var lines told
	s := openTestRedis(t, server.URL(), lines.add)
	if _, err := s.DeleteGroup(t.Context(), Group{1}); err == nil || lines.all() != "the store refuses erase: NOPERM" {
		t.Errorf("%v, told %q", err, lines.all())
	}
}

// TestAServerThatIsCuredIsHeard, and how long it refused is told.
func TestAServerThatIsCuredIsHeard(t *testing.T) {
	t.Parallel()
	server := storetest.StartRedis(t, "--user", "default", "on", "nopass", "~*", "resetchannels", "+@all")
	var lines told
	s := openTestRedis(t, server.URL(), lines.add)
	var h hearer
	var ended sync.WaitGroup
	t.Cleanup(ended.Wait)
	ended.Go(func() { s.Hear(t.Context(), h.heard, h.lost) })
	soon(t, "it is told", func() bool { return lines.all() != "" })
	if reply, err := server.Do("ACL SETUSER default allchannels"); err != nil || !strings.HasPrefix(reply, "+") {
		t.Fatal(reply, err)
	}
	soon(t, "it hears", func() bool { return h.has(1) })
	if got := lines.all(); !regexp.MustCompile(`\nthe store answers again, after \d+ s$`).MatchString(got) {
		t.Errorf("told %q", got)
	}
}
