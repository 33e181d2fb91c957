//go:build unix

package store

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"laconic/e2e/rig"
	"laconic/store/storetest"
)

// TestWhatIsWrongIsSaidPrecisely: what an operator is told is what there is to correct.
func TestWhatIsWrongIsSaidPrecisely(t *testing.T) {
	t.Parallel()
	plain := storetest.StartRedis(t)
	f := func(url, want string) {
		t.Helper()
		var lines notices
		s := openTestRedis(t, url, lines.add)
		err := s.Put(t.Context(), keyOf(1), []byte("text"), time.Hour)
		if got := lines.all(); got != want {
			t.Errorf("told %q, want %q (%v, %T)", got, want, err, err)
		}
	}
	f("redis://"+plain.Addr+"/99", "the store refuses: it has no database of this number")
	f("redis+cluster://"+plain.Addr, "the store refuses: it is no Cluster")
}

// TestAMissingRightIsSaid by what cannot be done without it, wherever it is told.
func TestAMissingRightIsSaid(t *testing.T) {
	server := storetest.StartRedis(t)
	f := func(want, operations string, rights ...string) {
		t.Helper()
		do(t, server, "ACL SETUSER default reset on nopass ~* &* +@all "+strings.Join(rights, " "))
		faults, err := Try(t.Context(), Options{URL: server.URL(), Notice: func(string) {}})
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
	do(t, server, "ACL SETUSER default reset on nopass ~* &* +@all -scan")
	var lines notices
	s := openTestRedis(t, server.URL(), lines.add)
	if _, err := s.DeleteGroup(t.Context(), Group{1}); err == nil || lines.all() != "the store refuses erase: NOPERM" {
		t.Errorf("%v, told %q", err, lines.all())
	}
}

// TestAServerThatIsCuredIsHeard, and how long it refused is told.
func TestAServerThatIsCuredIsHeard(t *testing.T) {
	t.Parallel()
	server := storetest.StartRedis(t, "--user", "default", "on", "nopass", "~*", "resetchannels", "+@all")
	var lines notices
	s := openTestRedis(t, server.URL(), lines.add)
	h := listening(t, s)
	rig.Eventually(t, "it is told", func() bool { return lines.all() != "" })
	if err := s.Put(t.Context(), keyOf(1), []byte("x"), time.Hour); err != nil {
		t.Errorf("all else is not done: %v", err)
	}
	do(t, server, "ACL SETUSER default allchannels")
	rig.Eventually(t, "it hears", func() bool { return h.has(1) })
	if got := lines.all(); !regexp.MustCompile(`\nthe store answers again, after \d+ s$`).MatchString(got) {
		t.Errorf("told %q", got)
	}
}
