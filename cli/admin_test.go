package cli

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// run runs a command and returns its exit code and what it said.
func run(t *testing.T, args ...string) (code int, out, said string) {
	t.Helper()
	var o, s lockedText
	code = Run(t.Context(), args, strings.NewReader(""), &o, &s)
	return code, o.String(), s.String()
}

// The health check asks the admin address of the configuration, with its token, and
// no proxy of the environment. Nothing else in the file matters, nor does a variable
// that only the proxy has.
func TestHealthcheckSaysWhatReadyzSays(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	status := http.StatusOK
	admin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/readyz" || r.Header.Get("Authorization") != "Bearer a-token-of-the-test" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, map[int]string{200: "ready\n", 503: "shutting down\n"}[status])
	}))
	defer admin.Close()
	addr := admin.Listener.Addr().String()
	file := writeFile(t, filepath.Join(t.TempDir(), "laconic.yaml"), "admin: "+addr+"\nadmin_token: ${HEALTH_TOKEN}\nlisten: "+addr+"\n"+
		"models: [{match: \"*\", api_key: \"${NOT_SET}\"}]\nclient_keys: 7\nupsteam: x\n")
	t.Setenv("HEALTH_TOKEN", "a-token-of-the-test")
	f := func(wantCode int, want string, args ...string) {
		t.Helper()
		code, out, said := run(t, append([]string{"healthcheck", "--config", file}, args...)...)
		if code != wantCode || out+said != want+"\n" {
			t.Errorf("%v: %d %q", args, code, out+said)
		}
	}
	at := "laconic: http://" + addr + "/readyz: "
	f(0, "ready")
	without := writeFile(t, filepath.Join(t.TempDir(), "laconic.yaml"), "admin: "+addr+"\n")
	f(1, at+"it wants the admin_token of the configuration that the proxy runs with (give this command the same file: -c FILE)", "--config", without)
	t.Setenv("LACONIC_UPSTREAM", "no url")
	f(0, "ready", "--log-level", "loud")
	status = http.StatusServiceUnavailable
	f(1, at+"503 shutting down")
	f(1, "laconic: there is no admin address to ask (admin: off)", "--admin", "off")
	f(1, at+"no answer in time", "--timeout", "1ns")
	admin.Close()
	code, _, said := run(t, "healthcheck", "--config", file)
	if code != 1 || !strings.HasPrefix(said, at) || !strings.Contains(said, "does the proxy run?") {
		t.Errorf("%d %s", code, said)
	}
}

// Every command that is listed has a manual page, and all shells have completion.
func TestEveryCommandHasAPage(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "man")
	if code, _, said := run(t, "man", dir); code != 0 {
		t.Fatal(said)
	}
	for _, c := range commands().Commands() {
		page := filepath.Join(dir, "laconic-"+c.Name()+".1")
		text, err := os.ReadFile(page)
		if c.Hidden {
			if err == nil {
				t.Errorf("%s is hidden and has a page", c.Name())
			}
			continue
		}
		if err != nil || !strings.Contains(string(text), ".SH SYNOPSIS") {
			t.Errorf("%s: %v", page, err)
		}
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if code, out, said := run(t, "completion", shell); code != 0 || !strings.Contains(out, "laconic") {
			t.Errorf("%s: %d %s", shell, code, said)
		}
	}
	if code, _, said := run(t, "man"); code != 1 || said != "laconic: accepts 1 arg(s), received 0\n" {
		t.Errorf("%d %s", code, said)
	}
}
