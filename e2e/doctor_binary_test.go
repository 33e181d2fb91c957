package e2e

import (
	"encoding/json"
	"errors"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"laconic/demo/strict"
	"laconic/store/storetest"
)

// diagnosis is a line of laconic doctor --json.
type diagnosis struct{ Check, State, Says, Fix string }

// diagnosed runs laconic doctor with a configuration, with --json and without, and
// returns its exit code and what it found.
func diagnosed(t *testing.T, config string) (code int, all []diagnosis) {
	t.Helper()
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "laconic.yaml"), config)
	run := func(args ...string) (string, int) {
		cmd := exec.Command(command(t), append([]string{"doctor"}, args...)...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "OPENAI_API_KEY=", "OPENAI_BASE_URL=", "HTTP_PROXY=")
		out, err := cmd.Output()
		var bad *exec.ExitError
		if err != nil && !errors.As(err, &bad) {
			t.Fatal(err)
		}
		return string(out), cmd.ProcessState.ExitCode()
	}
	out, code := run("--json")
	if err := json.Unmarshal([]byte(out), &all); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	text, same := run()
	if same != code {
		t.Errorf("it exits with %d, and with %d for --json", same, code)
	}
	for _, d := range all {
		if d.Fix != "" && !strings.Contains(text, "\n           fix: "+d.Fix+"\n") {
			t.Errorf("the text has no %q:\n%s", d.Fix, text)
		}
	}
	if strings.Contains(text+out, "canary") {
		t.Errorf("a secret is shown:\n%s", text)
	}
	return code, all
}

// TestDoctorAsksTheStore for all that a Redis is used for, and says what would mend it.
func TestDoctorAsksTheStore(t *testing.T) {
	upstream := httptest.NewServer(strict.New(strict.Options{}))
	t.Cleanup(upstream.Close)
	f := func(name, url, settings, state, says, fix string) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, all := diagnosed(t, "admin: off\nupstream: "+upstream.URL+"/v1\nstore: {kind: redis, url: \""+url+"\", secret: canary of a long secret"+settings+"}\n")
			if want := map[string]int{"ok": 0, "warn": 1}[state]; code != want {
				t.Errorf("exit code %d, want %d", code, want)
			}
			for _, d := range all {
				switch {
				case d.Check == "store" && (d.State != state || !strings.Contains(d.Says, says+" ("+url+")") || !strings.Contains(d.Fix, fix)):
					t.Errorf("%+v, want %s: %s, %s", d, state, says, fix)
				case d.Check != "store" && (d.State == "warn" && !strings.Contains(d.Says, "is another set-up's: laconic ") || d.State == "fail"): // another test's proxy
					t.Errorf("%+v", d)
				}
			}
		})
	}
	locked := storetest.StartRedis(t, strings.Fields("--requirepass canary-password --user half on >canary-half ~* &* -@all +@connection +getrange +subscribe")...)
	f("fine", locked.URL(), ", password: canary-password", "ok", "no fault", "")
	f("no password", locked.URL(), "", "warn", "the store refuses: NOAUTH", "set store.password")
	f("wrong password", locked.URL(), ", password: canary-wrong", "warn", "the store refuses: WRONGPASS", "correct store.username and store.password")
	f("a user with less", locked.URL(), ", username: half, password: canary-half", "warn", "the store refuses put, lock, call: NOPERM", "the rights that docs/redis.md lists")
	replica := storetest.StartRedis(t, "--replicaof", "127.0.0.1", "1")
	f("a replica", replica.URL(), "", "warn", "the store refuses: READONLY", "name the master in store.url")
	f("no server", "redis://"+storetest.FreeAddress(t)+"/0", "", "warn", "the store does not answer: no connection", "start it, or correct store.url")
	f("no TLS", strings.Replace(replica.URL(), "redis:", "rediss:", 1), "", "warn", "the store does not answer: no answer in time", "redis://, or rediss:// if it speaks TLS")
}
